"""Each rule of the consistency check finds what breaks it; and throwing everything away leaves nothing."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, update

from program.db import check, items, wipe
from program.db.tables import EntryItem, MediaEntry, MediaItem, Source
from program.housekeeping import clear_previous
from program.media.item import Ids, MediaType, States
from program.media.outcomes import index_delayed, job_failed
from program.settings.models import StartupSettings
from tests.db.library import Library, release, season, wish

OTHER = Ids(tmdb="99")


def wrong_by_itself(library: Library) -> tuple[str, ...]:
    """Return what is wrong by the rules that need no time."""
    with library.db.read() as tx:
        return check.inconsistencies(tx)


def put(library: Library, *statements: object) -> None:
    with library.db.write() as tx:
        for statement in statements:
            tx.connection.execute(statement)  # type: ignore[call-overload]


def of(item_id: int, **values: object) -> object:
    return update(MediaItem).where(MediaItem.id == item_id).values(**values)


@pytest.fixture
def film(library: Library) -> int:
    film = library.film()
    library.complete(film, film, path=f"/movies/{film}.mkv")
    return film


def test_a_library_in_order_has_nothing_to_report(library: Library, film: int) -> None:
    show = library.show(season(0, 1), season(1, 2))
    library.complete(show, library.item(show, 1, 1).id)
    library.ask(wish(OTHER))
    assert library.wrong() == ()


def test_a_row_that_stands_in_the_wrong_place(library: Library, film: int) -> None:
    show = library.show(season(1, 1))
    part = library.item(show, 1, 1).id
    put(library, of(part, parent_id=show, number=9), of(library.item(show, 1).id, type=MediaType.EPISODE))
    assert f"item {part} (episode) does not stand where such an item belongs" in wrong_by_itself(library)


def test_a_title_without_its_own_id_as_root(library: Library, film: int) -> None:
    put(library, of(film, root_id=None))
    assert wrong_by_itself(library) == (f"item {film} (movie) does not stand where such an item belongs",)


def test_a_file_without_a_source(library: Library, film: int) -> None:
    put(library, delete(Source))
    assert wrong_by_itself(library) == (f"item {film}: its file 1 has no source",)


def test_a_file_without_an_item(library: Library, film: int) -> None:
    put(library, delete(EntryItem))
    assert wrong_by_itself(library) == (
        "file 1 belongs to no film or episode",
        f"item {film} is Completed without a file that says so",
    )


def test_two_files_at_one_path(library: Library, film: int) -> None:
    second = library.add_file(film, name="second.mkv")
    put(
        library,
        update(MediaEntry)
        .where(MediaEntry.id == second)
        .values(path=f"/movies/{film}.mkv", registered_at=library.now),
    )
    assert wrong_by_itself(library) == (f"2 files stand at /movies/{film}.mkv",)


def test_a_chosen_release_nobody_found(library: Library, film: int) -> None:
    put(library, of(film, active_stream="f" * 40))
    assert wrong_by_itself(library) == (f"item {film}: the release chosen for it is not among those found",)


def test_a_pack_found_for_the_season_may_be_chosen_for_an_episode(library: Library) -> None:
    show = library.show(season(1, 1))
    library.find_releases(library.item(show, 1).id, release("a" * 40))
    library.commit(show, {library.item(show, 1, 1).id: {"active_stream": "a" * 40}})
    assert library.wrong() == ()


def test_a_completed_film_whose_file_is_not_in_the_tree(library: Library, film: int) -> None:
    put(library, update(MediaEntry).values(registered_at=None))
    assert wrong_by_itself(library) == (f"item {film} is Completed without a file that says so",)


def test_a_state_that_does_not_follow_from_the_facts(library: Library, film: int) -> None:
    put(library, of(film, last_state=States.Indexed))
    assert f"item {film} is written as Indexed, its facts say Completed" in library.wrong()


def test_a_state_that_the_next_turn_will_mend_is_in_order(library: Library, film: int) -> None:
    put(library, of(film, last_state=States.Indexed, next_attempt_at=library.now))
    assert library.wrong() == ()


def test_a_title_that_nothing_will_look_at_again(library: Library) -> None:
    film = library.film()
    put(library, of(film, next_attempt_at=None, reindex_at=None))
    assert library.wrong() == (f"item {film} is Indexed and nothing will look at it again",)


class TestWiping:
    def test_a_start_empties_the_library_only_when_the_settings_say_so(
        self, library: Library, film: int
    ) -> None:
        clear_previous(library.db, StartupSettings())
        assert library.state(film) is States.Completed
        clear_previous(library.db, StartupSettings(unsafe_wipe_database_on_startup=True))
        with library.db.read() as tx:
            assert items.all_roots(tx) == ()

    def test_a_start_forgets_postponed_attempts_only_when_the_settings_say_so(self, library: Library) -> None:
        film = library.film()
        library.commit(film, {film: job_failed(library.item(film), library.now, "down")})
        clear_previous(library.db, StartupSettings())
        assert library.due() == []
        clear_previous(library.db, StartupSettings(unsafe_wipe_queue_on_startup=True))
        assert library.due() == [film]

    def test_the_whole_library_goes(self, library: Library, film: int) -> None:
        show = library.show(season(1, 2))
        library.find_releases(show, release("a" * 40))
        with library.db.write() as tx:
            wipe.everything(tx)
        with library.db.read() as tx:
            assert items.all_roots(tx) == ()
        assert library.wrong() == ()

    def test_postponed_attempts_are_due_at_once(self, library: Library) -> None:
        film = library.film()
        (unknown,) = library.ask(wish(OTHER))
        library.commit(film, {film: job_failed(library.item(film), library.now, "down")})
        library.commit(
            unknown.item_id, {unknown.item_id: index_delayed(library.now.replace(year=2032), "busy")}
        )
        assert library.due() == []
        with library.db.write() as tx:
            wipe.postponements(tx)
        assert set(library.due()) == {film, unknown.item_id}
        assert library.facts(film).failures == 0
