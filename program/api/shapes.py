"""Snapshots of the database as answers."""

from collections.abc import Iterable, Sequence

from program.actions import ItemResult
from program.api.answers.items import (
    ActionBody,
    ChildBody,
    CompanionBody,
    DetailBody,
    FileBody,
    ItemBody,
    ItemResultBody,
    ParentIds,
    RequestBody,
    SourceBody,
    TroubleBody,
)
from program.api.answers.overviews import CalendarEntryBody
from program.api.answers.stories import BlockBody, StepBody, StreamBody
from program.api.explained import NO_REASONS, Reasons
from program.api.where import Where
from program.db.views import (
    CalendarRow,
    ChildView,
    FileView,
    ItemDetail,
    ItemRow,
    RequestView,
    SourceView,
    StoredDecision,
)
from program.edits import wanted_seasons
from program.media.item import Ids, Item, MediaType
from program.media.release import Candidate, JsonValue


def item(row: ItemRow) -> ItemBody:
    """Return a row of a list."""
    return ItemBody(
        id=row.id,
        type=row.type.value,
        title=row.title,
        parent_title=row.show_title,
        season_number=row.season,
        episode_number=row.episode,
        year=row.year,
        imdb_id=row.ids.imdb,
        tmdb_id=row.ids.tmdb,
        tvdb_id=row.ids.tvdb,
        parent_ids=_parent_ids(row.parent_ids),
        poster_path=row.poster,
        aired_at=row.aired_at,
        is_anime=row.is_anime,
        state=row.last_state,
        last_state=row.last_state,
        scraped_times=row.scraped_times,
        next_attempt_at=row.next_attempt_at,
        next_reason=row.next_reason,
        requested_at=row.created_at,
    )


def detail(found: ItemDetail, where: Where, *, extended: bool) -> DetailBody:
    """Return everything about an item. where: tells the paths of its files."""
    one, facts, schedule = found.item, found.item.facts, found.item.schedule
    body = DetailBody(
        id=one.id,
        type=one.type.value,
        title=one.title,
        parent_title=found.show_title,
        season_number=one.number if one.type is MediaType.SEASON else found.season,
        episode_number=one.number if one.type is MediaType.EPISODE else None,
        year=one.year,
        imdb_id=one.ids.imdb,
        tmdb_id=one.ids.tmdb,
        tvdb_id=one.ids.tvdb,
        parent_ids=_parent_ids(found.show_ids),
        poster_path=one.poster,
        aired_at=one.aired_at or min(one.releases.values(), default=None),
        is_anime=one.is_anime,
        state=one.last_state,
        last_state=one.last_state,
        scraped_times=facts.scraped_times,
        next_attempt_at=schedule.next_attempt_at,
        next_reason=schedule.next_reason,
        requested_at=one.created_at,
        original_title=one.original_title,
        aliases=list(dict.fromkeys(title.text for title in one.aliases if not title.is_own)),
        own_titles=[title.text for title in one.aliases if title.is_own],
        wanted_seasons=_wanted_seasons(found),
        wants_future=one.wants_future,
        ranking_profile=one.ranking_profile,
        library_profiles=None if one.library_profiles is None else list(one.library_profiles),
        genres=list(one.genres),
        language=one.language,
        country=one.country,
        network=one.network,
        runtime=one.runtime,
        show_status=one.show_status.value if one.show_status else None,
        scraped_at=facts.scraped_at,
        paused_at=facts.paused_at,
        failed_at=facts.failed_at,
        failed_reason=facts.failed_reason,
        reindex_at=schedule.reindex_at,
        active_stream=facts.active_stream,
        requested_by=next((wish.requested_by for wish in found.requests if wish.requested_by), None),
        requests=[_request(wish) for wish in found.requests],
    )
    return body.model_copy(update=_extension(found, where)) if extended else body


def _wanted_seasons(found: ItemDetail) -> list[int]:
    if found.item.type is not MediaType.SHOW:
        return []
    known = {view.number: view.is_requested for view in found.children}
    return sorted(wanted_seasons(known, found.item.wanted_seasons))


def _extension(found: ItemDetail, where: Where) -> dict[str, object]:
    children = [child(view, where) for view in found.children]
    kind = found.item.type
    return {
        "seasons": children if kind is MediaType.SHOW else None,
        "episodes": children if kind is MediaType.SEASON else None,
        "files": [file(view, where) for view in found.files],
        "media_metadata": _metadata(found.files),
        "filesystem_entry": _entry(found.files, where),
    }


def child(view: ChildView, where: Where) -> ChildBody:
    """Return a season with its episodes, or an episode with its file."""
    is_season = view.type is MediaType.SEASON
    return ChildBody(
        id=view.id,
        type=view.type.value,
        title=view.title,
        number=view.number,
        season_number=view.number if is_season else None,
        episode_number=None if is_season else view.number,
        aired_at=view.aired_at,
        is_requested=view.is_requested,
        state=view.last_state,
        last_state=view.last_state,
        scraped_times=view.scraped_times,
        next_attempt_at=view.next_attempt_at,
        next_reason=view.next_reason,
        paused_at=view.paused_at,
        media_metadata=_metadata(view.files),
        filesystem_entry=_entry(view.files, where),
        episodes=[child(below, where) for below in view.children] if is_season else None,
    )


def file(view: FileView, where: Where) -> FileBody:
    """Return a file of the library folder."""
    return FileBody(
        id=view.entry_id,
        file_size=view.size,
        original_filename=view.original_name,
        path=where.paths(view)[0],
        version=view.version,
        infohash=view.infohash,
        provider=view.sources[0].provider if view.sources else None,
        providers=[source.provider for source in view.sources],
        sources=[_source(source) for source in view.sources],
        available_in_vfs=view.registered_at is not None,
        registered_at=view.registered_at,
        next_check_at=view.mend_at,
        given_up_at=view.given_up_at,
        library_profiles=list(view.profiles),
        places=list(where.places(view)),
        beside=[
            CompanionBody(id=one.entry_id, path=path, file_size=one.size, language=one.language)
            for one, path in zip(view.companions, where.beside(view), strict=False)
        ],
    )


def _source(view: SourceView) -> SourceBody:
    troubles = [TroubleBody(at=one.at, code=one.code, reason=one.reason) for one in view.troubles]
    return SourceBody(provider=view.provider, troubles=troubles)


def _entry(files: tuple[FileView, ...], where: Where) -> FileBody | None:
    return file(files[0], where) if files else None


def _metadata(files: tuple[FileView, ...]) -> dict[str, JsonValue] | None:
    """Return what is known of the first file: its name and, after its analysis, what is in it."""
    if not files:
        return None
    known: dict[str, JsonValue] = {
        "filename": files[0].original_name,
        "file_size": files[0].size,
        "video": None,
        "audio_tracks": [],
        "subtitle_tracks": [],
        "quality_source": None,
        "is_remux": False,
        "is_proper": False,
        "is_repack": False,
        "bitrate": None,
    }
    return {**known, **(files[0].probed or {})}


def _parent_ids(ids: Ids) -> ParentIds:
    return ParentIds(imdb_id=ids.imdb, tmdb_id=ids.tmdb, tvdb_id=ids.tvdb)


def _request(view: RequestView) -> RequestBody:
    return RequestBody(
        source=view.source,
        external_id=view.external_id,
        requested_by=view.requested_by,
        seasons=None if view.seasons is None else list(view.seasons),
        requested_at=view.created_at,
    )


def step(row: StoredDecision) -> StepBody:
    """Return one step of a story."""
    return StepBody(
        item_id=row.item_id,
        at=row.at,
        step=row.step,
        outcome=row.outcome,
        sentence=row.sentence,
        provider=row.provider,
        attempt=row.attempt,
        ms=row.ms,
        next_at=row.next_at,
        data=dict(row.data),
    )


def stream(candidate: Candidate, owner: Item, why: Reasons = NO_REASONS) -> StreamBody:
    """Return a release of an item. why: what the rules say of it today."""
    release = candidate.release
    parsed_title = release.parsed.get("parsed_title")
    return StreamBody(
        id=candidate.id,
        infohash=release.infohash,
        raw_title=release.raw_title,
        parsed_title=parsed_title if isinstance(parsed_title, str) else None,
        rank=release.rank,
        score=dict(release.score),
        lev_ratio=release.similarity,
        resolution=release.resolution,
        size=release.size,
        seeders=release.seeders,
        sources=list(release.sources),
        is_cached=bool(release.cached_at),
        is_active=release.infohash == owner.facts.active_stream,
        found_at=candidate.found_at,
        rejection=release.rejection.sentence if release.rejection else None,
        rejection_code=release.rejection.code if release.rejection else None,
        blocks=[
            BlockBody(provider=block.provider, code=block.code, sentence=block.sentence, until=block.until)
            for block in candidate.blocks
        ],
        blacklisted=candidate.blacklisted,
        rules=why.rules,
        above_next=why.above_next,
    )


def calendar_entry(row: CalendarRow) -> CalendarEntryBody:
    """Return a day's title."""
    return CalendarEntryBody(
        item_id=row.item_id,
        imdb_id=row.ids.imdb,
        tmdb_id=row.ids.tmdb,
        tvdb_id=row.ids.tvdb,
        show_title=row.show_title,
        title=row.title,
        item_type=row.type.value,
        aired_at=row.aired_at,
        season=row.season,
        episode=row.episode,
        last_state=row.last_state,
    )


def begun(ids: Sequence[int]) -> ActionBody:
    """Return what was begun for many titles at once; it goes on after the answer."""
    titles = "1 title is" if len(ids) == 1 else f"{len(ids)} titles are"
    return ActionBody(message=f"{titles} started afresh", ids=list(ids), items=[])


def done(verb: str, results: Iterable[ItemResult]) -> ActionBody:
    """Return what an action did, with a sentence for each item; `verb` is e.g. `Paused`."""
    items = [
        ItemResultBody(id=result.item_id, title=result.title, sentence=result.sentence, done=result.done)
        for result in results
    ]
    count = sum(result.done for result in items)
    message = f"{verb} {count} {'item' if count == 1 else 'items'}"
    left = [result.sentence for result in items if not result.done]
    # One sentence per item would be a page for a whole library.
    more = f"; {left[0]}" if len(left) == 1 else f"; {len(left)} left as they are" if left else ""
    return ActionBody(
        message=message + more,
        ids=[result.id for result in items if result.id is not None],
        items=items,
    )
