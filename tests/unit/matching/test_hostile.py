"""The demo library with hostile releases mixed in: many look better than the right one, and no choice changes."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, time

import pytest

from program.demo.catalog import Film, Show, load_catalog
from program.media.item import MediaType, Title
from program.media.release import Candidate, FoundRelease, JudgedRelease
from program.media.wanted import Wanted, WantedEpisode
from program.services.matching.judge import judge
from program.services.matching.rank import order
from program.settings.ranking import RankingSettings
from tests.support.hostile import HOSTILE, hostile

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)
CATALOG = load_catalog(NOW)
OPTIONS = RankingSettings().plain()


def film_of(film: Film) -> Wanted:
    dates = [day for day in (film.premiere, film.digital) if day]
    return Wanted(
        item_id=1,
        type=MediaType.MOVIE,
        title=film.title,
        titles=tuple(Title(text) for _, text in film.aliases),
        year=film.year,
        runtime=film.runtime,
        language=film.language,
        country=film.country.lower(),
        released_at=datetime.combine(min(dates), time(), UTC) if dates else None,
    )


def episodes_of(show: Show) -> Iterator[Wanted]:
    known = tuple(
        WantedEpisode(
            item_id=e.id,
            season=e.season,
            number=e.number,
            absolute=e.absolute or None,
            title=e.title,
            aired_at=datetime.combine(e.aired, time(), UTC) if e.aired else None,
            runtime=e.runtime,
        )
        for e in show.episodes
    )
    for one in known:
        if one.season > 0 and one.aired_at is not None and one.aired_at < NOW:
            yield Wanted(
                item_id=one.item_id,
                type=MediaType.EPISODE,
                title=show.title,
                titles=tuple(Title(text) for _, text in show.aliases),
                year=show.year,
                season=one.season,
                episode=one.number,
                absolute=one.absolute,
                episodes=known,
                runtime=one.runtime,
                released_at=one.aired_at,
                language=show.language,
                country=show.country.lower(),
            )


def mixed(found: list[FoundRelease], wanted: Wanted, seed: int) -> list[FoundRelease]:
    both = [*found, *hostile(wanted, seed)]
    random.Random(seed).shuffle(both)  # noqa: S311 - seeded, so that a run can be repeated
    return both


def chosen(wanted: Wanted, found: list[FoundRelease]) -> list[JudgedRelease]:
    judged = judge(wanted, found, OPTIONS, NOW)
    usable = [
        Candidate(id=n, item_id=1, release=one, found_at=NOW)
        for n, one in enumerate(judged)
        if not one.rejection
    ]
    return [candidate.release for candidate in order(usable, OPTIONS)]


def found_for(imdb: str) -> list[FoundRelease]:
    return [
        FoundRelease(
            one.infohash, one.name, "demo", size=int(one.gigabytes * 1_000_000_000), seeders=one.seeders
        )
        for one in CATALOG.listed(imdb)
    ]


WANTED = [
    *((film.imdb, film_of(film)) for film in CATALOG.films.values()),
    *((show.imdb, wanted) for show in CATALOG.shows.values() for wanted in list(episodes_of(show))[:4]),
]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("imdb", "wanted"), WANTED, ids=lambda value: value if isinstance(value, str) else value.title
)
def test_hostile_releases_change_no_choice(imdb: str, wanted: Wanted, seed: int) -> None:
    found = found_for(imdb)
    without = [one.raw_title for one in chosen(wanted, found)]
    assert [one.raw_title for one in chosen(wanted, mixed(found, wanted, seed))] == without


def test_most_of_the_library_has_something_to_choose() -> None:
    assert sum(bool(chosen(wanted, found_for(imdb))) for imdb, wanted in WANTED) > len(WANTED) / 2


def test_many_a_hostile_release_would_rank_above_the_right_one() -> None:
    imdb, wanted = next((imdb, wanted) for imdb, wanted in WANTED if chosen(wanted, found_for(imdb)))
    right = chosen(wanted, found_for(imdb))[0]
    refused = judge(wanted, mixed([], wanted, 1), OPTIONS, NOW)
    assert sum(one.resolution in ("2160p", right.resolution) for one in refused) > HOSTILE / 3
