"""A retry as facts: what starts afresh, what is left alone, what is named."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.db import requests
from program.db.views import Reset
from program.media.item import States
from program.media.outcomes import index_missed
from tests.db.library import Library, episode, release, season, wish


@pytest.fixture
def show(library: Library) -> int:
    """A series of four episodes: completed, failed, searched in vain, unreleased."""
    later = episode(4, "s1e4", aired_at=library.now + timedelta(days=9))
    show = library.show(season(1, [episode(1), episode(2), episode(3), later]))
    library.complete(show, library.item(show, 1, 1).id)
    library.commit(
        show,
        {
            library.item(show, 1, 2).id: {"failed_at": library.now, "scraped_times": 20},
            library.item(show, 1, 3).id: {"scraped_at": library.now, "scraped_times": 5},
            library.item(show, 1).id: {"scraped_at": library.now, "scraped_times": 3},
        },
    )
    library.clock.advance(1)
    return show


def retry(library: Library, *ids: int) -> Reset:
    with library.db.write() as tx:
        reset = requests.reset_for_retry(tx, ids, library.now)
    for root in reset.roots:
        library.commit(root, {})
    return reset


def test_a_failed_film_is_indexed_and_due_again(library: Library) -> None:
    film = library.film()
    library.find_releases(film, release("a" * 40))
    library.commit(film, {film: {"failed_at": library.now, "scraped_times": 20, "active_stream": "a" * 40}})
    library.clock.advance(1)
    reset = retry(library, film)
    assert (reset.reset, reset.roots) == ((film,), (film,))
    assert library.state(film) is States.Indexed
    assert library.due() == [film]
    assert library.item(film).revision == 1


def test_a_film_no_service_knew_is_looked_up_again(library: Library) -> None:
    (accepted,) = library.ask(wish())
    film = accepted.item_id
    for _ in range(10):
        library.commit(film, {film: index_missed(library.item(film), library.now, "unknown")})
    assert library.state(film) is States.Failed
    library.clock.advance(1)
    retry(library, film)
    assert library.state(film) is States.Requested
    assert library.due() == [film]


def test_releases_found_before_a_retry_do_not_count_after_it(library: Library) -> None:
    film = library.film()
    library.find_releases(film, release("a" * 40))
    assert library.facts(film).usable_streams == 1
    library.clock.advance(1)
    retry(library, film)
    assert library.facts(film).usable_streams == 0


def test_a_series_starts_its_open_episodes_and_its_packs_afresh(library: Library, show: int) -> None:
    reset = retry(library, show)
    rows = {library.item(show, *place).id for place in ((), (1,), (1, 2), (1, 3))}
    assert set(reset.reset) == rows
    assert library.state(show, 1, 1) is States.Completed
    assert library.state(show, 1, 2) is States.Indexed
    assert library.facts(show, 1).scraped_times == 0


def test_a_completed_episode_starts_afresh_by_its_own_id_and_keeps_its_file(
    library: Library, show: int
) -> None:
    done = library.item(show, 1, 1).id
    retry(library, done)
    assert library.state(show, 1, 1) is States.Indexed
    assert library.facts(show, 1, 1).entry_at is not None


def test_a_paused_row_is_left_alone_and_named(library: Library, show: int) -> None:
    paused = library.item(show, 1, 2).id
    library.commit(show, {paused: {"paused_at": library.now}})
    reset = retry(library, show)
    assert reset.paused == (paused,)
    assert paused not in reset.reset


def test_an_episode_of_a_paused_season_is_reset_but_waits_and_the_season_is_named(
    library: Library, show: int
) -> None:
    season_id, failed = library.item(show, 1).id, library.item(show, 1, 2).id
    library.commit(show, {season_id: {"paused_at": library.now}})
    reset = retry(library, failed)
    assert dict(reset.waiting) == {failed: season_id}
    assert library.facts(show, 1, 2).failed_at is None
    assert failed not in library.due()


def test_ids_that_do_not_exist_are_passed_over(library: Library) -> None:
    assert retry(library, 4_711) == Reset((), (), (), {})
