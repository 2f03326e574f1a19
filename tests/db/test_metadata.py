"""Storing metadata: new seasons and episodes, numbers that move, episodes that vanish, two rows that are one title."""

from __future__ import annotations

import pytest

from program.db import items
from program.errors import Cancelled
from program.media.item import Contradiction, Ids, MediaType, ReleaseKind, ShowStatus, States, Title
from tests.db.library import (
    LONG_AGO,
    SHOW,
    Library,
    episode,
    film_metadata,
    season,
    show_metadata,
    show_wish,
    wish,
)


def titles(library: Library, show: int, number: int) -> dict[int | None, str]:
    node = next(child for child in library.tree(show).children if child.item.number == number)
    return {leaf.item.number: leaf.item.title for leaf in node.children}


def test_everything_the_service_says_of_a_film_is_kept(library: Library) -> None:
    (accepted,) = library.ask(wish())
    said = film_metadata(
        ids=Ids(imdb="tt1727587", tmdb="45745"),
        original_title="Sintel",
        aliases=(Title("Durian", "nl", "nl"), Title("辛特尔", "cn")),
        releases={ReleaseKind.DIGITAL: LONG_AGO, ReleaseKind.PREMIERE: LONG_AGO},
        country="nl",
        language="en",
        genres=("Animation", "Fantasy"),
        runtime=15,
        poster="https://image/sintel.jpg",
    )
    library.index(accepted.item_id, said)
    item = library.item(accepted.item_id)
    kept = {
        name: getattr(item, name) for name in ("ids", "aliases", "releases", "genres", "runtime", "poster")
    }
    assert kept == {name: getattr(said, name) for name in kept}
    assert (item.country, item.language, item.original_title) == ("nl", "en", "Sintel")
    assert item.last_state is States.Indexed
    assert library.wrong() == ()


def test_a_series_gets_its_seasons_and_episodes(library: Library) -> None:
    (accepted,) = library.ask(show_wish())
    show = accepted.item_id
    stored = library.index(
        show,
        show_metadata(
            season(0, 1), season(1, 2), is_anime=True, show_status=ShowStatus.ENDED, network="VODO"
        ),
    )
    assert (len(stored.added_seasons), len(stored.added_episodes)) == (2, 3)
    item = library.item(show)
    assert (item.is_anime, item.show_status, item.network) == (True, ShowStatus.ENDED, "VODO")
    assert [node.item.number for node in library.tree(show).children] == [0, 1]
    assert library.item(show, 1).aired_at == library.item(show, 1, 1).aired_at
    assert library.state(show) is States.Indexed
    assert library.wrong() == ()


def test_the_same_answer_again_adds_nothing(library: Library) -> None:
    answer = (season(1, 3), season(2, 3))
    show = library.show(*answer)
    before = library.tree(show)
    again = library.index(show, show_metadata(*answer))
    assert (again.added_seasons, again.added_episodes) == ((), ())
    assert library.tree(show) == before


def test_new_episodes_are_asked_for_with_their_season_and_new_seasons_with_the_wish(library: Library) -> None:
    show = library.show(season(1, 1), season(2, 1), wanted=(1,))
    library.index(show, show_metadata(season(1, 2), season(2, 2), season(3, 1), season(0, 1)))
    asked = {
        (number, part): library.item(show, number, part).is_requested
        for number, part in ((1, 2), (2, 2), (3, 1), (0, 1))
    }
    assert asked == {(1, 2): True, (2, 2): False, (3, 1): False, (0, 1): False}


def test_a_new_season_of_a_whole_series_is_asked_for_but_never_the_specials(library: Library) -> None:
    show = library.show(season(1, 1))
    library.index(show, show_metadata(season(1, 1), season(2, 1), season(0, 1)))
    assert library.item(show, 2, 1).is_requested
    assert not library.item(show, 0, 1).is_requested


def test_an_episode_keeps_its_row_when_numbers_move(library: Library) -> None:
    first, second = episode(1, "one", title="Earthfall"), episode(2, "two", title="The Man from Mars")
    show = library.show(season(1, [first, second]))
    rows = [library.item(show, 1, 1).id, library.item(show, 1, 2).id]
    moved = season(
        1,
        [
            episode(1, "two", title="The Man from Mars"),
            episode(2, "one", title="Earthfall"),
            episode(3, "new"),
        ],
    )
    library.index(show, show_metadata(moved))
    assert [library.item(show, 1, 2).id, library.item(show, 1, 1).id] == rows
    assert titles(library, show, 1) == {1: "The Man from Mars", 2: "Earthfall", 3: "Part 3"}


def test_an_episode_moves_to_another_season_with_its_file(library: Library) -> None:
    show = library.show(season(0, [episode(1, "x")]), season(1, [episode(1, "y")]))
    row = library.item(show, 1, 1).id
    library.complete(show, row)
    library.index(
        show, show_metadata(season(0, [episode(1, "x"), episode(2, "y")]), season(1, [episode(1, "z")]))
    )
    assert library.item(show, 0, 2).id == row
    assert library.item(show, 0, 2).is_requested
    assert library.item(show, 1, 1).id != row
    assert library.wrong() == ()


def test_an_episode_with_a_new_id_at_the_same_place_is_the_same_row(library: Library) -> None:
    show = library.show(season(1, [episode(1, "old")]))
    row = library.item(show, 1, 1).id
    library.index(show, show_metadata(season(1, [episode(1, "new")])))
    assert library.item(show, 1, 1).id == row


def test_a_vanished_episode_is_removed_unless_it_has_a_file(library: Library) -> None:
    show = library.show(season(1, 3))
    library.complete(show, library.item(show, 1, 2).id)
    library.index(show, show_metadata(season(1, 1)))
    assert titles(library, show, 1) == {1: "Part 1", 2: "Part 2"}
    assert library.wrong() == ()


def test_a_vanished_episode_with_a_file_gives_its_number_to_the_one_that_has_it_now(library: Library) -> None:
    show = library.show(season(1, [episode(1, "one"), episode(2, "two")]))
    library.complete(show, library.item(show, 1, 1).id)
    library.index(show, show_metadata(season(1, [episode(1, "two", title="Now first")])))
    assert titles(library, show, 1) == {None: "Part 1", 1: "Now first"}


def test_a_vanished_season_goes_with_its_episodes(library: Library) -> None:
    show = library.show(season(1, 1), season(2, 2))
    library.index(show, show_metadata(season(1, 1)))
    assert [node.item.number for node in library.tree(show).children] == [1]


def test_a_number_or_an_id_that_comes_twice_counts_once(library: Library) -> None:
    answer = season(1, [episode(1, "a"), episode(1, "b"), episode(2, "a"), episode(3, "c")])
    show = library.show(answer, season(1, [episode(9, "z")]))
    assert titles(library, show, 1) == {1: "Part 1", 3: "Part 3"}


def test_new_metadata_ends_a_contradiction_of_the_metadata(library: Library) -> None:
    film = library.film()
    library.commit(film, {film: {"contradiction": Contradiction("no title", with_metadata=False)}})
    assert library.state(film) is States.Unknown
    library.index(film, film_metadata())
    assert library.facts(film).contradiction is None
    assert library.state(film) is States.Indexed


def test_a_title_that_was_removed_meanwhile_is_called_off(library: Library) -> None:
    film = library.film()
    with library.db.write() as tx:
        items.delete(tx, [film], tombstone=False)
    with pytest.raises(Cancelled):
        library.index(film, film_metadata())


class TestMerging:
    BOTH = Ids(imdb="tt1727587", tmdb="45745")

    def two(self, library: Library) -> tuple[int, int]:
        (older,) = library.ask(wish(Ids(tmdb="45745"), source="overseerr", external_id="1"))
        (younger,) = library.ask(wish(Ids(imdb="tt1727587"), requested_by="ada"))
        return older.item_id, younger.item_id

    def test_the_older_row_stays_and_takes_over_who_asked(self, library: Library) -> None:
        older, younger = self.two(library)
        stored = library.index(younger, film_metadata(self.BOTH))
        assert (stored.root_id, stored.merged_into) == (older, older)
        with library.db.read() as tx:
            assert items.find(tx, MediaType.MOVIE, Ids(imdb="tt1727587")) == older
            assert items.all_roots(tx) == (older,)
            detail = items.detail(tx, older)
        assert detail is not None
        assert [request.source for request in detail.requests] == ["overseerr", "api"]
        assert library.item(older).title == "Sintel"
        assert library.wrong() == ()

    def test_the_story_says_so(self, library: Library) -> None:
        older, younger = self.two(library)
        library.index(younger, film_metadata(self.BOTH))
        (decision,) = library.timeline(older)
        assert (decision.outcome, decision.data) == ("merged", {"removed": younger})
        assert decision.sentence.startswith(f"Item {younger} turned out to be the same title")

    def test_indexing_the_older_row_takes_the_younger_in(self, library: Library) -> None:
        older, _ = self.two(library)
        stored = library.index(older, film_metadata(self.BOTH))
        assert (stored.root_id, stored.merged_into) == (older, None)
        with library.db.read() as tx:
            assert items.all_roots(tx) == (older,)

    def test_a_file_of_the_younger_film_is_kept(self, library: Library) -> None:
        older, younger = self.two(library)
        entry = library.add_file(younger)
        library.index(older, film_metadata(self.BOTH))
        assert library.state(older) is States.Downloaded
        assert library.wrong() == ()
        assert entry

    def test_files_of_a_series_go_to_the_same_episodes_and_the_rest_is_removed(
        self, library: Library
    ) -> None:
        (older,) = library.ask(show_wish(Ids(imdb="tt1"), seasons=(1,)))
        younger = library.show(season(1, 1), season(9, 1))
        kept = library.add_file(library.item(younger, 1, 1).id, name="1.mkv")
        homeless = library.add_file(library.item(younger, 9, 1).id, name="9.mkv")
        stored = library.index(
            older.item_id, show_metadata(season(1, 1), season(2, 1), ids=Ids(imdb="tt1", tvdb=SHOW.tvdb))
        )
        assert stored.removed_entries == (homeless,)
        assert library.state(older.item_id, 1, 1) is States.Downloaded
        assert library.item(older.item_id).wants_future
        assert library.item(older.item_id, 2).is_requested
        assert kept
        assert library.wrong() == ()
