"""Cases of a file as the values that rules, ranking and mapping work on.

A case may leave out nearly everything; what is not given counts as not known, or as the default of the settings.
"""

from collections.abc import Iterator

from program.cli.case_shows import episodes_of
from program.cli.case_values import Json, Malformed, date_or_none, mapping, number, text_or_none, texts
from program.media.entry import TorrentFile
from program.media.item import MediaType, Title
from program.media.release import JsonValue
from program.media.wanted import Wanted

# The item itself; its episodes have numbers of their own.
ITEM_ID = 1


def wanted_of(data: Json, others: JsonValue | None = None) -> Wanted:
    """Return what the case wants; raise Malformed without a title or with a kind that does not exist."""
    title = data.get("title")
    if not isinstance(title, str):
        raise Malformed("what is wanted has no title")
    kind = _kind(data)
    season, episode = number(data.get("season")), number(data.get("episode"))
    episodes = () if kind is MediaType.MOVIE else tuple(episodes_of(data, kind, season, episode))
    chosen = next((e for e in episodes if (e.season, e.number) == (season, episode)), None)
    return Wanted(
        item_id=chosen.item_id if chosen and kind is MediaType.EPISODE else ITEM_ID,
        type=kind,
        title=title,
        original_title=text_or_none(data.get("original_title")),
        titles=tuple(_titles(data)),
        year=number(data.get("year")),
        season=season,
        episode=episode,
        absolute=number(data.get("absolute")) or (chosen.absolute if chosen else None),
        episodes=episodes,
        season_years=tuple(_season_years(data)),
        runtime=number(data.get("runtime")),
        released_at=date_or_none(data.get("released") or data.get("release_date") or data.get("air_date")),
        country=_country(data.get("country")),
        language=text_or_none(data.get("original_language") or data.get("language")),
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


def _titles(data: Json) -> Iterator[Title]:
    for name in ("aliases", "titles", "alternative_titles"):
        for text in texts(data.get(name), name):
            yield Title(text)


def _season_years(data: Json) -> Iterator[tuple[int, int]]:
    for season, year in mapping(data.get("season_years"), "season_years").items():
        if (one := number(season)) is not None and (other := number(year)) is not None:
            yield one, other


def _country(value: JsonValue | None) -> str | None:
    text = (text_or_none(value) or "").lower()
    return {"usa": "us", "gbr": "gb", "uk": "gb", "jpn": "jp"}.get(text, text) or None


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
