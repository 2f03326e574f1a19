"""Which stored episode is which episode of a new answer: numbers move, a service's ids stay."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from program.media.metadata import EpisodeMetadata, SeasonMetadata


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """An episode's row. season: number of the season it is in. has_file: it is not removed when the service drops it."""

    id: int
    season: int
    number: int | None
    service_id: str | None
    has_file: bool


@dataclass(frozen=True, slots=True)
class Matched:
    """same: row id to the season and episode it is now. new: without a row. vanished: rows without an episode, to be removed.

    displaced: rows without an episode that are kept for their file, although another episode has their place now.
    """

    same: Mapping[int, tuple[int, EpisodeMetadata]]
    new: tuple[tuple[int, EpisodeMetadata], ...]
    vanished: tuple[int, ...]
    displaced: tuple[int, ...]


def match(stored: Iterable[StoredEpisode], seasons: Iterable[SeasonMetadata]) -> Matched:
    """Return which row is which episode: by the service's id first, then by season and number."""
    rows = tuple(stored)
    answer = _once(seasons)
    by_id = {row.service_id: row.id for row in rows if row.service_id}
    same = {by_id[part.service_id]: place for place, part in answer.items() if part.service_id in by_id}
    by_place = {(row.season, row.number): row.id for row in rows if row.id not in same}
    found = set(same.values())
    same |= {by_place[place]: place for place in answer if place not in found and place in by_place}
    found = set(same.values())
    gone = [row for row in rows if row.id not in same]
    return Matched(
        same={row_id: (place[0], answer[place]) for row_id, place in same.items()},
        new=tuple((place[0], episode) for place, episode in answer.items() if place not in found),
        vanished=tuple(row.id for row in gone if not row.has_file),
        displaced=tuple(row.id for row in gone if row.has_file and (row.season, row.number) in answer),
    )


def _once(seasons: Iterable[SeasonMetadata]) -> dict[tuple[int, int], EpisodeMetadata]:
    """Return the episodes by season and number, each number and each id once: the first counts."""
    found: dict[tuple[int, int], EpisodeMetadata] = {}
    ids: set[str] = set()
    for season in seasons:
        for episode in season.episodes:
            place = (season.number, episode.number)
            if place not in found and (not episode.service_id or episode.service_id not in ids):
                found[place] = episode
                ids.add(episode.service_id)
    return found
