"""A file takes the place of another: at once in the tree, without a moment in which the title has none."""

from __future__ import annotations

from program.db import entries, replacements
from program.db.entries import NewEntry
from program.db.replacements import Replaced
from program.media.item import States
from tests.db.library import Library, season


def better(*item_ids: int, name: str = "better.mkv", path: str = "/movies/film.mkv") -> NewEntry:
    return NewEntry(
        infohash="b" * 40,
        path_in_torrent=name,
        original_name=name,
        size=2_000,
        path=path,
        version="2160p",
        item_ids=item_ids,
        provider="alpha",
        torrent_id="T2",
        file_id="1",
    )


def replace(library: Library, new: NewEntry, *read: int) -> Replaced:
    library.clock.advance(60)
    with library.db.write() as tx:
        return replacements.replace(tx, new, library.now, lambda entry_id: entry_id in read)


def in_tree(library: Library) -> list[int]:
    with library.db.read() as tx:
        return [entry.id for entry in entries.registered(tx)]


def test_a_replaced_file_goes_in_the_same_instant_and_the_title_stays_completed(library: Library) -> None:
    film = library.film()
    old = library.complete(film, film)
    done = replace(library, better(film))
    assert done.hidden == (old,)
    assert in_tree(library) == [done.entry_id]
    library.commit(film, {})
    assert library.state(film) is States.Completed


def test_a_file_that_is_read_is_kept_out_of_the_tree_until_it_is_closed(library: Library) -> None:
    film = library.film()
    old = library.complete(film, film)
    done = replace(library, better(film), old)
    assert done.hidden == (old,)
    assert in_tree(library) == [done.entry_id]
    with library.db.write() as tx:
        assert entries.get(tx, old) is not None
        assert replacements.give_up(tx, replacements.replaced(tx)) == (old,)
        assert entries.get(tx, old) is None


def test_a_file_of_two_episodes_stays_for_the_one_that_has_no_other(library: Library) -> None:
    show = library.show(season(1, 2))
    first, second = (library.item(show, 1, number).id for number in (1, 2))
    double = library.add_file(first, second, name="double.mkv")
    done = replace(library, better(first))
    assert done.hidden == ()
    with library.db.read() as tx:
        left = entries.get(tx, double)
    assert left is not None
    assert left.item_ids == (second,)


def test_the_same_file_again_replaces_nothing(library: Library) -> None:
    film = library.film()
    old = library.complete(film, film)
    done = replace(library, better(film))
    assert done.entry_id != old
    assert replace(library, better(film)) == Replaced(done.entry_id, ())
    assert in_tree(library) == [done.entry_id]
