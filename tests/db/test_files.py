"""Files: one row per file of a torrent, its items, its sources, its place in the tree; torrents on accounts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.db import entries, items, sources, torrents
from program.media.entry import Entry
from program.media.item import States
from tests.db.library import Library, season


@pytest.fixture
def film(library: Library) -> int:
    return library.film()


def get(library: Library, entry_id: int) -> Entry:
    with library.db.read() as tx:
        entry = entries.get(tx, entry_id)
    assert entry is not None
    return entry


def test_a_file_of_an_item_makes_it_downloaded(library: Library, film: int) -> None:
    entry_id = library.add_file(film, link="https://real/d/1")
    entry = get(library, entry_id)
    assert (entry.item_ids, entry.path, entry.size, entry.registered_at) == (
        (film,),
        "/movies/film.mkv",
        1_000,
        None,
    )
    (source,) = entry.sources
    assert (source.provider, source.torrent_id, source.link, source.url) == (
        "alpha",
        "T1",
        "https://real/d/1",
        None,
    )
    library.commit(film, {})
    assert library.state(film) is States.Downloaded


def test_the_same_file_again_joins_the_first(library: Library) -> None:
    show = library.show(season(1, 2))
    first, second = (library.item(show, 1, number).id for number in (1, 2))
    entry_id = library.add_file(first, path="/shows/a.mkv")
    library.clock.advance(1)
    again = library.add_file(first, second, path="/shows/b.mkv", provider="beta", torrent_id="T9")
    entry = get(library, entry_id)
    assert again == entry_id
    assert (entry.item_ids, entry.path) == ((first, second), "/shows/a.mkv")
    assert [source.provider for source in entry.sources] == ["alpha", "beta"]
    assert library.facts(show, 1, 1).entry_at == library.now


def test_the_same_provider_again_replaces_its_source(library: Library, film: int) -> None:
    entry_id = library.add_file(film)
    library.add_file(film, torrent_id="T2", link="https://real/d/2")
    (source,) = get(library, entry_id).sources
    assert (source.torrent_id, source.link) == ("T2", "https://real/d/2")


def test_the_file_chosen_last_comes_first(library: Library, film: int) -> None:
    old = library.add_file(film, name="old.mkv")
    library.clock.advance(1)
    new = library.add_file(film, name="new.mkv")
    with library.db.read() as tx:
        assert [entry.id for entry in entries.for_items(tx, [film])] == [new, old]
        assert [entry.id for entry in entries.unregistered_for(tx, film)] == [new, old]


def test_only_registered_files_stand_in_the_tree_and_keep_their_first_date(
    library: Library, film: int
) -> None:
    entry_id = library.add_file(film)
    library.add_file(film, name="other.mkv")
    first = library.now
    for _ in range(2):
        with library.db.write() as tx:
            entries.register(tx, [entry_id], library.now)
        library.clock.advance(60)
    with library.db.read() as tx:
        (entry,) = entries.registered(tx)
        assert [left.original_name for left in entries.unregistered_for(tx, film)] == ["other.mkv"]
    assert (entry.id, entry.path, entry.registered_at) == (entry_id, "/movies/film.mkv", first)


def test_a_removed_file_leaves_its_item(library: Library, film: int) -> None:
    entry_id = library.add_file(film)
    with library.db.write() as tx:
        entries.remove(tx, [entry_id])
        assert entries.get(tx, entry_id) is None
        assert not entries.uses_torrent(tx, "alpha", "T1")
    assert library.facts(film).entry_at is None


def test_what_the_analysis_found_is_kept(library: Library, film: int) -> None:
    entry_id = library.add_file(film)
    with library.db.write() as tx:
        entries.set_probed(tx, entry_id, {"video": {"codec": "h264"}})
    with library.db.read() as tx:
        assert entries.uses_torrent(tx, "alpha", "T1")
        detail = items.detail(tx, film)
    assert detail is not None
    assert detail.files[0].probed == {"video": {"codec": "h264"}}


class TestSources:
    def source(self, library: Library, film: int) -> int:
        return get(library, library.add_file(film)).sources[0].id

    def fail(self, library: Library, source: int) -> int:
        with library.db.write() as tx:
            return sources.fail_source(tx, source, "gone", "404", library.now)

    def test_an_address_is_kept_with_its_end(self, library: Library, film: int) -> None:
        source = self.source(library, film)
        end = library.now + timedelta(hours=4)
        with library.db.write() as tx:
            sources.set_url(tx, source, "https://cdn/x", end)
        (kept,) = get(library, 1).sources
        assert (kept.url, kept.url_expires_at) == ("https://cdn/x", end)

    def test_many_readers_at_one_dead_link_are_one_failure(self, library: Library, film: int) -> None:
        source = self.source(library, film)
        assert [self.fail(library, source) for _ in range(3)] == [1, 1, 1]
        library.clock.advance(61)
        assert self.fail(library, source) == 2

    def test_a_failure_forgets_the_address_and_a_new_one_forgets_the_failures(
        self, library: Library, film: int
    ) -> None:
        source = self.source(library, film)
        with library.db.write() as tx:
            sources.set_url(tx, source, "https://cdn/x", None)
        self.fail(library, source)
        assert get(library, 1).sources[0].url is None
        with library.db.write() as tx:
            sources.set_url(tx, source, "https://cdn/y", None)
        assert get(library, 1).sources[0].failures == 0

    def test_each_failure_is_told_with_its_time_and_word_until_bytes_come_again(
        self, library: Library, film: int
    ) -> None:
        source = self.source(library, film)
        first = library.now
        for _ in range(2):
            self.fail(library, source)
            library.clock.advance(1_200)
        with library.db.read() as tx:
            detail = items.detail(tx, film)
        assert detail is not None
        (told,) = detail.files[0].sources
        assert [(one.at, one.code, one.reason) for one in told.troubles] == [
            (first, "gone", "404"),
            (first + timedelta(seconds=1_200), "gone", "404"),
        ]
        with library.db.write() as tx:
            sources.set_url(tx, source, "https://cdn/x", None)
            assert sources.troubles(tx, [source]) == {source: ()}

    def test_of_many_failures_the_first_and_the_last_are_kept(self, library: Library, film: int) -> None:
        source = self.source(library, film)
        first = library.now
        for _ in range(30):
            self.fail(library, source)
            library.clock.advance(3_600)
        with library.db.read() as tx:
            kept = sources.troubles(tx, [source])[source]
        assert len(kept) == sources.KEPT_TROUBLES
        assert (kept[0].at, kept[-1].at) == (first, first + timedelta(hours=29))

    def test_the_same_file_of_another_provider_is_one_file_also_beneath_the_torrents_own_folder(
        self, library: Library, film: int
    ) -> None:
        first = library.add_file(film)
        beneath = {"path_in_torrent": "Film.2031.1080p/film.mkv", "provider": "beta"}
        assert library.add_file(film, **beneath) == first
        assert [source.provider for source in get(library, first).sources] == ["alpha", "beta"]
        assert library.add_file(film, **beneath, size=999) != first

    def test_a_source_that_is_gone_has_no_failures(self, library: Library) -> None:
        assert self.fail(library, 4_711) == 0


class TestTorrents:
    HASH = "f" * 40

    def intend(self, library: Library, item: int) -> str | None:
        with library.db.write() as tx:
            return torrents.intend(tx, "alpha", self.HASH, item, library.now)

    def left(self, library: Library) -> list[tuple[str, str | None]]:
        with library.db.read() as tx:
            return [(one.infohash, one.torrent_id) for one in torrents.half_made(tx)]

    def record(self, library: Library, torrent_id: str, *, is_foreign: bool = False) -> None:
        with library.db.write() as tx:
            torrents.record(tx, "alpha", self.HASH, torrent_id, library.now, is_foreign=is_foreign)

    def test_an_intent_is_there_before_the_torrent_and_its_id_after(
        self, library: Library, film: int
    ) -> None:
        assert self.intend(library, film) is None
        assert self.left(library) == [(self.HASH, None)]
        self.record(library, "T7")
        assert self.left(library) == [(self.HASH, "T7")]
        assert self.intend(library, film) == "T7"

    def test_a_kept_torrent_is_not_half_made_also_when_it_is_wanted_again(
        self, library: Library, film: int
    ) -> None:
        self.intend(library, film)
        self.record(library, "T7")
        with library.db.write() as tx:
            torrents.keep(tx, "alpha", self.HASH)
        assert self.left(library) == []
        assert self.intend(library, film) == "T7"
        assert self.left(library) == []

    def test_a_forgotten_torrent_is_unknown(self, library: Library, film: int) -> None:
        self.intend(library, film)
        with library.db.write() as tx:
            torrents.forget(tx, "alpha", self.HASH)
        assert self.left(library) == []
        assert self.intend(library, film) is None

    def test_a_torrent_that_was_there_before_us_is_not_ours_to_tidy_up(
        self, library: Library, film: int
    ) -> None:
        self.intend(library, film)
        self.record(library, "T7", is_foreign=True)
        assert self.left(library) == []

    def test_our_own_torrent_found_again_after_a_crash_stays_ours(self, library: Library, film: int) -> None:
        self.intend(library, film)
        self.record(library, "T7")
        self.record(library, "T7", is_foreign=True)
        assert self.left(library) == [(self.HASH, "T7")]
