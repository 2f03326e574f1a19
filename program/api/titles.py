"""Finding titles by their names at the metadata services."""

from collections.abc import Iterator

from pydantic import Field

from program.api.answers.base import Body
from program.api.context import ApiContext
from program.api.routes import Payload, Route
from program.db import lookup
from program.db.engine import Tx
from program.errors import RivuletError
from program.http import interactive
from program.log import redact
from program.media.item import MediaType
from program.media.metadata import FoundTitle
from program.services.plugin import Indexer

LONGEST = 200
MOST_OF_EACH = 20


class TitlesQuery(Payload):
    """Words of a title's name."""

    query: str = Field(min_length=1, max_length=LONGEST)


class TitleBody(Body):
    """A title as a service knows it. item_id: of the library's own, when it is there."""

    media_type: str
    title: str
    year: int | None
    overview: str
    poster: str | None
    tmdb_id: str | None
    tvdb_id: str | None
    item_id: int | None


class TitlesBody(Body):
    """What was found, and which services could not be asked."""

    titles: list[TitleBody]
    troubles: list[str]


def search(context: ApiContext, query: TitlesQuery) -> TitlesBody:
    """Ask every metadata service; one that does not answer is told, and the others' titles are given."""
    waiting = interactive.set(True)
    found: list[FoundTitle] = []
    troubles: list[str] = []
    try:
        for plugin in context.registry.of(Indexer):
            try:
                found += list(plugin.search(query.query))[:MOST_OF_EACH]
            except (RivuletError, OSError) as error:
                troubles.append(f"{plugin.title}: {redact(str(error))}")
    finally:
        interactive.reset(waiting)
    with context.db.read() as tx:
        return TitlesBody(titles=list(_bodies(tx, found, query.query)), troubles=troubles)


def _bodies(tx: Tx, found: list[FoundTitle], words: str) -> Iterator[TitleBody]:
    """Yield the titles: those of exactly this name first, the rest as the services order them."""
    exact = [one for one in found if one.title.casefold() == words.strip().casefold()]
    for one in (*exact, *(one for one in found if one not in exact)):
        kind = MediaType.MOVIE if one.is_movie else MediaType.SHOW
        yield TitleBody(
            media_type="movie" if one.is_movie else "tv",
            title=one.title,
            year=one.year,
            overview=one.overview,
            poster=one.poster,
            tmdb_id=one.ids.tmdb,
            tvdb_id=one.ids.tvdb,
            item_id=lookup.find(tx, kind, one.ids),
        )


ROUTES = (
    Route(
        method="GET",
        rule="/titles",
        handle=search,
        summary="Find films and series by their names",
        tag="items",
        query=TitlesQuery,
        answer=TitlesBody,
    ),
)
