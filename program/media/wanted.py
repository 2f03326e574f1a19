"""What a search, a release name and a torrent's files are compared with: plain data, made from a snapshot."""

from dataclasses import dataclass
from datetime import datetime

from program.media.item import Ids, Item, MediaType, Node, Title

# The item id of a title that is looked for without being in the library.
NOT_IN_LIBRARY = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedEpisode:
    """One known episode of the show. is_wanted: a file for it is asked for by this search."""

    item_id: int
    season: int
    number: int
    absolute: int | None = None
    title: str = ""
    aired_at: datetime | None = None
    runtime: int | None = None
    is_wanted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A film, an episode, a season or a show as a search and the matching rules see it.

    title, titles, year, ids, country, language: of the film or the *show*. season, episode: numbers, for what is beneath a show.
    episodes: every known episode of the show (for mapping files), those asked for marked. released_at: earliest release of the
    film or air time of the episode. other_titles: names that also belong to another known title.
    """

    item_id: int
    type: MediaType
    title: str
    original_title: str | None = None
    titles: tuple[Title, ...] = ()
    year: int | None = None
    ids: Ids = Ids()
    season: int | None = None
    episode: int | None = None
    absolute: int | None = None
    episodes: tuple[WantedEpisode, ...] = ()
    season_years: tuple[tuple[int, int], ...] = ()
    runtime: int | None = None
    released_at: datetime | None = None
    country: str | None = None
    language: str | None = None
    is_anime: bool = False
    other_titles: tuple[str, ...] = ()

    @property
    def is_movie(self) -> bool:
        """True for a film."""
        return self.type is MediaType.MOVIE


def wanted_for(
    root: Node,
    item_id: int,
    *,
    missing: frozenset[int],
    with_siblings: bool = False,
    other_titles: tuple[str, ...] = (),
) -> Wanted:
    """Return what is wanted when `item_id`, at or beneath `root`, is searched.

    missing: ids of the leaves that still need a file; of those the ones at or beneath `item_id` are marked wanted, and with
    `with_siblings` all of the title, since a torrent taken for one episode fills every sibling it holds.
    other_titles: names of the title that another known one has as well. Raises KeyError when the item is not in the tree.
    """
    path = root.path_to(item_id)
    if not path:
        raise KeyError(item_id)
    top, item = root.item, path[-1].item
    beneath = root if with_siblings else path[-1]
    asked = {leaf.item.id for leaf in beneath.leaves()} & missing
    season = next((node.item.number for node in path if node.item.type is MediaType.SEASON), None)
    return Wanted(
        item_id=item.id,
        type=item.type,
        title=top.title,
        original_title=top.original_title,
        titles=top.aliases,
        year=top.year,
        ids=top.ids,
        season=season,
        episode=item.number if item.type is MediaType.EPISODE else None,
        absolute=item.absolute_number,
        episodes=tuple(_episodes(root, asked)),
        season_years=tuple(_season_years(root)),
        runtime=item.runtime or top.runtime,
        released_at=item.aired_at or (min(item.releases.values()) if item.releases else None),
        country=top.country,
        language=top.language,
        is_anime=top.is_anime,
        other_titles=other_titles,
    )


def _episodes(root: Node, asked: set[int]) -> list[WantedEpisode]:
    return [
        _episode(season.item, leaf.item, is_wanted=leaf.item.id in asked)
        for season in root.children
        for leaf in season.children
    ]


def _episode(season: Item, item: Item, *, is_wanted: bool) -> WantedEpisode:
    return WantedEpisode(
        item_id=item.id,
        season=season.number or 0,
        number=item.number or 0,
        absolute=item.absolute_number,
        title=item.title,
        aired_at=item.aired_at,
        runtime=item.runtime,
        is_wanted=is_wanted,
    )


def _season_years(root: Node) -> list[tuple[int, int]]:
    years = []
    for season in root.children:
        aired = [leaf.item.aired_at for leaf in season.children if leaf.item.aired_at]
        if aired and season.item.number is not None:
            years.append((season.item.number, min(aired).year))
    return years
