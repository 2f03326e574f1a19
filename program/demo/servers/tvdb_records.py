"""The records that the TVDB stand-in answers with."""

from datetime import date
from typing import Any

from program.demo.catalog import Episode, Show

SEASON_TYPES = {"official": (1, "Aired Order"), "absolute": (3, "Absolute Order")}
COUNTRIES = {"US": "usa", "NL": "nld", "GB": "gbr", "JP": "jpn", "FR": "fra", "DE": "deu"}
LANGUAGES = {"en": "eng", "fr": "fra", "de": "deu", "ja": "jpn"}
_STATUS_IDS = {"Continuing": 1, "Ended": 2, "Upcoming": 3}
_UPDATED = "2026-01-06 00:00:00"
_RATING = {
    "id": 1, "name": "TV-14", "country": "usa", "description": "", "contentType": "", "order": 4, "fullname": None,
}  # fmt: skip


def in_order(show: Show, order: str) -> list[dict[str, Any]]:
    """Return the episodes as this order numbers them; an order the series lacks has none."""
    if order == "official":
        return [episode_record(show, one) for one in show.episodes]
    if order == "absolute":
        counted = [one for one in show.episodes if one.absolute]
        return [{**episode_record(show, one), "seasonNumber": 1, "number": one.absolute} for one in counted]
    return []


def base_record(show: Show, today: date) -> dict[str, Any]:
    """Return a series' base record, as of today."""
    language = LANGUAGES.get(show.language, "eng")
    aired = [one.aired for one in show.episodes if one.season and one.aired]
    coming = [day for day in aired if day > today]
    country = COUNTRIES.get(show.country, "usa")
    return {
        "id": show.tvdb,
        "name": show.title,
        "slug": show.title.lower().replace(" ", "-"),
        "image": f"https://artworks.thetvdb.com/banners/v4/series/{show.tvdb}/posters/x.jpg",
        "nameTranslations": [language],
        "overviewTranslations": [language],
        "aliases": [{"language": language, "name": title} for _, title in show.aliases],
        "firstAired": _iso(min(aired, default=None)),
        "lastAired": _iso(max((day for day in aired if day <= today), default=None)),
        "nextAired": _iso(min(coming, default=None)) or "",
        "score": 1,
        "status": _status(show),
        "originalCountry": country,
        "country": country,
        "originalLanguage": language,
        "defaultSeasonType": 1,
        "isOrderRandomized": False,
        "lastUpdated": _UPDATED,
        "averageRuntime": show.runtime,
        "episodes": None,
        "overview": show.overview,
        "year": str(show.year),
    }


def extended_record(show: Show, today: date, meta: str | None, *, short: bool) -> dict[str, Any]:
    """Return a series' extended record."""
    language = LANGUAGES.get(show.language, "eng")
    network = (
        {"id": 1, "name": show.network, "country": COUNTRIES.get(show.country, "usa")}
        if show.network
        else None
    )
    days = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    record = base_record(show, today) | {
        "airsTime": show.airs_time,
        "airsDays": {day: day == "tuesday" for day in days},
        "originalNetwork": network,
        "latestNetwork": network,
        "companies": [],
        "genres": [
            {"id": place + 1, "name": name, "slug": name.lower()} for place, name in enumerate(show.genres)
        ],
        "contentRatings": [_RATING],
        "remoteIds": [
            {"id": show.imdb, "type": 2, "sourceName": "IMDB"},
            {"id": str(show.tmdb), "type": 12, "sourceName": "TheMovieDB.com"},
        ],
        "seasons": season_records(show),
        "seasonTypes": [_season_type(kind) for kind in SEASON_TYPES],
        "artworks": None if short else [],
        "characters": None if short else [],
        "trailers": [],
        "tags": [],
        "lists": [],
    }
    if meta == "translations":
        record["translations"] = _translations(show, language)
    if meta == "episodes":
        record["episodes"] = in_order(show, "official")
    return record


def _translations(show: Show, language: str) -> dict[str, Any]:
    aliases = [title for _, title in show.aliases]
    name = {"name": show.title, "language": language, "isPrimary": True, "aliases": aliases}
    overview = {"overview": show.overview, "language": language}
    return {"nameTranslations": [name], "overviewTranslations": [overview], "aliases": aliases}


def _season_type(kind: str) -> dict[str, Any]:
    number, name = SEASON_TYPES[kind]
    return {"id": number, "name": name, "type": kind, "alternateName": None}


def season_records(show: Show) -> list[dict[str, Any]]:
    """Return the season records of every order, as TVDB lists them side by side."""
    official = [(number, "official") for number in show.season_numbers]
    return [
        {
            "id": show.tvdb * 10 + place,
            "seriesId": show.tvdb,
            "type": _season_type(kind),
            "number": number,
            "nameTranslations": [],
            "overviewTranslations": [],
            "lastUpdated": _UPDATED,
        }
        for place, (number, kind) in enumerate([*official, (1, "absolute")])
    ]


def episode_record(show: Show, episode: Episode) -> dict[str, Any]:
    """Return an episode."""
    last = show.season(episode.season)[-1] is episode and show.status == "Ended"
    return {
        "id": episode.id,
        "seriesId": show.tvdb,
        "name": episode.title,
        "aired": _iso(episode.aired),
        "runtime": episode.runtime,
        "nameTranslations": [LANGUAGES.get(show.language, "eng")],
        "overview": "",
        "overviewTranslations": [],
        "image": f"/banners/v4/episode/{episode.id}/screencap/x.jpg",
        "imageType": 11,
        "isMovie": 0,
        "seasons": None,
        "number": episode.number,
        "absoluteNumber": episode.absolute,
        "seasonNumber": episode.season,
        "lastUpdated": _UPDATED,
        "finaleType": "series" if last else None,
        "year": str(episode.aired.year) if episode.aired else None,
    }


def search_row(show: Show) -> dict[str, Any]:
    """Return a series as a search lists it."""
    return {
        "objectID": f"series-{show.tvdb}",
        "tvdb_id": str(show.tvdb),
        "id": f"series-{show.tvdb}",
        "type": "series",
        "name": show.title,
        "slug": show.title.lower().replace(" ", "-"),
        "year": str(show.year),
        "status": show.status,
        "network": show.network,
        "primary_language": LANGUAGES.get(show.language, "eng"),
        "overview": show.overview,
        "remote_ids": [{"id": show.imdb, "type": 2, "sourceName": "IMDB"}],
    }


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _status(show: Show) -> dict[str, Any]:
    return {
        "id": _STATUS_IDS[show.status],
        "name": show.status,
        "recordType": "series",
        "keepUpdated": show.status != "Ended",
    }
