"""The records that the TMDB stand-in answers with."""

from datetime import date
from typing import Any

from program.demo.catalog import Episode, Film, Show

MOVIE_PARTS = ("external_ids", "release_dates", "alternative_titles", "translations", "keywords", "images")
TV_PARTS = ("external_ids", "alternative_titles", "content_ratings", "keywords", "translations", "images")
_LANGUAGE_NAMES = {"en": "English", "fr": "French", "de": "German"}


def _genres(names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {"id": 16 if name == "Animation" else 100 + place, "name": name} for place, name in enumerate(names)
    ]


def movie_row(film: Film) -> dict[str, Any]:
    """Return a film as lists show it."""
    return {
        "adult": False,
        "id": film.tmdb,
        "title": film.title,
        "original_title": film.title,
        "original_language": film.language,
        "overview": film.overview,
        "poster_path": f"/poster-{film.tmdb}.jpg",
        "backdrop_path": None,
        "genre_ids": [genre["id"] for genre in _genres(film.genres)],
        "popularity": 1.0,
        "release_date": _iso(film.premiere) or "",
        "video": False,
        "vote_average": 7.1,
        "vote_count": 10,
    }


def movie_record(film: Film) -> dict[str, Any]:
    """Return a film in full."""
    row = movie_row(film)
    del row["genre_ids"]
    return row | {
        "belongs_to_collection": None,
        "budget": 0,
        "genres": _genres(film.genres),
        "homepage": "",
        "imdb_id": film.imdb,
        "origin_country": [film.country],
        "production_companies": [],
        "production_countries": [{"iso_3166_1": film.country, "name": film.country}],
        "revenue": 0,
        "runtime": film.runtime,
        "spoken_languages": [_spoken(film.language)],
        "status": "Released" if film.premiere else "In Production",
        "tagline": "",
    }


def movie_part(film: Film, part: str) -> dict[str, Any]:
    """Return one appended part of a film."""
    match part:
        case "external_ids":
            return {
                "imdb_id": film.imdb,
                "wikidata_id": None,
                "facebook_id": None,
                "instagram_id": None,
                "twitter_id": None,
            }
        case "release_dates":
            dates = [_release_date(film.premiere, 1), _release_date(film.digital, 4)]
            return {"results": [{"iso_3166_1": film.country, "release_dates": [one for one in dates if one]}]}
        case "alternative_titles":
            return {
                "titles": [
                    {"iso_3166_1": country, "title": title, "type": ""} for country, title in film.aliases
                ]
            }
        case "keywords":
            return {"keywords": [{"id": 1, "name": "open movie"}]}
        case "translations":
            return {"translations": [_translation(film.language, "title")]}
    return {"backdrops": [], "posters": [], "logos": []}


def _release_date(day: date | None, kind: int) -> dict[str, Any] | None:
    if day is None:
        return None
    text = f"{day.isoformat()}T00:00:00.000Z"
    return {
        "certification": "",
        "descriptors": [],
        "iso_639_1": "",
        "note": "",
        "release_date": text,
        "type": kind,
    }


def _translation(language: str, field: str) -> dict[str, Any]:
    data = {field: "", "overview": "", "homepage": "", "tagline": ""}
    name = _LANGUAGE_NAMES.get(language, language)
    return {"iso_3166_1": "US", "iso_639_1": language, "name": name, "english_name": name, "data": data}


def _spoken(language: str) -> dict[str, str]:
    name = _LANGUAGE_NAMES.get(language, language)
    return {"english_name": name, "iso_639_1": language, "name": name}


def tv_row(show: Show) -> dict[str, Any]:
    """Return a series as lists show it."""
    return {
        "adult": False,
        "id": show.tmdb,
        "name": show.title,
        "original_name": show.title,
        "origin_country": [show.country],
        "original_language": show.language,
        "overview": show.overview,
        "first_air_date": _iso(_first_aired(show)) or "",
        "genre_ids": [genre["id"] for genre in _genres(show.genres)],
        "poster_path": f"/poster-{show.tmdb}.jpg",
        "backdrop_path": None,
        "popularity": 1.0,
        "vote_average": 7.0,
        "vote_count": 10,
    }


def tv_record(show: Show, today: date) -> dict[str, Any]:
    """Return a series in full, as of today."""
    regular = [episode for episode in show.episodes if episode.season and episode.aired]
    aired = [episode for episode in regular if episode.aired and episode.aired <= today]
    coming = [episode for episode in regular if episode.aired and episode.aired > today]
    row = tv_row(show)
    del row["genre_ids"]
    return row | {
        "created_by": [],
        "episode_run_time": [show.runtime],
        "genres": _genres(show.genres),
        "homepage": "",
        "in_production": show.status != "Ended",
        "languages": [show.language],
        "last_air_date": _iso(aired[-1].aired) if aired else None,
        "last_episode_to_air": _episode(show, aired[-1]) if aired else None,
        "next_episode_to_air": _episode(show, coming[0]) if coming else None,
        "networks": [{"id": 5, "logo_path": None, "name": show.network, "origin_country": show.country}],
        "number_of_episodes": len(regular),
        "number_of_seasons": len([number for number in show.season_numbers if number]),
        "production_companies": [],
        "production_countries": [{"iso_3166_1": show.country, "name": show.country}],
        "seasons": [_season_row(show, number) for number in show.season_numbers],
        "spoken_languages": [_spoken(show.language)],
        "status": "Ended" if show.status == "Ended" else "Returning Series",
        "tagline": "",
        "type": "Scripted",
    }


def tv_part(show: Show, part: str) -> dict[str, Any]:
    """Return one appended part of a series."""
    match part:
        case "external_ids":
            others = dict.fromkeys(
                ("tvrage_id", "freebase_mid", "freebase_id", "wikidata_id", "facebook_id", "twitter_id")
            )
            return {"imdb_id": show.imdb, "tvdb_id": show.tvdb, **others}
        case "alternative_titles":
            return {
                "results": [
                    {"iso_3166_1": country, "title": title, "type": ""} for country, title in show.aliases
                ]
            }
        case "content_ratings":
            return {"results": [{"descriptors": [], "iso_3166_1": "US", "rating": "TV-14"}]}
        case "keywords":
            return {"results": [{"id": 1, "name": "crowdfunded"}]}
        case "translations":
            return {"translations": [_translation(show.language, "name")]}
    return {"backdrops": [], "posters": [], "logos": []}


def _season_row(show: Show, number: int) -> dict[str, Any]:
    episodes = show.season(number)
    return {
        "air_date": _iso(episodes[0].aired),
        "episode_count": len(episodes),
        "id": show.tmdb * 100 + number,
        "name": f"Season {number}" if number else "Specials",
        "overview": "",
        "poster_path": None,
        "season_number": number,
        "vote_average": 0,
    }


def season_record(show: Show, number: int) -> dict[str, Any]:
    """Return a season with its episodes."""
    row = _season_row(show, number)
    del row["episode_count"]
    return {
        "_id": f"{row['id']:024x}",
        **row,
        "networks": [],
        "episodes": [_episode(show, one) for one in show.season(number)],
    }


def _episode(show: Show, episode: Episode) -> dict[str, Any]:
    return {
        "air_date": _iso(episode.aired),
        "episode_number": episode.number,
        "episode_type": "standard",
        "id": episode.id,
        "name": episode.title,
        "overview": "",
        "production_code": "",
        "runtime": episode.runtime,
        "season_number": episode.season,
        "show_id": show.tmdb,
        "still_path": None,
        "vote_average": 0,
        "vote_count": 0,
        "crew": [],
        "guest_stars": [],
    }


def _first_aired(show: Show) -> date | None:
    return min((episode.aired for episode in show.episodes if episode.season and episode.aired), default=None)


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
