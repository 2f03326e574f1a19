"""Cases of a file as the values that rules, ranking and mapping work on.

A case may leave out nearly everything; what is not given counts as not known, or as the default of the settings.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from program.media.entry import TorrentFile
from program.media.item import MediaType, Title
from program.media.release import JsonValue
from program.media.wanted import Wanted, WantedEpisode

Json = Mapping[str, JsonValue]
# A show without a table of its seasons; room for whatever a name counts.
_SEASONS, _SEASON_LENGTH, _ANIME_LENGTH = 30, 60, 2000
# The last season of a show that is told by the numbers its seasons begin with.
_LAST_LENGTH = 200
_KEY = re.compile(r"^S(\d+)E(\d+)$", re.IGNORECASE)
_RESOLUTION = re.compile(r"^(\d+)p$")
# The item itself; its episodes have their own numbers.
ITEM_ID = 1


class Malformed(ValueError):
    """A case that cannot be understood, with the reason."""


def mapping(value: JsonValue | None, what: str) -> Json:
    """Return an object, empty when there is none; raise Malformed."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"{what} is not an object")
    return value


def texts(value: JsonValue | None, what: str) -> tuple[str, ...]:
    """Return a list of strings, also from one string, a list of objects with a title or name, or an object; raise Malformed."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, dict):
        return tuple(text for part in value.values() for text in texts(part, what))
    if isinstance(value, list):
        return tuple(_text(part, what) for part in value)
    raise Malformed(f"{what} is not a list")


def _text(value: JsonValue, what: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for name in ("title", "name", "raw_title", "release"):
            if isinstance(found := value.get(name), str):
                return found
    raise Malformed(f"{what} has something that is no text")


def number(value: JsonValue | None) -> int | None:
    """Return a whole number from a number or its digits, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return int(value) if str(value).isdigit() else None


def wanted_of(data: Json, others: JsonValue | None = None) -> Wanted:
    """Return what the case wants; raise Malformed without a title or with a kind that does not exist."""
    title = data.get("title")
    if not isinstance(title, str):
        raise Malformed("what is wanted has no title")
    kind = _kind(data)
    season, episode = number(data.get("season")), number(data.get("episode"))
    episodes = () if kind is MediaType.MOVIE else tuple(_episodes(data, kind, season, episode))
    chosen = next((e for e in episodes if (e.season, e.number) == (season, episode)), None)
    return Wanted(
        item_id=chosen.item_id if chosen and kind is MediaType.EPISODE else ITEM_ID,
        type=kind,
        title=title,
        original_title=_maybe_text(data.get("original_title")),
        titles=tuple(_titles(data)),
        year=number(data.get("year")),
        season=season,
        episode=episode,
        absolute=number(data.get("absolute")) or (chosen.absolute if chosen else None),
        episodes=episodes,
        season_years=tuple(_season_years(data)),
        runtime=number(data.get("runtime")),
        released_at=_date(data.get("released") or data.get("release_date") or data.get("air_date")),
        country=_country(data.get("country")),
        language=_maybe_text(data.get("original_language") or data.get("language")),
        is_anime=data.get("anime") is True or data.get("is_anime") is True,
        other_titles=texts(others, "other_titles_known"),
    )


def _kind(data: Json) -> MediaType:
    said = str(data.get("type", "movie"))
    if said in ("show", "series", "tv"):
        if number(data.get("episode")) is not None:
            return MediaType.EPISODE
        return MediaType.SEASON if number(data.get("season")) is not None else MediaType.SHOW
    try:
        return MediaType(said)
    except ValueError as error:
        raise Malformed(f"{said} is no kind of title") from error


def _maybe_text(value: JsonValue | None) -> str | None:
    return value if isinstance(value, str) and value else None


def _titles(data: Json) -> Iterator[Title]:
    for name in ("aliases", "titles", "alternative_titles"):
        for text in texts(data.get(name), name):
            yield Title(text)


def _season_years(data: Json) -> Iterator[tuple[int, int]]:
    for season, year in mapping(data.get("season_years"), "season_years").items():
        if (one := number(season)) is not None and (other := number(year)) is not None:
            yield one, other


def _country(value: JsonValue | None) -> str | None:
    text = (_maybe_text(value) or "").lower()
    return {"usa": "us", "gbr": "gb", "uk": "gb", "jpn": "jp"}.get(text, text) or None


def _date(value: JsonValue | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value)) if isinstance(value, str) else None
    except ValueError as error:
        raise Malformed(f"{value} is no date") from error
    return found.replace(tzinfo=found.tzinfo or UTC) if found else None


def _episodes(
    data: Json, kind: MediaType, season: int | None, episode: int | None
) -> Iterator[WantedEpisode]:
    """Yield every episode that the case's tables make known, numbered in order."""
    firsts = {
        int(k): number(v) or 0 for k, v in mapping(data.get("absolute_first"), "absolute_first").items()
    }
    names = mapping(data.get("episode_titles"), "episode_titles")
    dates = mapping(data.get("air_dates"), "air_dates")
    counted = 0
    for item_id, (of_season, place) in enumerate(_places(data, firsts, names, dates), ITEM_ID + 1):
        key = f"S{of_season:02}E{place:02}"
        counted += of_season > 0
        absolute = firsts[of_season] + place - 1 if of_season in firsts else counted if not firsts else None
        is_asked = kind is MediaType.SHOW or of_season == season
        yield WantedEpisode(
            item_id=item_id,
            season=of_season,
            number=place,
            absolute=absolute if of_season > 0 else None,
            title=_maybe_text(names.get(key)) or "",
            aired_at=_date(dates.get(key)),
            runtime=number(data.get("runtime")),
            is_wanted=is_asked and (kind is not MediaType.EPISODE or place == episode),
        )


def _places(data: Json, firsts: Mapping[int, int], names: Json, dates: Json) -> list[tuple[int, int]]:
    lengths = {int(k): number(v) or 0 for k, v in mapping(data.get("seasons"), "seasons").items()}
    following = dict(zip(sorted(firsts), sorted(firsts)[1:], strict=False))
    for season, first in firsts.items():
        length = firsts[following[season]] - first if season in following else _LAST_LENGTH
        lengths.setdefault(season, length)
    places = {(s, n) for s, length in lengths.items() for n in range(1, length + 1)}
    for key in (*names, *dates):
        if match := _KEY.match(key):
            places.add((int(match[1]), int(match[2])))
    if not places:
        is_anime = data.get("anime") is True
        seasons, length = (1, _ANIME_LENGTH) if is_anime else (_SEASONS, _SEASON_LENGTH)
        places = {(s, n) for s in range(1, seasons + 1) for n in range(1, length + 1)}
    return sorted(places)


def files_of(value: JsonValue | None) -> tuple[TorrentFile, ...]:
    """Return the files of a torrent, in the order given; raise Malformed."""
    if not isinstance(value, list):
        raise Malformed("files is not a list")
    found = []
    for place, data in enumerate(value):
        path = data if isinstance(data, str) else mapping(data, "a file").get("path")
        size = number(data.get("size")) if isinstance(data, dict) else None
        if not isinstance(path, str):
            raise Malformed("a file has no path")
        found.append(TorrentFile(path, size or 1, str(place)))
    return tuple(found)
