"""The story of an item: what is read, what is kept, what is forgotten. And what media servers were asked."""

from __future__ import annotations

from datetime import datetime, timedelta

from program.db import confirmations, decisions
from program.db.status import ProviderStatusStore
from program.db.views import Decision
from program.media.item import Confirmation
from tests.db.library import NOW, Library, season

DAY = timedelta(days=1)


def write(library: Library, item_id: int, *steps: str, at: datetime = NOW) -> None:
    with library.db.write() as tx:
        decisions.write(tx, [Decision(item_id, step, "done", f"{step} is done") for step in steps], at)


def prune(library: Library) -> int:
    with library.db.write() as tx:
        return decisions.prune(tx, library.now)


def steps(library: Library, item_id: int) -> list[str]:
    return [made.step for made in library.timeline(item_id)]


class TestTimeline:
    def test_it_is_told_from_the_oldest_to_the_newest(self, library: Library) -> None:
        film = library.film()
        write(library, film, "index", "scrape", "download")
        assert steps(library, film) == ["index", "scrape", "download"]

    def test_with_a_limit_the_last_ones_are_told(self, library: Library) -> None:
        film = library.film()
        write(library, film, "index", "scrape", "download")
        with library.db.read() as tx:
            assert [made.step for made in decisions.timeline(tx, film, 2)] == ["scrape", "download"]

    def test_a_series_can_tell_what_happened_beneath_it(self, library: Library) -> None:
        show = library.show(season(1, 1))
        write(library, show, "index")
        write(library, library.item(show, 1).id, "scrape")
        write(library, library.item(show, 1, 1).id, "download")
        with library.db.read() as tx:
            told = decisions.timeline(tx, show, with_descendants=True)
            of_season = decisions.timeline(tx, library.item(show, 1).id, with_descendants=True)
        assert [made.step for made in told] == ["index", "scrape", "download"]
        assert [made.step for made in of_season] == ["scrape", "download"]
        assert steps(library, show) == ["index"]


class TestForgetting:
    def test_the_last_200_of_an_item_are_kept(self, library: Library) -> None:
        film = library.film()
        write(library, film, *["scrape"] * 250)
        assert prune(library) == 50
        assert len(steps(library, film)) == 200
        assert prune(library) == 0

    def test_what_is_older_than_180_days_goes(self, library: Library) -> None:
        film = library.film()
        write(library, film, "scrape", at=NOW - 181 * DAY)
        write(library, film, "scrape", at=NOW - 179 * DAY)
        assert prune(library) == 1
        assert [made.at for made in library.timeline(film)] == [NOW - 179 * DAY]

    def test_the_newest_of_a_step_stays_however_old_and_however_many_came_after(
        self, library: Library
    ) -> None:
        film = library.film()
        write(library, film, "index", at=NOW - 900 * DAY)
        write(library, film, "index", at=NOW - 800 * DAY)
        write(library, film, *["scrape"] * 250)
        prune(library)
        with library.db.read() as tx:
            told = decisions.timeline(tx, film, 300)
        assert [made.at for made in told if made.step == "index"] == [NOW - 800 * DAY]

    def test_other_items_are_left_alone(self, library: Library) -> None:
        film, show = library.film(), library.show(season(1, 1))
        write(library, film, *["scrape"] * 201)
        write(library, show, "index", "scrape", "scrape")
        assert prune(library) == 1
        assert len(steps(library, show)) == 3


class TestConfirmations:
    def asked(self, library: Library, film: int, *, scanned: bool = False) -> None:
        with library.db.write() as tx:
            confirmations.asked(tx, film, "plex", library.now, scanned=scanned)

    def known(self, library: Library, film: int) -> Confirmation:
        (known,) = library.facts(film).confirmations
        return known

    def test_questions_scans_and_the_answer_are_kept(self, library: Library) -> None:
        film = library.film()
        self.asked(library, film, scanned=True)
        first = library.now
        library.clock.advance(3)
        self.asked(library, film)
        with library.db.write() as tx:
            confirmations.confirmed(tx, film, "plex", library.now)
        assert self.known(library, film) == Confirmation("plex", 2, library.now, first, library.now)

    def test_the_count_begins_anew_with_a_new_file(self, library: Library) -> None:
        film = library.film()
        self.asked(library, film)
        self.asked(library, film)
        library.clock.advance(60)
        library.commit(film, {film: {"registered_at": library.now}})
        self.asked(library, film)
        assert self.known(library, film).asked_times == 1
        self.asked(library, film)
        assert self.known(library, film).asked_times == 2

    def test_the_count_begins_anew_with_a_retry(self, library: Library) -> None:
        film = library.film()
        self.asked(library, film)
        library.clock.advance(60)
        library.commit(film, {film: {"restarted_at": library.now}})
        library.clock.advance(1)
        self.asked(library, film)
        assert self.known(library, film).asked_times == 1

    def test_a_server_may_list_a_title_it_was_never_asked_for(self, library: Library) -> None:
        film = library.film()
        with library.db.write() as tx:
            confirmations.confirmed(tx, film, "jellyfin", library.now)
        assert self.known(library, film) == Confirmation("jellyfin", 0, None, None, library.now)


class TestProviderStatus:
    def test_a_pause_outlives_a_restart(self, library: Library) -> None:
        ProviderStatusStore(library.db).save("tmdb", NOW, 3, "429")
        library.db.close()
        library.db.open()
        store = ProviderStatusStore(library.db)
        assert store.load("tmdb") == (NOW, 3)
        store.save("tmdb", None, 0, "")
        assert store.load("tmdb") == (None, 0)

    def test_a_source_never_heard_of_is_not_paused(self, library: Library) -> None:
        assert ProviderStatusStore(library.db).load("nobody") == (None, 0)
