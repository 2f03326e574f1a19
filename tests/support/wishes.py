"""Builders for what is wanted and for what scrapers and torrents offer."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from program.media.entry import TorrentFile
from program.media.item import MediaType, Title
from program.media.release import FoundRelease, JudgedRelease
from program.media.wanted import Wanted, WantedEpisode
from program.services.matching.judge import judge
from program.settings.ranking import RankingOptions, RankingSettings

NOW = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)
GIGABYTE = 1_000_000_000
MEGABYTE = 1_000_000
FILM_ID = 1


def wanted_film(
    title: str = "Lantern", *, year: int | None = 2020, aliases: tuple[str, ...] = (), **changes: object
) -> Wanted:
    """Return a wanted film of 90 minutes in English."""
    base = Wanted(
        item_id=FILM_ID,
        type=MediaType.MOVIE,
        title=title,
        year=year,
        titles=tuple(Title(text) for text in aliases),
        runtime=90,
        language="en",
        country="us",
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def episode_id(season: int, number: int) -> int:
    """Return the item id that `wanted_show` gives an episode."""
    return season * 1000 + number


def wanted_show(
    title: str = "Pioneer One",
    *,
    seasons: Mapping[int, int] | None = None,
    season: int | None = None,
    episode: int | None = None,
    titles: Mapping[tuple[int, int], str] | None = None,
    **changes: object,
) -> Wanted:
    """Return a wanted show, season or episode; seasons: number to count of episodes, one a week from 2010 on."""
    kind = MediaType.SHOW if season is None else MediaType.SEASON if episode is None else MediaType.EPISODE
    absolute, episodes = 0, []
    for number, count in sorted((seasons or {1: 6, 2: 4}).items()):
        for each in range(1, count + 1):
            absolute += 1 if number else 0
            episodes.append(
                WantedEpisode(
                    item_id=episode_id(number, each),
                    season=number,
                    number=each,
                    absolute=absolute if number else None,
                    title=(titles or {}).get((number, each), ""),
                    aired_at=datetime(2010 + number, 1, 1, tzinfo=UTC) + timedelta(weeks=each),
                    runtime=30,
                    is_wanted=season in (None, number) and episode in (None, each),
                )
            )
    mine = next((e for e in episodes if e.season == season and e.number == episode), None)
    base = Wanted(
        item_id=mine.item_id if mine else FILM_ID,
        type=kind,
        title=title,
        year=2011,
        season=season,
        episode=episode,
        absolute=mine.absolute if mine else None,
        episodes=tuple(episodes),
        season_years=tuple((number, 2010 + number) for number in sorted(seasons or {1: 6, 2: 4})),
        runtime=30,
        language="en",
        country="us",
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def found(name: str, *, source: str = "zilean", **changes: object) -> FoundRelease:
    """Return a release as one scraper names it; its hash is that of its name."""
    infohash = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
    return replace(FoundRelease(infohash=infohash, raw_title=name, source=source), **changes)  # type: ignore[arg-type]


def options(**changes: object) -> RankingOptions:
    """Return the default options of ranking."""
    return replace(RankingSettings().plain(), **changes)  # type: ignore[arg-type]


def verdict(
    wanted: Wanted, name: str, ranking: RankingOptions | None = None, **changes: object
) -> JudgedRelease:
    """Return what the rules say of one release."""
    return judge(wanted, (found(name, **changes),), ranking or options(), NOW)[0]


def reason(wanted: Wanted, name: str, ranking: RankingOptions | None = None, **changes: object) -> str | None:
    """Return the code of the refusal of one release, None when it is taken."""
    rejection = verdict(wanted, name, ranking, **changes).rejection
    return rejection.code if rejection else None


def torrent(*files: str | tuple[str, int]) -> tuple[TorrentFile, ...]:
    """Return files of a torrent; a bare path is one of 500 MB."""
    rows = [(file, 500 * MEGABYTE) if isinstance(file, str) else file for file in files]
    return tuple(TorrentFile(path, size, str(number)) for number, (path, size) in enumerate(rows))
