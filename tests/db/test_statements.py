"""How many SQL statements the hot paths cost: small numbers, whatever the library's size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from program.db import decisions, entries, items, lists, overview, requests, streams
from program.db.engine import Tx
from program.db.items import ItemFilter, Sort
from program.media.item import Ids, MediaType, States
from tests.db.library import (
    FILM,
    NOW,
    PROVIDERS,
    SHOW,
    Library,
    release,
    season,
    show_metadata,
    statements,
    wish,
)

# The first library has one film and one series of two episodes; the second ten times that.
SMALL, LARGE = 1, 10


def fill(library: Library, size: int) -> None:
    show = library.show(season(1, 2 * size), season(2, 2 * size))
    for number in range(1, 2 * size):
        library.complete(show, library.item(show, 1, number).id)
    for number in range(size):
        film = library.film(Ids(tmdb=f"4574{number + 5}"))
        library.find_releases(film, *(release(f"{number:02}{one:038}") for one in range(5 * size)))


READS: dict[str, tuple[int, Callable[[Tx], object]]] = {
    "what is due": (2, lambda tx: items.due(tx, NOW.replace(year=2032))),
    "the portions of a turn": (1, lambda tx: items.portions(tx, range(1, 201), 500)),
    "the titles of a turn": (4, lambda tx: items.trees(tx, range(1, 201), NOW, PROVIDERS)),
    "one title": (4, lambda tx: items.tree(tx, 1, NOW, PROVIDERS)),
    "a page of the list": (2, lambda tx: items.page(tx, ItemFilter())),
    "a page by title": (2, lambda tx: items.page(tx, ItemFilter(search="e", sort=Sort.TITLE_ASC))),
    "the page of a film": (6, lambda tx: items.detail(tx, (MediaType.MOVIE, FILM))),
    "the page of a series": (7, lambda tx: items.detail(tx, (MediaType.SHOW, SHOW))),
    "the numbers": (3, lambda tx: items.stats(tx, 2031)),
    "the calendar": (1, lambda tx: items.calendar(tx, NOW.replace(year=2020), NOW)),
    "how much of each show is there": (1, lambda tx: overview.parts(tx, range(1, 50))),
    "the story of a series": (1, lambda tx: decisions.timeline(tx, 1, with_descendants=True)),
    "candidates": (2, lambda tx: streams.candidates(tx, 1, NOW, PROVIDERS)),
    "all files of the tree": (1, entries.registered),
    "one file": (3, lambda tx: entries.get(tx, 1)),
}


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_reading_costs_the_same_however_large_the_library_is(library: Library, size: int) -> None:
    fill(library, size)
    counted = {}
    for name, (_, read) in READS.items():
        with library.db.read() as tx, statements(library.db) as seen:
            read(tx)
        counted[name] = len(seen)
    assert counted == {name: count for name, (count, _) in READS.items()}


def test_a_list_that_says_nothing_new_costs_one_statement(library: Library) -> None:
    wishes = [
        wish(Ids(tmdb=str(number)), source="overseerr", external_id=str(number)) for number in range(50)
    ]
    library.ask(*wishes, by_person=False)
    with library.db.write() as tx, statements(library.db) as seen:
        requests.accept_many(tx, wishes, library.now, by_person=False)
    assert len(seen) == 1


def test_a_commit_costs_the_same_for_a_long_series(library: Library) -> None:
    show = library.show(season(1, 300))
    episode = library.item(show, 1, 1).id
    with statements(library.db) as seen:
        library.commit(show, {episode: {"failures": 1, "hold_until": library.now}})
    # The lock on PostgreSQL, the facts, four to read the title, one for states and dates.
    assert len(seen) <= 7


def test_indexing_a_long_series_again_costs_the_same(library: Library) -> None:
    show = library.show(season(1, 300))
    with statements(library.db) as seen:
        library.index(show, show_metadata(season(1, 301)))
    assert len(seen) <= 22


PLANS: dict[str, tuple[list[str], Callable[[Tx], object]]] = {
    "what is due": (
        [
            "SEARCH media_item USING COVERING INDEX ix_media_item_reindex",
            "SEARCH media_item USING COVERING INDEX ix_media_item_due",
        ],
        READS["what is due"][1],
    ),
    "the portions of a turn": (
        ["SEARCH media_item USING COVERING INDEX ix_media_item_root_id"],
        READS["the portions of a turn"][1],
    ),
    "how much of each show is there": (
        ["SEARCH media_item USING INDEX ix_media_item_root_id (root_id=?)"],
        READS["how much of each show is there"][1],
    ),
    "a long list": (
        [
            "SEARCH media_item USING COVERING INDEX ix_media_item_counts",
            "SCAN media_item USING COVERING INDEX ix_media_item_by_date",
        ],
        lambda tx: items.page(tx, ItemFilter(types=frozenset({MediaType.MOVIE}))),
    ),
    "a rare state": (
        ["SEARCH media_item USING COVERING INDEX ix_media_item_counts (type=? AND last_state=?"],
        lambda tx: items.page(tx, ItemFilter(states=frozenset({States.Failed}))),
    ),
    "a search": (
        ["SCAN media_item USING COVERING INDEX ix_media_item_by_title"],
        lambda tx: items.page(tx, ItemFilter(search="sintel")),
    ),
    "the numbers": (
        [
            "SCAN media_item USING COVERING INDEX ix_media_item_counts",
            "SEARCH media_item USING COVERING INDEX ix_media_item_by_date (created_at>? AND created_at<?)",
            "SEARCH media_item USING COVERING INDEX ix_media_item_counts (type=?)",
        ],
        READS["the numbers"][1],
    ),
    "the calendar": (["SEARCH media_item USING INDEX ix_media_item_calendar"], READS["the calendar"][1]),
}


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", PLANS)
def test_a_hundred_thousand_rows_are_read_through_an_index(
    library: Library, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "FEW", 0)
    fill(library, SMALL)
    expected, read = PLANS[name]
    with library.db.read() as tx, statements(library.db) as seen:
        read(tx)
        asked = tuple(seen)
        plans = [plan for statement in asked for plan in explained(tx, statement)]
    missing = [step for step in expected if not any(plan.startswith(step) for plan in plans)]
    assert missing == [], plans


def explained(tx: Tx, statement: str) -> list[str]:
    rows = tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", ("",) * statement.count("?"))
    return [str(row[-1]) for row in rows]
