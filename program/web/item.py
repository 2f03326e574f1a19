"""One title: can it be watched, why not yet, and what can be done about it."""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import request
from werkzeug.wrappers import Response

from program.api import playback
from program.api.explained import reasons
from program.api.payloads import LARGEST_ID
from program.api.where import where
from program.db import decisions, items, streams
from program.db.views import ChildView, FileView, ItemDetail
from program.errors import NotFound
from program.media.item import Ids, Item, MediaType, States
from program.media.release import Candidate
from program.web import actions, pages, story, undo, words
from program.web.pages import Answer, Page, Web
from program.web.sentence import Scene, Sentence, episodes, sentence

# Steps and releases shown at first; the rest is one click away.
STEPS_SHOWN, STEPS_ALL = 40, 200
RELEASES_SHOWN, RELEASES_ALL = 30, 2000
DOTS = 10
# What is possible in a state, the most likely first: the action, its word, its mark.
FIRST_ACTION: Mapping[States, tuple[str, str, str]] = {
    States.Indexed: ("retry", "Search now", "search"),
    States.Failed: ("retry", "Try again", "retry"),
    States.Unknown: ("retry", "Look it up again", "retry"),
    States.Paused: ("unpause", "Resume", "play"),
}
# What asks once more before it is done.
ASKED_TWICE = ("remove", "reset")
LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Season:
    """A season with its episodes. is_open: shown with them."""

    item_id: int
    name: str
    chip: words.Chip
    is_open: bool
    episodes: tuple[tuple[ChildView, words.Chip], ...]
    ready: int
    wanted: int

    @property
    def dots(self) -> int:
        """Return how many of ten dots are full; the last only when all is there."""
        return DOTS * self.ready // self.wanted if self.wanted else 0


@dataclass(frozen=True, slots=True)
class Shown:
    """What is read for the page of an item."""

    detail: ItemDetail
    item: Item
    steps: tuple[story.Step, ...]
    candidates: tuple[Candidate, ...]
    sentence: Sentence


def item(web: Web, item_id: int) -> Answer:
    """Show a title, a season or an episode."""
    everything = request.args.get("all") == "steps"
    shown = _read(web, item_id, STEPS_ALL if everything else STEPS_SHOWN)
    facts = shown.item.facts
    first = shown.candidates[:RELEASES_SHOWN]
    found = story.releases(first, facts.active_stream, reasons(web.api, item_id, first) if first else {})
    return pages.render(
        "item.html",
        shown=shown,
        item=shown.item,
        detail=shown.detail,
        chip=_chip(web, shown.detail),
        place=_place(shown.detail),
        first=FIRST_ACTION.get(shown.item.last_state),
        now=web.now,
        titles={kind.key: kind.title for kind in web.api.registry.classes},
        seasons=_seasons(web, shown.detail),
        releases=found,
        more_releases=len(shown.candidates) - len(found),
        more_steps=not everything and len(shown.steps) >= STEPS_SHOWN,
        files=_files(web, shown.detail),
        outside=_outside(shown.item.ids, shown.item.type),
    )


def releases(web: Web, item_id: int) -> Answer:
    """Show every release that was found for an item."""
    shown = _read(web, item_id, 1)
    listed = shown.candidates[:RELEASES_ALL]
    found = story.releases(listed, shown.item.facts.active_stream, reasons(web.api, item_id, listed))
    return pages.render("releases.html", shown=shown, item=shown.item, detail=shown.detail, releases=found)


def act(web: Web, item_id: int, action: str) -> Answer:
    """Do something with an item; what cannot be undone asks once more."""
    shown = known(web, item_id)
    if request.method == "GET" or (action in ASKED_TWICE and request.form.get("sure") != "yes"):
        if action not in ASKED_TWICE:
            raise NotFound("there is nothing to ask here")
        files = _files(web, shown)
        return pages.render("sure.html", detail=shown, item=shown.item, action=action, files=files)
    way_back = undo.prepare(web, action, [item_id])
    said = actions.perform(web, action, [item_id])
    undo.offer(way_back)
    if action != "remove":
        return pages.go("item", said, item_id=item_id)
    is_root = shown.item.type.is_root
    return pages.go("library", said) if is_root else pages.go("item", said, item_id=shown.show_id)


def block(web: Web, item_id: int, infohash: str) -> Response:
    """Rule a release out for an item."""
    known(web, item_id)
    reason = request.form.get("reason", "").strip()[:LONGEST_REASON] or "not wanted"
    result = web.api.actions.blacklist(item_id, infohash, reason)
    return pages.go(
        "item", f"{result.title}: the release is ruled out and will not be taken again.", item_id=item_id
    )


def known(web: Web, item_id: int) -> ItemDetail:
    """Return an item; raise NotFound when there is none."""
    found = None
    if 0 < item_id <= LARGEST_ID:
        with web.api.db.read() as tx:
            found = items.detail(tx, item_id)
    if found is None:
        raise NotFound(f"no title has the number {item_id}; it may have been removed")
    return found


def _read(web: Web, item_id: int, limit: int) -> Shown:
    detail, api = known(web, item_id), web.api
    providers = api.providers()
    with api.db.read() as tx:
        root = items.tree(tx, detail.item.root_id, web.now, providers)
        told = decisions.timeline(tx, item_id, limit, with_descendants=not detail.item.type.is_leaf)
        candidates = streams.candidates(tx, item_id, web.now, providers)
    node = root.find(item_id) if root else None
    whole = node.item if node else detail.item
    active = next((one for one in candidates if one.release.infohash == whole.facts.active_stream), None)
    titles = {kind.key: kind.title for kind in api.registry.classes}
    scene = Scene(
        item=whole,
        detail=detail,
        story=told,
        active=active,
        now=web.now,
        title=lambda key: titles.get(key, key),
    )
    return Shown(detail, whole, story.steps(told, detail), candidates, sentence(scene))


def _place(detail: ItemDetail) -> str:
    """Return where in its show a season or an episode stands."""
    item = detail.item
    if item.type is MediaType.SEASON:
        return words.place(item.number, None)
    return words.place(detail.season, item.number) if item.type is MediaType.EPISODE else ""


def _chip(web: Web, detail: ItemDetail) -> words.Chip:
    leaves = [leaf for leaf in episodes(detail.children) if leaf.is_requested]
    out = [leaf for leaf in leaves if leaf.last_state is not States.Unreleased]
    ready = sum(leaf.last_state is States.Completed for leaf in leaves)
    item = detail.item
    released = item.aired_at or min(item.releases.values(), default=None)
    return words.chip(
        item.last_state,
        progress=words.Progress(ready, len(out)) if out else None,
        released=released,
        now=web.now,
        zone=pages.zone(),
    )


def _seasons(web: Web, detail: ItemDetail) -> tuple[Season, ...]:
    """Return the seasons of a show; of a season, itself."""
    item = detail.item
    if item.type is MediaType.SEASON:
        return (_season(web, item.id, item.number, _chip(web, detail), detail.children, is_open=True),)
    if item.type is not MediaType.SHOW:
        return ()
    first = next((view.id for view in detail.children if view.is_requested and view.number), None)
    return tuple(
        _season(web, view.id, view.number, _season_chip(web, view), view.children, is_open=view.id == first)
        for view in detail.children
    )


def _season(
    web: Web,
    item_id: int,
    number: int | None,
    chip: words.Chip,
    leaves: tuple[ChildView, ...],
    *,
    is_open: bool,
) -> Season:
    wanted = [leaf for leaf in leaves if leaf.is_requested]
    ready = sum(leaf.last_state is States.Completed for leaf in wanted)
    shown = tuple((leaf, _child_chip(web, leaf, None)) for leaf in leaves)
    return Season(item_id, words.season_name(number), chip, is_open, shown, ready, len(wanted))


def _season_chip(web: Web, view: ChildView) -> words.Chip:
    wanted = [leaf for leaf in view.children if leaf.is_requested]
    ready = sum(leaf.last_state is States.Completed for leaf in wanted)
    out = sum(leaf.last_state is not States.Unreleased for leaf in wanted)
    return _child_chip(web, view, words.Progress(ready, out))


def _child_chip(web: Web, view: ChildView, progress: words.Progress | None) -> words.Chip:
    if not view.is_requested:
        return words.Chip("Not asked for", "grey", "dots", view.last_state.value)
    return words.chip(
        view.last_state, progress=progress, released=view.aired_at, now=web.now, zone=pages.zone()
    )


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file with its whole paths, and the names of what stands beside it."""

    view: FileView
    places: tuple[str, ...]
    beside: tuple[str, ...]


def _files(web: Web, detail: ItemDetail) -> tuple[ShownFile, ...]:
    """Return the files of an item and of what is beneath it, each once."""
    told = where(web.api)
    found = {file.entry_id: file for file in detail.files}
    for leaf in episodes(detail.children):
        found |= {file.entry_id: file for file in leaf.files}
    return tuple(
        ShownFile(
            file,
            told.places(file),
            tuple(path.rpartition("/")[2] for path in told.beside(file)),
        )
        for file in found.values()
    )


def _outside(ids: Ids, media_type: MediaType) -> tuple[tuple[str, str], ...]:
    """Return the pages of a title elsewhere."""
    if not media_type.is_root:
        return ()
    is_film = media_type is MediaType.MOVIE
    tmdb = f"https://www.themoviedb.org/{'movie' if is_film else 'tv'}/{ids.tmdb}" if ids.tmdb else ""
    tvdb = f"https://thetvdb.com/dereferrer/{'movie' if is_film else 'series'}/{ids.tvdb}" if ids.tvdb else ""
    imdb = f"https://www.imdb.com/title/{ids.imdb}/" if ids.imdb else ""
    return tuple(
        (name, address) for name, address in (("TMDB", tmdb), ("TVDB", tvdb), ("IMDb", imdb)) if address
    )


def watch(web: Web, item_id: int) -> Answer:
    """Show a player."""
    detail = known(web, item_id)
    entry = playback.entry_of(web.api, str(item_id))
    return pages.render("watch.html", detail=detail, item=detail.item, place=_place(detail), entry=entry)


def file(web: Web, item_id: int) -> Answer:
    """Send the file of a title to the player."""
    return playback.file(web.api, str(item_id))


PAGES = (
    Page(rule="/items/<int:item_id>", name="item", handle=item),
    Page(rule="/items/<int:item_id>/releases", name="releases", handle=releases),
    Page(rule="/items/<int:item_id>/watch", name="watch", handle=watch),
    Page(rule="/items/<int:item_id>/file", name="file", handle=file),
    Page(rule="/items/<int:item_id>/<action>", name="act", handle=act, methods=("GET", "POST")),
    Page(rule="/items/<int:item_id>/block/<infohash>", name="block", handle=block, methods=("POST",)),
)
