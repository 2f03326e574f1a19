"""Releases found for an item: their order, who refused them, which of them can be used."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.db import streams
from program.media.release import Block, Candidate
from tests.db.library import PROVIDERS, Library, release

A, B, C = ("a" * 40, "b" * 40, "c" * 40)


@pytest.fixture
def film(library: Library) -> int:
    return library.film()


def candidates(library: Library, item: int, *, usable_only: bool = False) -> tuple[Candidate, ...]:
    with library.db.read() as tx:
        return streams.candidates(tx, item, library.now, PROVIDERS, usable_only=usable_only)


def hashes(library: Library, item: int, *, usable_only: bool = False) -> list[str]:
    return [one.release.infohash for one in candidates(library, item, usable_only=usable_only)]


def block(library: Library, item: int, infohash: str, provider: str, *, hours: int | None = None) -> None:
    until = None if hours is None else library.now + timedelta(hours=hours)
    refusal = Block(provider=provider, code="not_cached", sentence="it is not cached", until=until)
    with library.db.write() as tx:
        streams.block(tx, item, infohash, refusal, library.now)


def test_a_release_comes_back_as_it_was_judged(library: Library, film: int) -> None:
    judged = release(
        A,
        size=5_000_000_000,
        seeders=12,
        cached_at=("alpha",),
        parsed={"title": "Sintel", "year": 2010, "languages": ["en"]},
        score={"resolution": 90, "audio": 10},
        similarity=0.97,
    )
    library.find_releases(film, judged)
    (stored,) = candidates(library, film)
    assert stored.release == judged
    assert (stored.found_at, stored.blocks, stored.blacklisted) == (library.now, (), None)


def test_the_best_comes_first_and_the_refused_last(library: Library, film: int) -> None:
    library.find_releases(
        film,
        release(A, 10, resolution="720p"),
        release(B, 10, resolution="2160p"),
        release(C, 99, refused="cam"),
        release("d" * 40, 500),
    )
    assert hashes(library, film) == ["d" * 40, B, A, C]
    refused = candidates(library, film)[-1].release.rejection
    assert refused is not None
    assert (refused.code, refused.sentence, refused.permanent) == ("cam", "it is cam", True)


def test_storing_says_what_is_new_and_what_is_usable(library: Library, film: int) -> None:
    with library.db.write() as tx:
        first = streams.store(tx, film, [release(A), release(B, refused="cam")], library.now)
        again = streams.store(tx, film, [release(A), release(A), release(C)], library.now)
        nothing = streams.store(tx, film, [], library.now)
    assert [(one.new, one.usable) for one in (first, again, nothing)] == [(2, 1), (1, 2), (0, 0)]


def test_a_release_found_again_gets_the_verdict_of_now_and_a_new_date(library: Library, film: int) -> None:
    library.find_releases(film, release(A, 10, seeders=1))
    library.clock.advance(60)
    library.find_releases(film, release(A, 70, seeders=9))
    (stored,) = candidates(library, film)
    assert (stored.release.rank, stored.release.seeders, stored.found_at) == (70, 9, library.now)


class TestUsable:
    def test_what_passes_the_rules_is(self, library: Library, film: int) -> None:
        library.find_releases(film, release(A), release(B, refused="cam"))
        assert hashes(library, film, usable_only=True) == [A]
        assert library.facts(film).usable_streams == 1

    def test_one_providers_refusal_leaves_the_other(self, library: Library, film: int) -> None:
        library.find_releases(film, release(A))
        block(library, film, A, "alpha")
        assert hashes(library, film, usable_only=True) == [A]
        block(library, film, A, "beta")
        assert hashes(library, film, usable_only=True) == []
        assert library.facts(film).usable_streams == 0

    def test_a_refusal_ends_when_its_time_is_over(self, library: Library, film: int) -> None:
        library.find_releases(film, release(A))
        block(library, film, A, "alpha", hours=24)
        block(library, film, A, "beta")
        assert library.facts(film).usable_streams == 0
        library.clock.advance(timedelta(hours=25))
        (stored,) = candidates(library, film, usable_only=True)
        assert [one.provider for one in stored.blocks] == ["beta"]

    def test_the_newest_refusal_of_a_provider_counts(self, library: Library, film: int) -> None:
        library.find_releases(film, release(A))
        block(library, film, A, "alpha")
        block(library, film, A, "alpha", hours=1)
        (stored,) = candidates(library, film)
        assert [one.until for one in stored.blocks] == [library.now + timedelta(hours=1)]

    def test_refusals_of_a_provider_that_is_not_enabled_do_not_count(
        self, library: Library, film: int
    ) -> None:
        library.find_releases(film, release(A))
        block(library, film, A, "alpha")
        block(library, film, A, "gamma")
        assert library.facts(film).usable_streams == 1

    def test_refusals_can_be_forgotten(self, library: Library, film: int) -> None:
        library.find_releases(film, release(A))
        for provider in PROVIDERS:
            block(library, film, A, provider)
        with library.db.write() as tx:
            streams.unblock(tx, [film])
        assert library.facts(film).usable_streams == 1

    def test_what_a_person_ruled_out_is_not_even_when_it_is_found_again(
        self, library: Library, film: int
    ) -> None:
        library.find_releases(film, release(A), release(B))
        library.commit(film, {film: {"active_stream": A}})
        with library.db.write(film) as tx:
            assert streams.blacklist(tx, film, A, "wrong film")
        library.find_releases(film, release(A))
        assert library.facts(film).active_stream is None
        assert hashes(library, film, usable_only=True) == [B]
        assert candidates(library, film)[0].blacklisted == "wrong film"

    def test_it_can_be_allowed_again(self, library: Library, film: int) -> None:
        library.find_releases(film, release(A))
        with library.db.write(film) as tx:
            streams.blacklist(tx, film, A, "wrong film")
            assert streams.unblacklist(tx, film, A)
            assert not streams.unblacklist(tx, film, B)
        assert library.facts(film).usable_streams == 1
