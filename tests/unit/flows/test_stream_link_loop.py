"""A link that died is replaced, and the loop of replacing always ends: two providers that hold one file, and a reader."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pytest

from program.clock import ManualClock
from program.db import entries
from program.db.engine import Database
from program.errors import Final, RivuletError, Transient
from program.events import StreamLinkRequested
from program.library import Links
from program.media.entry import AccountTorrent, Entry, FetchedTorrent, Link
from program.plugins import Registry, compose_settings
from program.queues import Engine, JobState
from program.services.flows import names
from program.services.flows.context import RENEWALS_WITHIN_SECONDS, FlowContext
from program.services.flows.queues import define_flows, define_plugins
from program.services.plugin import Account, Downloader, DownloadRefused
from program.settings.provider import ProviderSettings
from tests.db.library import NOW, Library
from tests.support.sample_plugin import sources


class AlphaSettings(ProviderSettings):
    """A made-up debrid service."""


class Alpha(Downloader[AlphaSettings]):
    """Gives a new address each time, or does as `answers` says; counts how often it was asked."""

    key = "alpha"
    title = "Alpha"
    Settings = AlphaSettings

    def check(self) -> None:
        """Work."""

    def link(self, wanted: StreamLinkRequested) -> Link:
        """Give the next address."""
        self.asked = getattr(self, "asked", 0) + 1
        answers: list[str | RivuletError] = getattr(self, "answers", [])
        answer = answers.pop(0) if answers else f"http://{self.key}/{self.asked}"
        if isinstance(answer, RivuletError):
            raise answer
        return Link(answer, None, self.key)

    def fetch(
        self, infohash: str, known_torrent_id: str | None, intended_at: object = None
    ) -> FetchedTorrent:
        """Hold nothing."""
        raise Transient("never asked in these tests")

    def remove(self, torrent_id: str) -> None:
        """Forget nothing."""

    def torrents(self) -> Iterable[AccountTorrent]:
        """Hold nothing."""
        return ()

    def account(self) -> Account:
        """Return an account."""
        return Account(username="demo", is_premium=True)


class Beta(Alpha):
    """The second one."""

    key = "beta"
    title = "Beta"


class Nothing:
    """In place of a mount."""

    def trouble_at(self, link: Link, size: int) -> str | None:
        """Never know: nothing is read in these tests."""
        raise Transient("no mount here")

    def apply(self, added: Iterable[Entry], removed: Iterable[int]) -> None:
        """Show nothing."""

    def refresh(self, item_ids: Collection[int]) -> None:
        """Have no further folders."""

    def rearrange(self) -> None:
        """Have no further folders."""

    def places(self, entry: Entry) -> tuple[str, ...]:
        """Return the one path as it is."""
        return (entry.path,)


class Reading:
    """A file that both providers hold, and whoever reads it."""

    def __init__(self, db: Database, clock: ManualClock) -> None:
        self.clock = clock
        library = Library(db, clock)
        film = library.film()
        self.entry_id = library.add_file(film)
        assert library.add_file(film, provider="beta", torrent_id="T2") == self.entry_id
        self.db = db
        settings = compose_settings([Alpha, Beta]).model_validate(
            {
                "downloaders": {
                    "alpha": {"enabled": True},
                    "beta": {"enabled": True},
                    "order": ["alpha", "beta"],
                }
            }
        )
        self.registry = Registry(settings, [Alpha, Beta], sources(clock), clock)
        self.engine = Engine(clock)
        ctx = FlowContext(
            db=db,
            engine=self.engine,
            registry=self.registry,
            clock=clock,
            settings=lambda: settings,
            policy=lambda: library.policy,
            library=Nothing(),
            tell=lambda _: None,
        )
        define_flows(self.engine, ctx)
        self.registry.before_use(lambda hooked: define_plugins(self.engine, ctx, hooked, {}))
        self.links = Links(self.engine)

    def plugin(self, key: str) -> Alpha:
        """Return one of the providers."""
        found = self.registry.get(key)
        assert isinstance(found, Alpha)
        return found

    def asked(self) -> tuple[int, int]:
        """Return how often each provider was asked."""
        return getattr(self.plugin("alpha"), "asked", 0), getattr(self.plugin("beta"), "asked", 0)

    def url(self, dead_url: str | None = None) -> str:
        """Return what a reader gets."""
        return self.links.resolve(self.entry_id, dead_url).url

    def last_url(self) -> str:
        """Let every address die until there is no other; return the last one."""
        url = self.url()
        for _ in range(50):
            try:
                url = self.url(url)
            except Final:
                return url
        raise AssertionError("it goes on for ever")


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Reading]:
    clock = ManualClock(NOW)
    database = Database(f"sqlite:///{tmp_path / 'rivulet.db'}", data_dir=tmp_path, clock=clock)
    database.open()
    found = Reading(database, clock)
    yield found
    found.registry.close()
    database.close()


def test_an_address_that_is_known_is_given_out_without_asking(reading: Reading) -> None:
    assert [reading.url() for _ in range(5)] == ["http://alpha/1"] * 5
    assert reading.asked() == (1, 0)


def test_an_address_that_died_is_replaced_at_the_same_provider(reading: Reading) -> None:
    dead = reading.url()
    assert reading.url(dead) == "http://alpha/2"
    assert reading.asked() == (2, 0)


def test_a_reader_that_comes_with_an_old_address_gets_the_new_one_without_asking(reading: Reading) -> None:
    first = reading.url()
    second = reading.url(first)
    assert reading.url(first) == second
    assert reading.asked() == (2, 0)


def test_a_provider_that_gives_the_dead_address_again_is_passed_over(reading: Reading) -> None:
    reading.plugin("alpha").answers = ["http://alpha/same"] * 9
    dead = reading.url()
    assert reading.url(dead) == "http://beta/1"
    assert reading.asked() == (2, 1)


def test_a_provider_whose_new_addresses_die_as_well_is_left_out_after_two(reading: Reading) -> None:
    seen = [reading.url()]
    for _ in range(3):
        seen.append(reading.url(seen[-1]))
    assert seen == ["http://alpha/1", "http://alpha/2", "http://alpha/3", "http://beta/1"]


def test_when_every_address_of_every_provider_is_dead_the_reader_is_told_and_nobody_is_asked_for_ever(
    reading: Reading,
) -> None:
    url = reading.last_url()
    with pytest.raises(Final, match="alpha: its new addresses do not work either; beta: its new addresses"):
        reading.url(url)
    asked = reading.asked()
    assert asked == (4, 3), (
        "one address and two renewals, two of the other provider, and each once by whoever mends"
    )
    for _ in range(20):
        with pytest.raises(Final):
            reading.url(url)
    assert reading.asked() == asked


def test_a_read_that_comes_later_may_ask_again(reading: Reading) -> None:
    url = reading.last_url()
    reading.clock.advance(RENEWALS_WITHIN_SECONDS)
    assert reading.url(url) == "http://alpha/5"


def test_a_provider_that_lost_the_file_is_passed_over_and_noted(reading: Reading) -> None:
    reading.plugin("alpha").answers = [DownloadRefused("alpha", "gone", "the file is gone")]
    assert reading.url() == "http://beta/1"
    with reading.db.read() as tx:
        entry = entries.get(tx, reading.entry_id)
    assert entry is not None
    assert [source.failures for source in entry.sources] == [1, 0]


def test_a_file_that_nobody_has_any_more_is_a_final_no_with_every_reason(reading: Reading) -> None:
    for key in ("alpha", "beta"):
        reading.plugin(key).answers = [DownloadRefused(key, "gone", "the file is gone")]
    with pytest.raises(Final, match="alpha: the file is gone; beta: the file is gone"):
        reading.url()


def test_a_job_asks_each_provider_once_and_frees_its_key(reading: Reading) -> None:
    reading.plugin("alpha").answers = [Final("no")]
    reading.plugin("beta").answers = [Final("no")]
    with pytest.raises(Final):
        reading.url()
    assert reading.asked() == (1, 1)
    assert reading.engine.held(names.REQUEST_STREAM_LINK) == frozenset()
    (job,) = reading.engine.jobs(names.REQUEST_STREAM_LINK)
    assert (job.state, job.dedup_id) == (JobState.FAILED, f"request-stream-link-{reading.entry_id}")
