"""The episodes of a case's show, from whatever tables the case has."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from program.cli.case_values import Json, Malformed, date_or_none, mapping, number, text_or_none
from program.media.item import MediaType
from program.media.release import JsonValue
from program.media.wanted import WantedEpisode

# A show without a table of its seasons; room for whatever a name counts.
_SEASONS, _SEASON_LENGTH, _ANIME_LENGTH = 30, 60, 2000
# The last season of a show that is told by the numbers its seasons begin with.
_LAST_LENGTH = 200
# More is a slip of the pen.
_MOST_EPISODES = 10_000
_KEY = re.compile(r"^S(\d{1,4})E(\d{1,4})$", re.IGNORECASE)
# Numbers of items; the first belongs to the show itself.
_FIRST_ID = 2


@dataclass(frozen=True, slots=True)
class _Tables:
    """What a case tells of its show. firsts: season to the first number over the whole show; the others by `S01E02`."""

    lengths: Mapping[int, int]
    firsts: Mapping[int, int]
    told: Mapping[str, Json]
    names: Json
    dates: Json


def episodes_of(
    data: Json, kind: MediaType, season: int | None, episode: int | None
) -> Iterator[WantedEpisode]:
    """Yield every episode that the case makes known, numbered in order; raise Malformed."""
    tables = _tables(data)
    counted = 0
    for item_id, (of_season, place) in enumerate(_places(data, tables), _FIRST_ID):
        counted += of_season > 0
        key = f"S{of_season:02}E{place:02}"
        is_asked = kind is MediaType.SHOW or of_season == season
        yield WantedEpisode(
            item_id=item_id,
            season=of_season,
            number=place,
            absolute=_absolute(tables, key, of_season, place, counted) if of_season > 0 else None,
            title=text_or_none(tables.names.get(key)) or "",
            aired_at=date_or_none(tables.dates.get(key)),
            runtime=number(data.get("runtime")),
            is_wanted=is_asked and (kind is not MediaType.EPISODE or place == episode),
        )


def _absolute(tables: _Tables, key: str, season: int, place: int, counted: int) -> int | None:
    told = number(tables.told.get(key, {}).get("absolute"))
    if told is not None:
        return told
    if season in tables.firsts:
        return tables.firsts[season] + place - 1
    return None if tables.firsts else counted


def _tables(data: Json) -> _Tables:
    told = _told_episodes(data)
    return _Tables(
        lengths=_lengths(data.get("seasons")),
        firsts={
            int(k): number(v) or 0 for k, v in _numbered(data.get("absolute_first"), "absolute_first").items()
        },
        told=told,
        names={
            **{key: one.get("title") for key, one in told.items()},
            **mapping(data.get("episode_titles"), "episode_titles"),
        },
        dates={
            **{key: one.get("air_date", one.get("aired")) for key, one in told.items()},
            **mapping(data.get("air_dates"), "air_dates"),
        },
    )


def _lengths(seasons: JsonValue | None) -> dict[int, int]:
    """Return how many episodes each season has, from a table or from a list in the order of the seasons."""
    if isinstance(seasons, list):
        return {place: number(length) or 0 for place, length in enumerate(seasons, 1)}
    return {int(season): number(length) or 0 for season, length in _numbered(seasons, "seasons").items()}


def _numbered(value: JsonValue | None, what: str) -> Json:
    """Return an object whose names are numbers; raise Malformed."""
    found = mapping(value, what)
    if not all(name.isdecimal() for name in found):
        raise Malformed(f"{what} has a name that is no number")
    return found


def _told_episodes(data: Json) -> Mapping[str, Json]:
    """Return the list of episodes, if there is one, by `S01E02`."""
    told = data.get("episodes")
    if isinstance(told, dict):
        return {key.upper(): mapping(value, key) for key, value in told.items()}
    found: dict[str, Json] = {}
    for one in told if isinstance(told, list) else ():
        episode = mapping(one, "an episode")
        season, place = number(episode.get("season")), number(episode.get("number", episode.get("episode")))
        if season is None or place is None:
            raise Malformed("an episode has no season or number")
        found[f"S{season:02}E{place:02}"] = episode
    return found


def _places(data: Json, tables: _Tables) -> list[tuple[int, int]]:
    lengths = dict(tables.lengths)
    firsts = tables.firsts
    following = dict(zip(sorted(firsts), sorted(firsts)[1:], strict=False))
    for season, first in firsts.items():
        lengths.setdefault(season, firsts[following[season]] - first if season in following else _LAST_LENGTH)
    if sum(lengths.values()) > _MOST_EPISODES:
        raise Malformed(f"a show of more than {_MOST_EPISODES} episodes")
    places = {(s, n) for s, length in lengths.items() for n in range(1, length + 1)}
    for key in (*tables.told, *tables.names, *tables.dates):
        if match := _KEY.match(key):
            places.add((int(match[1]), int(match[2])))
    if not places:
        is_anime = data.get("anime") is True
        seasons, length = (1, _ANIME_LENGTH) if is_anime else (_SEASONS, _SEASON_LENGTH)
        places = {(s, n) for s in range(1, seasons + 1) for n in range(1, length + 1)}
    return sorted(places)
