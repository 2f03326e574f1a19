"""Removing: whole titles, and parts of a title that stays."""

from __future__ import annotations

from program.db import entries, items, torrents
from program.db.views import Deleted, TorrentOnAccount
from program.media.item import MediaType, States
from tests.db.library import FILM, SHOW, Library, release, season, show_metadata, show_wish


def remove(library: Library, *ids: int) -> Deleted:
    with library.db.write() as tx:
        return items.delete(tx, ids, tombstone=True)


def test_a_film_goes_with_its_file_and_everything_about_it(library: Library) -> None:
    film = library.film()
    library.find_releases(film, release("b" * 40))
    entry = library.complete(film, film)
    gone = remove(library, film)
    assert (gone.items, gone.roots, gone.entries) == ((film,), (), (entry,))
    assert gone.torrents == (TorrentOnAccount("alpha", "a" * 40, "T1"),)
    with library.db.read() as tx:
        assert items.root_of(tx, [film]) == {}
        assert not [*entries.registered(tx)]
    assert library.wrong() == ()


def test_a_removed_id_is_never_given_again(library: Library) -> None:
    film = library.film()
    remove(library, film)
    assert library.film() > film


def test_a_series_goes_with_its_seasons_and_episodes(library: Library) -> None:
    show = library.show(season(1, 2))
    everything = {node.item.id for node in library.tree(show).walk()}
    assert set(remove(library, show).items) == everything
    assert library.wrong() == ()


def test_a_file_of_two_episodes_stays_while_one_of_them_is_there(library: Library) -> None:
    show = library.show(season(1, 2))
    first, second = (library.item(show, 1, number).id for number in (1, 2))
    entry = library.add_file(first, second)
    assert remove(library, first).entries == ()
    assert remove(library, second).entries == (entry,)


def test_a_torrent_that_another_title_uses_is_not_named(library: Library) -> None:
    film = library.film()
    show = library.show(season(1, 1))
    library.add_file(film, name="a.mkv")
    library.add_file(library.item(show, 1, 1).id, name="b.mkv")
    assert remove(library, film).torrents == ()


class TestPartOfAShow:
    def test_a_removed_season_stays_known_is_emptied_and_not_asked_for(self, library: Library) -> None:
        show = library.show(season(1, 1), season(2, 1))
        library.complete(show, library.item(show, 1, 1).id)
        gone = remove(library, library.item(show, 1).id)
        assert gone.roots == (show,)
        library.commit(show, {})
        assert not library.item(show, 1, 1).is_requested
        assert library.facts(show, 1, 1).registered_at is None
        assert library.state(show) is States.Indexed
        assert library.wrong() == ()

    def test_the_next_index_does_not_bring_it_back(self, library: Library) -> None:
        show = library.show(season(1, 1), season(2, 1))
        remove(library, library.item(show, 2).id)
        library.index(show, show_metadata(season(1, 1), season(2, 2)))
        assert not library.item(show, 2, 2).is_requested

    def test_the_list_that_asked_for_it_does_not_bring_it_back(self, library: Library) -> None:
        listed = show_wish(source="overseerr", external_id="1", seasons=(1, 2))
        (accepted,) = library.ask(listed, by_person=False)
        show = accepted.item_id
        library.index(show, show_metadata(season(1, 1), season(2, 1)))
        remove(library, library.item(show, 2).id)
        assert library.item(show).wanted_seasons == (1,)
        (again,) = library.ask(listed, by_person=False)
        assert again.outcome == "known"
        assert not library.item(show, 2).is_requested

    def test_a_person_who_asks_for_it_does(self, library: Library) -> None:
        show = library.show(season(1, 1), season(2, 1))
        remove(library, library.item(show, 2).id)
        library.ask(show_wish(SHOW, seasons=(2,)))
        assert library.item(show, 2, 1).is_requested

    def test_the_title_is_looked_at_again_although_nothing_was_committed(self, library: Library) -> None:
        show = library.show(season(1, 1))
        library.complete(show, library.item(show, 1, 1).id)
        assert library.due() == []
        remove(library, library.item(show, 1, 1).id)
        assert library.due() == [show]


def test_a_torrent_of_a_removed_item_is_still_known_as_half_made(library: Library) -> None:
    film = library.film()
    with library.db.write() as tx:
        torrents.intend(tx, "alpha", "a" * 40, film, library.now)
    remove(library, film)
    with library.db.read() as tx:
        (left,) = torrents.half_made(tx)
        assert items.find(tx, MediaType.MOVIE, FILM) is None
    assert (left.infohash, left.item_id) == ("a" * 40, None)
