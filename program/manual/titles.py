"""Which title a person means, in the library or not."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from program.db import items
from program.db.lookup import find
from program.errors import NotFound, RivuletError, Transient
from program.events import MovieIndexRequested, ShowIndexRequested
from program.media.facts import lacks_metadata
from program.media.item import Ids, MediaType, Node, Title
from program.media.metadata import Metadata
from program.media.wanted import NOT_IN_LIBRARY, Wanted, WantedEpisode, wanted_for
from program.services.flows.context import FlowContext
from program.services.flows.plugin_hook import ask

# How long a metadata service may take while somebody waits.
LOOK_UP_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a person names a title: by our id, or by one of a metadata service. title, imdb: searched in place of the known ones."""

    is_movie: bool = True
    item_id: int | None = None
    ids: Ids = Ids()
    title: str | None = None
    imdb: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A title that was found. item_id, root: None for one that is not in the library."""

    asked: Asked
    wanted: Wanted
    item_id: int | None = None
    root: Node | None = None

    @property
    def name(self) -> str:
        """Return what it is called, with its year."""
        return f"{self.wanted.title} ({self.wanted.year})" if self.wanted.year else self.wanted.title


def target_of(ctx: FlowContext, asked: Asked) -> Target:
    """Return the title that is meant; it is looked up when the library has none. Raises NotFound, Transient."""
    item_id = known_id(ctx, asked)
    if item_id is None:
        return Target(
            asked=asked, wanted=_named(asked, wanted_of(look_up(ctx, asked), is_movie=asked.is_movie))
        )
    root = ctx.load(_root_id(ctx, item_id))
    if lacks_metadata(root.item.facts):
        new = replace(asked, ids=root.item.ids, is_movie=root.item.type is MediaType.MOVIE)
        wanted = wanted_of(look_up(ctx, new), is_movie=new.is_movie)
        return Target(asked=asked, wanted=_named(asked, wanted), item_id=item_id, root=root)
    everything = frozenset(leaf.item.id for leaf in root.leaves())
    wanted = wanted_for(root, item_id, missing=everything)
    return Target(asked=asked, wanted=_named(asked, wanted), item_id=item_id, root=root)


def known_id(ctx: FlowContext, asked: Asked) -> int | None:
    """Return the id of the title in the library, None when it is not there; raise NotFound for an unknown id of ours."""
    with ctx.db.read() as tx:
        if asked.item_id is not None:
            if asked.item_id not in items.root_of(tx, [asked.item_id]):
                raise NotFound(f"no item has the id {asked.item_id}")
            return asked.item_id
        kind = MediaType.MOVIE if asked.is_movie else MediaType.SHOW
        return find(tx, kind, asked.ids)


def _root_id(ctx: FlowContext, item_id: int) -> int:
    with ctx.db.read() as tx:
        return items.root_of(tx, [item_id])[item_id]


def _named(asked: Asked, wanted: Wanted) -> Wanted:
    """Return what is wanted under the name and the IMDb id that a person gave instead."""
    if asked.title:
        wanted = replace(wanted, title=asked.title, titles=(*wanted.titles, Title(wanted.title)))
    return replace(wanted, ids=replace(wanted.ids, imdb=asked.imdb)) if asked.imdb else wanted


def look_up(ctx: FlowContext, asked: Asked) -> Metadata:
    """Return what the first metadata service that knows the title says of it. Raises NotFound, Transient."""
    event = MovieIndexRequested(asked.ids) if asked.is_movie else ShowIndexRequested(asked.ids)
    troubles = []
    for key in ctx.registry.hooks_for(event.type):
        try:
            found = ctx.engine.call(ask(key, event, "a title", attempts=1), LOOK_UP_SECONDS)
        except NotFound:
            continue
        except RivuletError as error:
            troubles.append(str(error))
            continue
        if isinstance(found, Metadata) and found.title:
            return found
    if troubles:
        raise Transient("; ".join(troubles))
    raise NotFound("no metadata service knows this id")


def wanted_of(metadata: Metadata, *, is_movie: bool) -> Wanted:
    """Return a title that is not in the library as a search sees it; its episodes are numbered from 1 on."""
    dates = sorted(metadata.releases.values())
    return Wanted(
        item_id=NOT_IN_LIBRARY,
        type=MediaType.MOVIE if is_movie else MediaType.SHOW,
        title=metadata.title,
        original_title=metadata.original_title,
        titles=metadata.aliases,
        year=metadata.year,
        ids=metadata.ids,
        episodes=tuple(_episodes(metadata)),
        runtime=metadata.runtime,
        released_at=dates[0] if dates else metadata.first_aired_at,
        country=metadata.country,
        language=metadata.language,
        is_anime=metadata.is_anime,
    )


def _episodes(metadata: Metadata) -> Iterator[WantedEpisode]:
    rows = ((season.number, episode) for season in metadata.seasons for episode in season.episodes)
    for place, (season, episode) in enumerate(rows, 1):
        yield WantedEpisode(
            item_id=place,
            season=season,
            number=episode.number,
            absolute=episode.absolute_number,
            title=episode.title,
            aired_at=episode.aired_at,
            runtime=episode.runtime,
        )
