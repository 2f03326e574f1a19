"""What the lists, the item page, the numbers and the calendar are made of."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from program.db import items
from program.db.items import ItemFilter, Sort
from program.db.views import ItemDetail, Page
from program.media.item import Ids, MediaType, States
from tests.db.library import (
    FILM,
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


def page(library: Library, **parts: object) -> Page:
    with library.db.read() as tx:
        return items.page(tx, ItemFilter(**parts))  # type: ignore[arg-type]


def titles(library: Library, **parts: object) -> list[str]:
    return [row.title for row in page(library, **parts).rows]


def detail(library: Library, key: int | tuple[MediaType, Ids]) -> ItemDetail:
    with library.db.read() as tx:
        found = items.detail(tx, key)
    assert found is not None
    return found


class TestList:
    @pytest.fixture(autouse=True)
    def shelf(self, library: Library) -> None:
        for number, title in enumerate(("Sintel", "élan", "Big Buck Bunny", "100% Wool")):
            library.clock.advance(60)
            library.film(Ids(tmdb=str(number + 1)), title)
        library.clock.advance(60)
        library.show(season(1, 1))

    def test_a_row_has_all_that_a_card_prints(self, library: Library) -> None:
        (row,) = page(library, types=frozenset({MediaType.SHOW})).rows
        assert (row.title, row.ids, row.parent_ids, row.last_state) == (
            "Pioneer One",
            SHOW,
            Ids(),
            States.Indexed,
        )
        assert (row.season, row.episode, row.show_title) == (None, None, None)

    def test_an_episode_names_its_show_and_its_numbers(self, library: Library) -> None:
        (row,) = page(library, types=frozenset({MediaType.EPISODE})).rows
        assert (row.show_title, row.parent_ids, row.season, row.episode) == ("Pioneer One", SHOW, 1, 1)
        assert row.aired_at == LONG_AGO + timedelta(days=1)

    @pytest.mark.parametrize(
        ("sort", "first"),
        [
            (Sort.TITLE_ASC, "100% Wool"),
            (Sort.TITLE_DESC, "élan"),
            (Sort.DATE_ASC, "Sintel"),
            (Sort.DATE_DESC, "100% Wool"),
        ],
    )
    def test_it_comes_in_the_order_asked_for(self, library: Library, sort: Sort, first: str) -> None:
        assert titles(library, sort=sort, types=frozenset({MediaType.MOVIE}))[0] == first

    def test_pages_cover_everything_once(self, library: Library) -> None:
        found = [page(library, limit=3, page=number, sort=Sort.TITLE_ASC) for number in (1, 2, 3, 4)]
        rows = [row.id for one in found for row in one.rows]
        assert {one.total for one in found} == {7}
        assert (len(rows), len(set(rows))) == (7, 7)

    @pytest.mark.parametrize(
        ("search", "found"),
        [
            ("buck", ["Big Buck Bunny"]),
            ("ÉLAN", ["élan"]),
            ("100%", ["100% Wool"]),
            ("0_%", []),
            ("170551", ["Pioneer One"]),
            ("  ", ["100% Wool", "Big Buck Bunny", "Pioneer One", "Sintel", "élan"]),
        ],
    )
    def test_it_is_searched_by_title_or_id(self, library: Library, search: str, found: list[str]) -> None:
        roots = frozenset({MediaType.MOVIE, MediaType.SHOW})
        assert sorted(titles(library, search=search, types=roots)) == found

    def test_it_is_filtered_by_state_and_id(self, library: Library) -> None:
        paused = page(library, search="sintel").rows[0].id
        library.commit(paused, {paused: {"paused_at": library.now}})
        assert titles(library, states=frozenset({States.Paused, States.Failed})) == ["Sintel"]
        assert titles(library, ids=(paused,)) == ["Sintel"]
        assert page(library, states=frozenset({States.Failed})) == Page((), 0)

    def test_what_nobody_asked_for_is_shown_only_when_wanted(self, library: Library) -> None:
        library.show(season(0, 1), ids=Ids(tvdb="2"))
        types = frozenset({MediaType.EPISODE})
        assert page(library, types=types).total == 1
        assert page(library, types=types, only_requested=False).total == 2

    def test_anime_is_a_filter_of_its_own(self, library: Library) -> None:
        (accepted,) = library.ask(show_wish(Ids(tvdb="3")))
        library.index(accepted.item_id, show_metadata(ids=Ids(tvdb="3"), title="Anime One", is_anime=True))
        assert titles(library, anime=True) == ["Anime One"]


class TestDetail:
    def test_a_series_shows_its_seasons_episodes_and_files(self, library: Library) -> None:
        show = library.show(season(0, 1), season(1, 2))
        entry = library.complete(show, library.item(show, 1, 2).id)
        found = detail(library, show)
        assert [(one.number, one.is_requested) for one in found.children] == [(0, False), (1, True)]
        first, second = found.children[1].children
        assert (first.last_state, first.files) == (States.Indexed, ())
        (file,) = second.files
        assert (file.entry_id, file.size, file.probed) == (entry, 1_000, None)
        assert [source.provider for source in file.sources] == ["alpha"]
        assert second.last_state is States.Completed

    def test_a_film_is_found_by_its_id_at_the_service(self, library: Library) -> None:
        film = library.film()
        library.add_file(film)
        library.add_file(film, provider="beta", torrent_id="T2")
        found = detail(library, (MediaType.MOVIE, FILM))
        assert (found.item.id, found.item.title) == (film, "Sintel")
        assert [source.provider for source in found.files[0].sources] == ["alpha", "beta"]
        assert (found.show_id, found.children) == (None, ())

    def test_an_episode_knows_its_season_and_its_show(self, library: Library) -> None:
        show = library.show(season(3, 1))
        found = detail(library, library.item(show, 3, 1).id)
        assert (found.show_id, found.show_title, found.show_ids, found.season) == (
            show,
            "Pioneer One",
            SHOW,
            3,
        )
        assert [request.source for request in found.requests] == ["api"]

    def test_a_season_shows_its_episodes(self, library: Library) -> None:
        show = library.show(season(3, 2))
        found = detail(library, library.item(show, 3).id)
        assert [child.number for child in found.children] == [1, 2]
        assert found.season is None

    def test_an_unknown_id_is_none(self, library: Library) -> None:
        with library.db.read() as tx:
            assert items.detail(tx, 4_711) is None
            assert items.detail(tx, (MediaType.SHOW, SHOW)) is None
            assert items.detail(tx, (MediaType.SHOW, Ids())) is None


class TestStats:
    def test_an_empty_library_has_every_number(self, library: Library) -> None:
        with library.db.read() as tx:
            stats = items.stats(tx, 2031)
        assert (stats.total, stats.incomplete, stats.activity, stats.years) == (0, 0, {}, ())
        assert set(stats.states) == set(States)
        assert set(stats.by_type) == set(MediaType)

    def test_what_is_asked_for_is_counted(self, library: Library) -> None:
        film = library.film()
        library.complete(film, film)
        library.clock.advance(timedelta(days=1))
        library.show(season(0, 1), season(1, 2))
        library.ask(wish(Ids(tmdb="9")))
        with library.db.read() as tx:
            stats = items.stats(tx, 2031)
            last_year = items.stats(tx, 2030)
        assert stats.by_type == {
            MediaType.MOVIE: 2,
            MediaType.SHOW: 1,
            MediaType.SEASON: 1,
            MediaType.EPISODE: 2,
        }
        assert (stats.total, stats.incomplete, stats.states[States.Completed]) == (6, 5, 1)
        assert stats.activity == {date(2031, 5, 1): 1, date(2031, 5, 2): 2}
        assert stats.years == ((2010, 1), (None, 2))
        assert last_year.activity == {}


def test_the_calendar_has_films_and_episodes_of_a_time(library: Library) -> None:
    soon = datetime(2031, 6, 3, 20, tzinfo=UTC)
    show = library.show(
        season(1, [episode(1), episode(2, aired_at=soon)]), season(0, [episode(1, "sp", aired_at=soon)])
    )
    (film,) = library.ask(wish())
    library.index(
        film.item_id, film_metadata(releases={next(iter(film_metadata().releases)): soon + timedelta(days=1)})
    )
    with library.db.read() as tx:
        rows = items.calendar(tx, datetime(2031, 6, 1, tzinfo=UTC), datetime(2031, 7, 1, tzinfo=UTC))
        assert (
            items.calendar(tx, datetime(2031, 6, 1, tzinfo=UTC), soon + timedelta(days=9), limit=1)
            == rows[:1]
        )
    assert [(row.show_title, row.season, row.episode, row.ids) for row in rows] == [
        ("Pioneer One", 1, 2, SHOW),
        ("Sintel", None, None, FILM),
    ]
    assert rows[0].item_id == library.item(show, 1, 2).id
    assert rows[0].last_state is States.Unreleased
