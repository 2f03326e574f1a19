"""Providers: found in their packages, built when enabled, checked, and left out without harm to the others."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import dedent
from typing import ClassVar

import pytest
from pytest_httpserver import HTTPServer

from program.clock import ManualClock
from program.errors import NotFound, Transient
from program.events import CoreShutdown, CoreStarted, RetryLibrary, ScrapeRequested, ShowIndexRequested
from program.http import DataSource
from program.media.item import MediaType
from program.media.release import FoundRelease
from program.media.wanted import Wanted
from program.plugins import AnyPlugin, Hooked, PluginState, Registry, Tripped, compose_settings
from program.plugins.discovery import PACKAGES, fault_of, search
from program.services.plugin import Hook, Indexer, Plugin, Scraper, Service
from program.settings.provider import ProviderSettings
from tests.support.lines import log_lines
from tests.support.sample_plugin import Model, Sample, SampleSettings, SecondSample, settings, sources
from tests.support.wait import until

NOW = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def lines() -> Iterator[list[str]]:
    with log_lines() as found:
        yield found


def at(server: HTTPServer, **more: object) -> dict[str, object]:
    """Return the section of an enabled sample that asks `server`."""
    return {"enabled": True, "url": server.url_for("/"), **more}


def registry(
    clock: ManualClock, *classes: type[AnyPlugin], pauses: list[float] | None = None, **scraping: object
) -> Registry:
    """Return a registry of the sample providers that was not validated yet; waits are noted in `pauses`."""
    model = compose_settings(classes or (Sample, SecondSample))
    noted = [] if pauses is None else pauses
    return Registry(
        model.model_validate({"scraping": scraping}),
        classes or (Sample, SecondSample),
        sources(clock),
        clock,
        pause=noted.append,
    )


def states(found: Registry) -> dict[str, PluginState]:
    """Return how each enabled provider stands."""
    return {status.key: status.state for status in found.statuses()}


# Finding them


def test_every_provider_module_of_the_program_is_sound() -> None:
    assert search(PACKAGES).broken == ()


def module(folder: Path, name: str, text: str) -> None:
    """Write a module into the package `some_providers`."""
    package = folder / "some_providers"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()
    (package / f"{name}.py").write_text(dedent(text))


def test_a_broken_module_is_reported_and_the_others_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = "from tests.support.sample_plugin import Sample\nclass Good(Sample):\n    key = {key!r}\n"
    module(tmp_path, "good", good.format(key="good"))
    module(tmp_path, "twin", good.format(key="good"))
    module(tmp_path, "torn", "import nothing_of_this_name")
    module(tmp_path, "shouting", good.format(key="LOUD"))
    monkeypatch.syspath_prepend(str(tmp_path))
    found = search(["some_providers", "no_such_package"])
    assert [plugin.key for plugin in found.classes] == ["good"]
    assert {broken.name: broken.reason for broken in found.broken} == {
        "some_providers.torn": "it cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_this_name'",
        "some_providers.shouting.Good": "its key 'LOUD' is not lower-case letters and digits",
        "some_providers.twin.Good": "its key is taken",
    }


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"section": "cellar"}, "the settings have no section 'cellar'"),
        ({"section": "api_key"}, "the settings have no section 'api_key'"),
        ({"section": "api", "key": "port"}, "api.port is a setting of the program"),
        ({"Settings": dict}, "its Settings are no ProviderSettings"),
        ({}, None),
    ],
)
def test_a_class_that_fits_nowhere_is_refused(attributes: dict[str, object], reason: str | None) -> None:
    assert fault_of(type("Odd", (Sample,), attributes)) == reason


def test_a_class_without_a_title_is_refused() -> None:
    class Nameless(Scraper[SampleSettings]):
        key = "nameless"
        Settings = SampleSettings

    assert fault_of(Nameless) == "it does not say its title"


# Using them


def test_a_provider_is_used_until_its_first_check_says_no(httpserver: HTTPServer, clock: ManualClock) -> None:
    httpserver.expect_request("/ping").respond_with_json({}, status=401)
    found = registry(clock, sample=at(httpserver))
    assert [plugin.key for plugin in found.of(Scraper)] == ["sample"]
    found.revalidate(NOW)
    assert found.of(Scraper) == ()


def test_an_enabled_provider_that_answers_its_check_is_used(
    httpserver: HTTPServer, clock: ManualClock
) -> None:
    httpserver.expect_request("/ping").respond_with_json({})
    found = registry(clock, sample=at(httpserver))
    found.validate(NOW)
    assert states(found) == {"sample": PluginState.VALID}
    assert [plugin.key for plugin in found.of(Scraper)] == ["sample"]
    assert found.of(Indexer) == ()
    assert isinstance(found.get("sample"), Sample)
    assert found.hooks_for(ScrapeRequested.type) == ("sample",)
    assert found.hooks_for(ShowIndexRequested.type) == ()
    assert found.invalid == ()


def test_a_provider_that_is_switched_off_does_not_exist(clock: ManualClock) -> None:
    found = registry(clock, sample={"enabled": False})
    found.validate(NOW)
    assert found.of(Plugin) == ()
    assert found.statuses() == ()
    with pytest.raises(NotFound, match="sample is not in use"):
        found.get("sample")


def test_a_wrong_key_takes_one_provider_out_and_says_so_once(
    httpserver: HTTPServer, clock: ManualClock, lines: list[str]
) -> None:
    httpserver.expect_request("/good/ping").respond_with_json({})
    httpserver.expect_request("/bad/ping").respond_with_json({}, status=401)
    good, bad = (at(httpserver, url=httpserver.url_for(path)) for path in ("/good", "/bad"))
    found = registry(clock, sample=bad, other=good)
    found.validate(NOW)
    assert [plugin.key for plugin in found.of(Scraper)] == ["other"]
    assert [key for key, _ in found.invalid] == ["sample"]
    assert "api_key: is refused by the service" in found.invalid[0][1]
    for minutes in range(1, 180):
        found.revalidate(NOW + timedelta(minutes=minutes))
    assert len([line for line in lines if "Sample Index is not used" in line]) == 1
    # 30 s, 1, 2, 5, 15, 30 min, then every hour.
    assert 6 <= len([call for call, _ in httpserver.log if call.path == "/bad/ping"]) <= 10


def test_a_provider_comes_back_by_itself_and_this_is_said_once(
    httpserver: HTTPServer, clock: ManualClock, lines: list[str]
) -> None:
    httpserver.expect_oneshot_request("/ping").respond_with_json({}, status=403)
    httpserver.expect_request("/ping").respond_with_json({})
    found = registry(clock, sample=at(httpserver))
    changes: list[str] = []
    found.on_change(lambda: changes.append("changed"))
    found.validate(NOW)
    assert changes == ["changed"]
    found.revalidate(NOW + timedelta(seconds=29))
    assert states(found) == {"sample": PluginState.INVALID}
    for seconds in (30, 60, 90):
        found.revalidate(NOW + timedelta(seconds=seconds))
    assert states(found) == {"sample": PluginState.VALID}
    assert changes == ["changed", "changed"]
    assert [line for line in lines if "works again" in line] == ["INFO Sample Index works again"]


def test_a_passing_trouble_is_tried_three_times_before_it_is_reported(
    httpserver: HTTPServer, clock: ManualClock, lines: list[str]
) -> None:
    httpserver.expect_oneshot_request("/ping").respond_with_json({}, status=500)
    httpserver.expect_request("/ping").respond_with_json({})
    pauses: list[float] = []
    found = registry(clock, sample=at(httpserver), pauses=pauses)
    found.validate(NOW)
    assert states(found) == {"sample": PluginState.VALID}
    assert pauses == [1.0]
    assert [line for line in lines if "Sample" in line] == []


def test_a_provider_that_cannot_be_reached_stays_in_use_and_is_marked(
    clock: ManualClock, lines: list[str]
) -> None:
    found = registry(clock, sample={"enabled": True, "url": "http://127.0.0.1:9"})
    found.validate(NOW)
    assert states(found) == {"sample": PluginState.UNREACHABLE}
    assert [plugin.key for plugin in found.of(Scraper)] == ["sample"]
    assert found.invalid == ()
    assert len([line for line in lines if line.startswith("WARNING Sample Index cannot be reached")]) == 1


def test_a_provider_that_asks_to_wait_is_left_alone_until_then(
    httpserver: HTTPServer, clock: ManualClock
) -> None:
    httpserver.expect_request("/ping").respond_with_json({}, status=429, headers={"Retry-After": "600"})
    found = registry(clock, sample=at(httpserver))
    found.validate(NOW)
    (status,) = found.statuses()
    assert status.state is PluginState.UNREACHABLE
    assert status.next_check_at == NOW + timedelta(seconds=600)


def test_a_pause_does_not_grow_when_the_clock_is_set_back(httpserver: HTTPServer, clock: ManualClock) -> None:
    httpserver.expect_request("/ping").respond_with_json({}, status=429, headers={"Retry-After": "600"})
    found = registry(clock, sample=at(httpserver))
    found.validate(NOW)
    found.clock_was_set(-timedelta(hours=2))
    ends = NOW + timedelta(seconds=600) - timedelta(hours=2)
    (status,) = found.statuses()
    assert status.next_check_at == ends
    assert found.get("sample").http.statistics().paused_until == ends


class Unbuildable(Sample):
    key = "unbuildable"
    title = "Unbuildable"

    def __init__(self, settings: SampleSettings, http: DataSource, clock: ManualClock) -> None:
        raise ValueError("hunter2")


class Crashing(Sample):
    key = "crashing"
    title = "Crashing"

    def check(self) -> None:
        raise ZeroDivisionError


def test_a_broken_provider_never_stops_the_others(
    httpserver: HTTPServer, clock: ManualClock, lines: list[str]
) -> None:
    httpserver.expect_request("/ping").respond_with_json({})
    found = registry(
        clock,
        Unbuildable,
        Crashing,
        Sample,
        unbuildable=at(httpserver),
        crashing=at(httpserver),
        sample=at(httpserver),
    )
    found.validate(NOW)
    assert dict(found.invalid) == {
        "unbuildable": "it cannot be built: ValueError",
        "crashing": "its check failed: ZeroDivisionError",
    }
    assert [plugin.key for plugin in found.of(Scraper)] == ["sample"]
    assert any("ZeroDivisionError" in line for line in lines)


class Odd(Sample):
    """Hooks whatever its subclass says."""

    key = "odd"
    title = "Odd"
    hooked: ClassVar[Mapping[str, object]] = {}

    def check(self) -> None:
        """Work."""

    def hooks(self) -> Mapping[str, Hook]:
        return self.hooked  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("hooked", "reason"),
    [
        (
            {"riven.media-item.scraped": print},
            "it hooks 'riven.media-item.scraped', which is no event for plugins",
        ),
        (
            {RetryLibrary.type: print},
            "it hooks 'riven-internal.retry-library', which is no event for plugins",
        ),
        ({CoreStarted.type: None}, "its hook of riven.core.started is no function"),
    ],
)
def test_a_hook_that_cannot_be_makes_a_plugin_invalid(
    clock: ManualClock, hooked: dict[str, object], reason: str
) -> None:
    found = registry(clock, type("Hooking", (Odd,), {"hooked": hooked}), odd={"enabled": True})
    found.validate(NOW)
    assert dict(found.invalid) == {"odd": reason}
    assert found.publishable() == frozenset()


def test_a_check_that_hangs_holds_nobody_back(
    httpserver: HTTPServer, clock: ManualClock, lines: list[str]
) -> None:
    gate = threading.Event()

    class Hanging(Sample):
        key = "hanging"
        title = "Hanging"
        deadline_seconds = 0.3

        def check(self) -> None:
            gate.wait(10)

    httpserver.expect_request("/ping").respond_with_json({})
    found = registry(clock, Hanging, Sample, hanging=at(httpserver), sample=at(httpserver))
    checks = threading.Thread(target=found.validate, args=(NOW,))
    checks.start()
    until(lambda: states(found)["sample"] is PluginState.VALID, what="the other one's check")
    assert states(found)["hanging"] is PluginState.PENDING
    checks.join(10)
    gate.set()
    assert {status.key: status.reason for status in found.statuses()} == {
        "hanging": "hanging: check did not end within 0.3 s",
        "sample": None,
    }
    assert states(found)["hanging"] is PluginState.UNREACHABLE


def test_a_check_that_raises_what_it_should_not_is_tried_three_times(
    httpserver: HTTPServer, clock: ManualClock
) -> None:
    pauses: list[float] = []
    found = registry(clock, Crashing, pauses=pauses, crashing=at(httpserver))
    found.validate(NOW)
    assert pauses == [1.0, 2.0]


def test_a_fatal_error_stops_a_check_at_once(httpserver: HTTPServer, clock: ManualClock) -> None:
    httpserver.expect_request("/ping").respond_with_json({}, status=401)
    pauses: list[float] = []
    found = registry(clock, Sample, pauses=pauses, sample=at(httpserver))
    found.validate(NOW)
    assert pauses == []
    assert len(httpserver.log) == 1


# Calling their hooks


class Failing(Odd):
    """Raises in its search, and tells in its settings how often it did."""

    deadline_seconds = 0.2

    def hooks(self) -> Mapping[str, Hook]:
        return {ScrapeRequested.type: self._search, CoreStarted.type: lambda _event: gate_for(self).wait(5)}

    def search(self, wanted: Wanted) -> Iterable[FoundRelease]:
        raise KeyError("seeders")


gates: dict[int, threading.Event] = {}


def gate_for(plugin: Plugin[SampleSettings]) -> threading.Event:
    """Return what a plugin's hook hangs on."""
    return gates.setdefault(id(plugin), threading.Event())


SEARCH = ScrapeRequested(Wanted(item_id=1, type=MediaType.MOVIE, title="Sintel"))


def test_a_hook_that_fails_in_a_row_is_shown_and_the_plugin_rests(clock: ManualClock) -> None:
    found = registry(clock, Failing, odd={"enabled": True})
    found.validate(NOW)
    for _ in range(5):
        with pytest.raises(KeyError):
            found.call("odd", SEARCH)
    with pytest.raises(Tripped):
        found.call("odd", SEARCH)
    (status,) = found.statuses()
    assert status.state is PluginState.TRIPPED
    assert status.reason == (
        "5 failures in a row, the last at riven.media-item.scrape.requested: KeyError: 'seeders'"
    )
    assert status.next_check_at == NOW + timedelta(seconds=30)
    assert found.hooks_for(ScrapeRequested.type) == ("odd",), "it is asked again when its rest is over"
    assert set(status.hooks) == {ScrapeRequested.type, CoreStarted.type} == found.publishable()


def test_a_hook_that_hangs_is_given_up_at_its_deadline(clock: ManualClock) -> None:
    found = registry(clock, Failing, odd={"enabled": True})
    with pytest.raises(Transient, match=r"odd: riven\.core\.started did not end within 0\.2 s"):
        found.call("odd", CoreStarted())
    assert found.statuses()[0].health.stuck == 1
    gate_for(found.get("odd")).set()
    until(lambda: not found.statuses()[0].health.stuck, what="the end of the hook")


def test_a_person_can_change_a_deadline(clock: ManualClock) -> None:
    model = compose_settings([Failing])
    changed = {"scraping": {"odd": {"enabled": True}}, "plugins": {"deadlines": {"odd": 0.05}}}
    found = registry(clock, Failing, odd={"enabled": True})
    before = found.get("odd")
    found.rebuild(model.model_validate(changed))
    with pytest.raises(Transient, match=r"did not end within 0\.05 s"):
        found.call("odd", CoreStarted())
    gate_for(found.get("odd")).set()
    assert found.get("odd") is not before
    until(lambda: not found.statuses()[0].health.stuck, what="the end of the hook")


def test_a_plugin_is_not_asked_what_it_does_not_answer(clock: ManualClock) -> None:
    found = registry(clock, Failing, odd={"enabled": True})
    with pytest.raises(NotFound, match=r"odd does not answer riven\.core\.shutdown"):
        found.call("odd", CoreShutdown())


class TwoServices(Sample):
    """Speaks to a second service."""

    @classmethod
    def services(cls, settings: SampleSettings) -> Mapping[str, Service]:
        """Return the one for pictures."""
        return {"pictures": Service(address=f"{settings.url}pictures", headers={"X-Own": "1"})}

    def check(self) -> None:
        """Ask both."""
        self.http.get("/ping")
        self.further["pictures"].get("/ping")


def test_a_plugin_may_speak_to_further_services(httpserver: HTTPServer, clock: ManualClock) -> None:
    httpserver.expect_request("/ping").respond_with_json({})
    httpserver.expect_request("/pictures/ping", headers={"X-Own": "1"}).respond_with_json({}, status=429)
    found = registry(clock, TwoServices, sample=at(httpserver))
    found.validate(NOW)
    assert found.statuses()[0].reason == "sample.pictures: asks to slow down (429)"
    assert found.get("sample").http.statistics().paused_until is None, "each service has a pace of its own"


def test_the_calls_of_a_provider_go_through_the_proxy_of_its_settings(
    httpserver: HTTPServer, clock: ManualClock, lines: list[str]
) -> None:
    httpserver.expect_request("/ping").respond_with_json({}, status=500)
    proxy = f"http://keeper:open-sesame@localhost:{httpserver.port}"
    found = registry(clock, sample={"enabled": True, "url": "http://index.invalid", "proxy": proxy})
    found.validate(NOW)
    (first, *_) = [request for request, _ in httpserver.log]
    assert first.host == "index.invalid", "its name is not looked up here"
    assert first.headers["Proxy-Authorization"].startswith("Basic ")
    assert "open-sesame" not in f"{lines} {found.statuses()}"


# Changing the settings


def test_a_change_of_settings_has_whoever_is_in_trouble_checked_again(
    httpserver: HTTPServer, clock: ManualClock
) -> None:
    httpserver.expect_oneshot_request("/ping").respond_with_json({}, status=401)
    httpserver.expect_request("/ping").respond_with_json({})
    found = registry(clock, sample=at(httpserver))
    found.validate(NOW)
    assert states(found) == {"sample": PluginState.INVALID}
    found.revalidate(NOW)
    assert states(found) == {"sample": PluginState.INVALID}, "its next check is in half a minute"
    found.rebuild(settings(scraping={"sample": at(httpserver)}, log={"level": "DEBUG"}))
    found.revalidate(NOW)
    assert states(found) == {"sample": PluginState.VALID}


def test_new_settings_touch_only_the_providers_they_change(
    httpserver: HTTPServer, clock: ManualClock
) -> None:
    httpserver.expect_request("/ping").respond_with_json({})
    found = registry(clock, sample=at(httpserver), other=at(httpserver))
    found.validate(NOW)
    before = {plugin.key: plugin for plugin in found.of(Scraper)}
    found.rebuild(settings(scraping={"sample": at(httpserver), "other": at(httpserver, per_page=9)}))
    assert states(found) == {"sample": PluginState.VALID, "other": PluginState.PENDING}
    found.validate(NOW)
    after = {plugin.key: plugin for plugin in found.of(Scraper)}
    assert after["sample"] is before["sample"]
    assert after["other"] is not before["other"]
    assert after["other"].settings.per_page == 9


def test_a_provider_that_is_switched_off_while_running_is_gone_and_listeners_know(
    httpserver: HTTPServer, clock: ManualClock
) -> None:
    httpserver.expect_request("/ping").respond_with_json({})
    found = registry(clock, sample=at(httpserver))
    found.validate(NOW)
    changes: list[str] = []
    found.on_change(lambda: changes.append("changed"))
    found.rebuild(settings())
    assert found.of(Scraper) == ()
    assert changes == ["changed"]


def test_a_provider_has_its_queues_before_anybody_can_ask_it(
    httpserver: HTTPServer, clock: ManualClock
) -> None:
    httpserver.expect_request("/ping").respond_with_json({})
    found = registry(clock)
    prepared: list[tuple[set[str], tuple[str, ...]]] = []

    def prepare(hooked: Hooked) -> None:
        prepared.append(({plugin.key for plugin, _ in hooked}, found.hooks_for(ScrapeRequested.type)))

    found.before_use(prepare)
    found.rebuild(settings(scraping={"sample": at(httpserver)}))
    assert prepared == [(set(), ()), ({"sample"}, ())]
    assert found.hooks_for(ScrapeRequested.type) == ("sample",)


def test_providers_are_asked_in_the_users_order(httpserver: HTTPServer, clock: ManualClock) -> None:
    httpserver.expect_request("/ping").respond_with_json({})

    class Holder(Sample):
        key = "holder"
        section = "downloaders"

    class Keeper(Holder):
        key = "keeper"

    classes = (Holder, Keeper)
    section = {"order": ["keeper"], "holder": at(httpserver), "keeper": at(httpserver)}
    chosen = compose_settings(classes).model_validate({"downloaders": section})
    found = Registry(chosen, classes, sources(clock), clock)
    found.validate(NOW)
    assert [plugin.key for plugin in found.of(Plugin)] == ["keeper", "holder"]


def test_after_the_end_nothing_is_usable(httpserver: HTTPServer, clock: ManualClock) -> None:
    httpserver.expect_request("/ping").respond_with_json({})
    found = registry(clock, sample=at(httpserver))
    found.validate(NOW)
    found.close()
    assert found.of(Plugin) == ()


def test_the_settings_of_a_provider_stand_under_its_section_and_key() -> None:
    section = Model.model_validate({"scraping": {"sample": {"per_page": 3}}}).scraping
    sample = section.sample  # type: ignore[attr-defined]
    assert isinstance(sample, ProviderSettings)
    assert sample.per_page == 3  # type: ignore[attr-defined]
