"""What the library adds up to, on each database."""

from __future__ import annotations

from datetime import timedelta

from program.db import tallies
from program.media.item import Ids
from tests.db.library import NOW, Library, release


def test_files_are_added_up_by_version_and_counted_by_the_span_they_came_in(library: Library) -> None:
    first, second = library.film(), library.film(Ids(tmdb="10378"), "Big Buck Bunny")
    library.complete(first, first, size=3_000_000_000)
    library.clock.advance(timedelta(days=9).total_seconds())
    library.complete(second, second, size=4_000_000_000, infohash="b" * 40)
    library.add_file(second, name="not there yet.mkv", infohash="c" * 40)
    edges = [NOW + timedelta(days=day) for day in (-7, 0, 7, 14, 21)]
    with library.db.read() as tx:
        assert tallies.held(tx) == (tallies.Held("1080p", 2, 7_000_000_000),)
        assert tallies.arrivals(tx, edges) == (0, 1, 1, 0)
        assert tallies.waits(tx) == tallies.Waits(2, timedelta(seconds=9 * 86400 / 2 + 1.5))


def test_refusals_are_counted_by_rule(library: Library) -> None:
    film = library.film()
    refused = [
        release(str(number) * 40, refused=code) for number, code in enumerate(("year", "size", "size"))
    ]
    library.find_releases(film, *refused, release("9" * 40))
    with library.db.read() as tx:
        found = tallies.refusals(tx)
    assert found == tallies.Refusals(4, {"size": 2, "year": 1})
    assert list(found.by_code) == ["size", "year"]
