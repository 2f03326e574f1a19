"""What a person does by hand: a search to look at, a torrent of their choice, its files."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from flask import Response

from program.api import shapes
from program.api.answers.base import MessageBody
from program.api.answers.items import ActionBody
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.items import our_id
from program.api.routes import Route
from program.api.scrape_answers import (
    ParsedFile,
    ParsedName,
    ParsedNamesBody,
    ScrapeBody,
    SelectedBody,
    StartSessionResponse,
    parsed_data,
    started,
    streams,
)
from program.api.scrape_shapes import (
    AutoScrapeRequest,
    NamesPayload,
    ScrapeQuery,
    SessionPayload,
    StartQuery,
    TitlePayload,
    magnet_parts,
)
from program.api.stream import MEDIA, event_line, streaming
from program.db import streams as releases
from program.manual.search import Progress
from program.manual.sessions import Place, Session
from program.services.flows.context import Overrides
from program.services.matching.parse import parse

TAG = "by hand"
TOPIC = "scrape"
T = TypeVar("T")


def search(context: ApiContext, query: ScrapeQuery) -> Response | ScrapeBody:
    """Search every service now. As events: `start`, `streams` or `error` for each service, `complete`; `streams` is all so far."""
    overrides = _overrides(context, query)
    if query.stream:
        listener = context.streams.open(TOPIC)
        try:
            progress = context.manual.search(query.asked(), overrides)
        except BaseException:
            listener.close()
            raise
        return streaming(_events(progress, refused=query.refused), listener.close)
    # A search always ends with `complete`.
    *_, last = context.manual.search(query.asked(), overrides)
    return ScrapeBody(message=last.message, streams=streams(last, refused=query.refused))


def _events(progress: Iterator[Progress], *, refused: bool) -> Iterator[bytes]:
    for step in progress:
        found = streams(step, refused=refused)
        yield event_line(
            {
                "event": step.kind,
                "message": step.message,
                "service": step.service,
                "services_completed": step.done,
                "total_services": step.total,
                "total_streams": len(found),
                "streams": {infohash: one.model_dump(mode="json") for infohash, one in found.items()},
            }
        )


def _overrides(context: ApiContext, asked: ScrapeQuery | AutoScrapeRequest) -> Overrides:
    ranking = context.store.current.ranking.plain()
    return _valid("ranking_overrides", lambda: asked.overrides(asked.ranking_overrides, ranking))


def _valid(where: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except ValueError as error:
        raise ApiError(422, f"{where}: {error}") from None


def start(context: ApiContext, query: StartQuery) -> StartSessionResponse:
    """Have a debrid service hold a torrent, and show its videos; 409 with what each service said when none of them does."""
    infohash, name = magnet_parts(query.magnet) or ("", "")
    sizes = TitlePayload.overrides(query, None, context.store.current.ranking.plain())
    session = context.manual.start(query.asked(), infohash, name, sizes)
    return started(session, _parsed(session, context.manual.guesses(session)))


def _parsed(session: Session, places: Mapping[int, Place]) -> Iterator[ParsedFile]:
    for number, file in session.files.items():
        said = parsed_data(parse(file.path, of_film=session.target.wanted.is_movie).as_json()).model_dump(
            mode="json"
        )
        place = places.get(number)
        if place is not None:
            said |= {"seasons": [place.season], "episodes": list(place.episodes)}
        yield ParsedFile(file_id=number, filename=file.path, filesize=file.size, parsed_metadata=said)


def act(context: ApiContext, session_id: str, body: SessionPayload) -> SelectedBody | MessageBody:
    """Choose files, say where they belong, put them into the library (`complete`), or let the torrent go (`abort`)."""
    manual = context.manual
    if body.action == "abort":
        manual.abort(session_id)
        return MessageBody(message="The torrent was let go")
    if body.action == "complete":
        result = manual.complete(session_id)
        return MessageBody(message=f"{result.title}: {result.sentence}")
    chosen = _valid("files", body.chosen)
    places = {number: place for number, place in chosen.items() if place is not None}
    if body.action == "select_files":
        session = manual.select(session_id, list(chosen), places)
        return SelectedBody(message=f"{len(session.chosen)} files chosen")
    manual.correct(session_id, places)
    return MessageBody(message="Noted; it counts with `complete`")


def auto(context: ApiContext, body: AutoScrapeRequest) -> ActionBody:
    """Search a title, or seasons of it, now, and take the best; a title that is not in the library is asked for."""
    overrides = _overrides(context, body)
    seasons = tuple(sorted(set(body.season_numbers))) if body.season_numbers else None
    return shapes.done("Searching", context.manual.auto(body.asked(), seasons, overrides))


def parse_names(_context: ApiContext, body: NamesPayload) -> ParsedNamesBody:
    """Say what file names say."""
    said = [(name, parsed_data(parse(name).as_json())) for name in body.root]
    return ParsedNamesBody(
        message=f"Read {len(said)} names",
        data=[ParsedName(raw_title=name, **parsed.model_dump()) for name, parsed in said],
    )


def choose(context: ApiContext, item_id: str, stream_id: str) -> MessageBody:
    """Have one of an item's releases in place of what is there, as far as its files fit; 409 says why it cannot be had."""
    number = our_id(item_id)
    release = release_of(context, number, our_id(stream_id))
    result = context.manual.choose(number, *release)
    return MessageBody(message=f"{result.title}: {result.sentence}")


def release_of(context: ApiContext, item_id: int, stream_id: int) -> tuple[str, str]:
    """Return hash and name of a release of an item; raise ApiError 404."""
    with context.db.read() as tx:
        found = releases.named(tx, item_id, stream_id)
    if found is None:
        raise ApiError(404, f"item {item_id} has no release {stream_id}")
    return found


ROUTES = (
    Route(
        method="GET",
        rule="/scrape",
        handle=search,
        summary="Search a title now and show what is found",
        tag=TAG,
        query=ScrapeQuery,
        answer=ScrapeBody,
        also=MEDIA,
    ),
    Route(
        method="POST",
        rule="/scrape/start_session",
        handle=start,
        summary="Look into a torrent",
        tag=TAG,
        query=StartQuery,
        answer=StartSessionResponse,
        operation="start_manual_session",
    ),
    Route(
        method="POST",
        rule="/scrape/session/<session_id>",
        handle=act,
        summary="Choose files of a torrent and take them, or let it go",
        tag=TAG,
        body=SessionPayload,
        answer=MessageBody,
    ),
    Route(
        method="POST",
        rule="/scrape/auto",
        handle=auto,
        summary="Search a title, or seasons of it, now, and take the best",
        tag=TAG,
        body=AutoScrapeRequest,
        answer=ActionBody,
    ),
    Route(
        method="POST",
        rule="/scrape/parse",
        handle=parse_names,
        summary="Say what file names say",
        tag=TAG,
        body=NamesPayload,
        answer=ParsedNamesBody,
    ),
    Route(
        method="POST",
        rule="/items/<item_id>/streams/<stream_id>/choose",
        handle=choose,
        summary="Have one of an item's releases in place of what is there",
        tag=TAG,
        answer=MessageBody,
    ),
)
