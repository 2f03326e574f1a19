"""The pipeline's queues as the specification lists them: names, what they take and give, whom they may wait for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from program.db.engine import Database
from program.errors import Transient
from program.event_loop import job_for
from program.events import (
    ASKED,
    TOLD,
    CoreStarted,
    MovieIndexRequested,
    ScrapeRequested,
    TorrentRemoveRequested,
)
from program.media.item import MediaType, QueueClass
from program.media.state import Policy
from program.plugins import Registry
from program.queues import Engine, InvalidJob, JobSpec, JobState
from program.queues.queue import QueueDef
from program.services.flows import names
from program.services.flows.context import FlowContext, ItemJob
from program.services.flows.plugin_hook import Paused
from program.services.flows.process_media_item import MediaItemJob
from program.services.flows.queues import FLOWS, answer_of, define_plugins
from program.services.flows.scrape_item import Search
from program.services.plugin import Hook
from program.state_transition import ItemStep, Step
from tests.support.queues import Lab, echo
from tests.support.sample_plugin import Sample, settings, sources
from tests.support.titles import movie
from tests.support.wishes import wanted_film

FLOW_QUEUES = {
    "process-item-request",
    "process-media-item",
    "request-content-services",
    "scrape-item",
    "download-item",
    "download-item.rank-streams",
    "download-item.find-valid-torrent",
    "request-stream-link",
    "request-subtitles",
    "post-process-media-item",
}
# Share of the machine's parallelism.
SANDBOX_QUEUES = {
    "scrape-item.parse-scrape-results": 0.25,
    "download-item.map-items-to-files": 0.75,
    "download-item.validate-torrent-files": 0.25,
}
OURS = {
    names.TIDY_ACCOUNT,
    names.RETRY_LIBRARY,
    names.MEND_ENTRY,
    names.SECOND_SOURCES,
    names.SCAN_MOVED_FILES,
}


def test_the_queues_are_those_of_the_specification_and_our_own() -> None:
    assert set(FLOWS) == FLOW_QUEUES | set(SANDBOX_QUEUES) | OURS
    assert {name for name, flow in FLOWS.items() if flow.function} == set(SANDBOX_QUEUES)


@pytest.mark.parametrize(("parallel", "flows"), [(1, 1), (2, 3), (3, 4), (8, 12)])
def test_flows_run_one_and_a_half_times_the_cores_at_a_time(parallel: int, flows: int) -> None:
    queue = QueueDef(name="scrape-item", input=object, handler=echo, share=FLOWS["scrape-item"].share)
    assert queue.limit(parallel) == flows


@pytest.mark.parametrize(("name", "share"), SANDBOX_QUEUES.items())
def test_sandboxed_work_runs_on_a_share_of_the_cores_and_at_least_on_one(name: str, share: float) -> None:
    queue = QueueDef(name=name, input=object, handler=echo, share=FLOWS[name].share)
    assert [queue.limit(cores) for cores in (1, 4, 16)] == [1, max(1, int(4 * share)), int(16 * share)]


def test_the_steps_of_a_media_item_are_the_specifications_in_their_order() -> None:
    *specified, ours = [step.value for step in ItemStep]
    assert specified == ["scrape", "validate-scrape", "download", "validate-download", "complete"]
    assert ours == "upgrade", "a search for something better, beside the way of a title"


def test_a_job_without_a_step_is_refused_by_the_queue_that_goes_by_steps() -> None:
    engine = engine_of("process-media-item")
    with pytest.raises(InvalidJob, match=r"process-media-item takes .*MediaItemJob.*, not ItemJob"):
        engine.add(job("process-media-item", ItemJob(1, 1, "Sintel", ())))
    assert engine.add(job("process-media-item", MediaItemJob(1, 1, "Sintel", ()))).is_new


@pytest.mark.parametrize("name", sorted(FLOWS))
def test_no_queue_takes_what_is_not_its_own(name: str) -> None:
    with pytest.raises(InvalidJob, match=f"{name} takes"):
        engine_of(name).add(job(name, "Sintel"))


@pytest.mark.parametrize("name", sorted(FLOWS))
def test_no_queue_may_wait_for_one_that_waits_for_it(name: str) -> None:
    below, found = {name}, set[str]()
    while below:
        children = {child for each in below for child in FLOWS[each].children & set(FLOWS)}
        below, found = children - found, found | children
    assert name not in found


def test_a_search_may_not_have_a_download_as_its_child() -> None:
    engine = engine_of("scrape-item", "download-item")
    data = ItemJob(1, 1, "Sintel", ())
    child = job("download-item", data)
    with pytest.raises(InvalidJob, match="scrape-item may not have a child in download-item"):
        engine.add(JobSpec(queue="scrape-item", name="Sintel", data=data, children=(child,)))
    assert engine.jobs("scrape-item") == engine.jobs("download-item") == []


@pytest.mark.parametrize("event", sorted(ASKED, key=lambda event: event.type))
def test_every_question_to_a_plugin_may_be_asked_by_some_flow(event: type) -> None:
    queue = names.plugin_queue(event.type, "anyplugin")
    askers = [
        name for name, flow in FLOWS.items() if any(allows(pattern, queue) for pattern in flow.children)
    ]
    assert askers, f"nobody may ask {queue}"


def test_a_plugins_queue_is_named_by_its_event_and_itself() -> None:
    queue = names.plugin_queue(ScrapeRequested.type, "torrentio")
    assert queue == "riven.media-item.scrape.requested.plugin[torrentio]"
    assert names.plugin_key(queue) == "torrentio"


def test_a_plugins_queue_gives_what_its_event_asks_for_or_that_it_is_paused() -> None:
    paused = Paused(datetime(2031, 1, 1, tzinfo=UTC), "a limit")
    assert all(isinstance(paused, answer_of(event) or ()) for event in ASKED)
    assert isinstance((), answer_of(ScrapeRequested) or ())
    assert not isinstance(None, answer_of(ScrapeRequested) or ())
    assert isinstance(None, answer_of(MovieIndexRequested) or ())
    assert not isinstance("a film", answer_of(MovieIndexRequested) or ())
    assert isinstance(None, answer_of(TorrentRemoveRequested) or ())
    assert {answer_of(event) for event in TOLD} == {None}


def test_a_search_is_a_tree_down_to_every_scraper() -> None:
    engine = engine_of("process-media-item", "scrape-item", "scrape-item.parse-scrape-results")
    item, wanted = ItemJob(1, 1, "Sintel", ()), wanted_film()
    scrapers = tuple(names.plugin_queue(ScrapeRequested.type, key) for key in ("torrentio", "comet"))
    for queue in scrapers:
        engine.define(QueueDef(name=queue, input=ScrapeRequested, handler=echo))
    asked = tuple(job(queue, ScrapeRequested(wanted)) for queue in scrapers)
    parse = replace(job("scrape-item.parse-scrape-results", Search(wanted, "Sintel")), children=asked)
    search = replace(job("scrape-item", item), children=(parse,))
    engine.add(replace(job("process-media-item", MediaItemJob(1, 1, "Sintel", ())), children=(search,)))
    states = {view.queue: view.state for queue in engine.counts() for view in engine.jobs(queue)}
    parents = ("process-media-item", "scrape-item", "scrape-item.parse-scrape-results")
    assert states == {
        **dict.fromkeys(parents, JobState.WAITING_CHILDREN),
        **dict.fromkeys(scrapers, JobState.WAITING),
    }


def test_the_ids_against_doubles_are_those_of_the_specification() -> None:
    assert [names.process_media_item_id(kind, 7) for kind in MediaType] == [
        "process-movie-7",
        "process-show-7",
        "process-season-7",
        "process-episode-7",
    ]
    assert names.process_item_request_id(7) == "process-item-request-7"
    assert names.stream_link_id(7) == "request-stream-link-7"


@pytest.mark.parametrize("step", [None, *ItemStep])
def test_the_job_of_an_item_has_its_title_its_step_and_whether_it_began_the_work(
    step: ItemStep | None,
) -> None:
    queue = "process-media-item" if step else "process-item-request"
    root = movie(id=7, title="Sintel")
    for is_root_item in (True, False):
        spec = job_for(root, Step("a service", queue, step, 7, QueueClass.NORMAL, is_root_item))
        assert (spec.name, spec.data.title, spec.data.item_id) == ("Sintel", "Sintel", 7)
        assert spec.data.is_root_item is is_root_item
        assert step is None or spec.data.step is step
        assert spec.dedup_id == ("process-movie-7" if step else "process-item-request-7")


@pytest.mark.parametrize("name", sorted(FLOWS))
def test_every_flow_keeps_what_has_ended_by_one_rule(name: str) -> None:
    flow = FLOWS[name]
    kept = QueueDef(name=name, input=flow.input, handler=echo).kept()
    assert (kept.completed, kept.completed_age) == (5000, None)
    assert (kept.failed, kept.failed_age) == (5000, timedelta(hours=24))


class Stubborn(Sample):
    """Hooks two events, and says that its service is away."""

    calls = 0

    def hooks(self) -> Mapping[str, Hook]:
        return {ScrapeRequested.type: self.fail, CoreStarted.type: self.fail}

    def fail(self, _event: object) -> None:
        type(self).calls += 1
        raise Transient("sample: answers 502")


@pytest.fixture
def stubborn(tmp_path: Path) -> Iterator[Lab]:
    """Yield an engine with the queues of a plugin whose service is away."""
    lab = Lab()
    database = Database(f"sqlite:///{tmp_path / 'rivulet.db'}", data_dir=tmp_path, clock=lab.clock)
    database.open()
    model = settings(scraping={"sample": {"enabled": True}})
    registry = Registry(model, (Stubborn,), sources(lab.clock), lab.clock)
    ctx = FlowContext(
        db=database,
        engine=lab.engine,
        registry=registry,
        clock=lab.clock,
        settings=lambda: model,
        policy=Policy,
        library=None,  # type: ignore[arg-type]
        tell=lambda _event: None,
    )
    define_plugins(lab.engine, ctx, registry.hooked(), {})
    yield lab
    registry.close()
    database.close()


def test_a_plugin_has_a_queue_for_each_event_that_it_hooks(stubborn: Lab) -> None:
    assert set(stubborn.engine.counts()) == {
        "riven.media-item.scrape.requested.plugin[sample]",
        "riven.core.started.plugin[sample]",
    }


def test_a_call_of_a_service_that_fails_is_made_again_after_10_and_20_seconds(stubborn: Lab) -> None:
    stubborn.engine.add(job("riven.core.started.plugin[sample]", CoreStarted()))
    calls = []
    for seconds in (0.0, 9.9, 0.1, 19.9, 0.1, 600.0):
        stubborn.after(seconds)
        calls.append(Stubborn.calls)
    assert calls == [1, 1, 2, 2, 3, 3]
    assert [(view.state, view.attempts) for view in stubborn.ended] == [(JobState.FAILED, 3)]


def allows(pattern: str, queue: str) -> bool:
    return queue.startswith(pattern.removesuffix("*")) if pattern.endswith("*") else queue == pattern


def job(queue: str, data: object) -> JobSpec:
    return JobSpec(queue=queue, name="Sintel", data=data)


def engine_of(*queues: str) -> Engine:
    """Return an engine with these queues of the pipeline, whose handlers answer with their data."""
    engine = Lab().engine
    for name in queues:
        flow = FLOWS[name]
        engine.define(
            QueueDef(name=name, input=flow.input, output=flow.output, handler=echo, children=flow.children)
        )
    return engine
