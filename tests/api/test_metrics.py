"""The page for Prometheus: every number a person would draw, with labels from short lists, and nothing without the key."""

from __future__ import annotations

from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from program.errors import Final, Transient
from program.metrics import Metrics, ProviderReading, Reading, status_label
from program.queues import ChildPolicy, Done, Job, JobSpec, Outcome, QueueDef, WaitFor
from program.services.plugin import Plugin
from tests.api.home import Home
from tests.db.library import season

Sample = dict[tuple[str, ...], float]


def page(home: Home) -> dict[str, Sample]:
    """Return each sample's value by name and the values of its labels, in the order of the labels' names."""
    answer = home.call("GET", "//metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("text/plain")
    return samples(answer.text)


def samples(text: str) -> dict[str, Sample]:
    found: dict[str, Sample] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[
                tuple(sample.labels[name] for name in sorted(sample.labels))
            ] = sample.value
    return found


def test_without_the_key_there_are_no_numbers(home: Home) -> None:
    assert home.refused("GET", "//metrics", key=None)[0] == 401
    bearer = home.call(
        "GET",
        "//metrics",
        key=None,
        headers={"Authorization": f"Bearer {home.store.current.api_key.get_secret_value()}"},
    )
    assert bearer.status_code == 200, "as Prometheus sends it"


def test_the_depth_of_every_queue_is_there_by_state(home: Home) -> None:
    home.engine.define(QueueDef(name="work", input=object, handler=lambda _: Done()))
    for name in "abc":
        home.engine.add(JobSpec(queue="work", name=name, data=name))
    home.engine.add(JobSpec(queue="work", name="d", data="d", delay=timedelta(hours=1)))
    jobs = page(home)["rivulet_queue_jobs"]
    assert (jobs["work", "waiting"], jobs["work", "delayed"], jobs["work", "active"]) == (3, 1, 0)
    assert jobs["scrape-item", "waiting"] == 0


def test_ended_jobs_are_counted_with_how_they_ended_and_how_long_they_took(home: Home) -> None:
    def handler(job: Job) -> Outcome:
        home.clock.advance(3)
        if job.name == "bad":
            raise Final("no")
        return Done()

    home.engine.define(QueueDef(name="work", input=object, handler=handler))
    for name in ("good", "bad", "good as well"):
        home.engine.add(JobSpec(queue="work", name=name, data=name))
    home.engine.run_until_idle()
    home.engine.add(JobSpec(queue="work", name="called off", data=0, dedup_id="key"))
    home.engine.remove_deduplicated("work", "key")
    told = page(home)
    ended = told["rivulet_jobs_total"]
    assert (ended["work", "completed"], ended["work", "failed"], ended["work", "removed"]) == (2, 1, 1)
    assert told["rivulet_job_run_seconds_count"][("work",)] == 3
    assert told["rivulet_job_run_seconds_sum"][("work",)] == pytest.approx(9.0)
    assert told["rivulet_job_seconds_sum"][("work",)] == pytest.approx(3 + 6 + 9)
    assert told["rivulet_job_run_seconds_bucket"]["2.0", "work"] == 0
    assert told["rivulet_job_run_seconds_bucket"]["10.0", "work"] == 3


def test_every_run_of_a_job_is_timed_but_its_end_counts_once(home: Home) -> None:
    tries = [Transient("busy"), Transient("busy"), None]

    def handler(_job: Job) -> Outcome:
        error = tries.pop(0)
        if error is not None:
            raise error
        return Done()

    home.engine.define(QueueDef(name="work", input=object, handler=handler))
    home.engine.add(JobSpec(queue="work", name="Sintel", data=0))
    for _ in range(3):
        home.engine.run_until_idle()
        home.clock.advance(60)
    told = page(home)
    assert told["rivulet_job_run_seconds_count"][("work",)] == 3
    assert told["rivulet_job_seconds_count"][("work",)] == 1


def test_what_came_too_late_and_what_pauses_is_there(home: Home) -> None:
    home.engine.define(
        QueueDef(name="work", input=object, handler=waiting, children=frozenset({"below"}), concurrency=1)
    )
    home.engine.define(QueueDef(name="below", input=object, handler=lambda _: Done(), concurrency=1))
    home.engine.rate_limit("below", home.clock.now() + timedelta(minutes=2))
    home.engine.add(JobSpec(queue="work", name="Sintel", data=0))
    home.engine.run_until_idle()
    home.clock.advance(30)
    home.engine.run_until_idle()
    told = page(home)
    assert told["rivulet_late_children_total"][("below",)] == 1
    assert told["rivulet_queue_paused_seconds"][("below",)] == 90


def test_calls_to_providers_are_there_by_status_with_their_pauses(home: Home) -> None:
    home.use(scraping={"sample": {"enabled": True, "url": "http://127.0.0.1:9"}})
    (plugin,) = [one for one in home.registry.of(Plugin) if one.key == "sample"]
    for _ in range(2):
        with pytest.raises(Transient):
            plugin.http.get("/ping")
    told = page(home)
    assert told["rivulet_provider_calls_total"]["sample", "connection"] >= 1
    assert told["rivulet_provider_calls_saved_total"]["cached", "sample"] == 0
    assert told["rivulet_provider_usable"][("sample",)] == 1
    assert told["rivulet_provider_paused_seconds"][("sample",)] >= 0


def test_the_states_of_the_library_are_there(home: Home) -> None:
    film = home.library.film()
    home.library.show(season(1))
    home.library.complete(film, film)
    told = page(home)
    assert told["rivulet_items"]["Completed", "movie"] == 1
    assert told["rivulet_items"]["Indexed", "episode"] == 2
    assert told["rivulet_database_up"] == {(): 1}


def test_the_oldest_row_that_nobody_works_on_is_there_with_its_age(home: Home) -> None:
    assert page(home)["rivulet_oldest_overdue_seconds"] == {(): 0}
    home.library.film()
    home.clock.advance(timedelta(minutes=3))
    assert page(home)["rivulet_oldest_overdue_seconds"] == {(): 180}


def test_a_row_that_is_worked_on_is_not_overdue(home: Home) -> None:
    film = home.library.film()
    home.clock.advance(timedelta(minutes=3))
    home.engine.define(QueueDef(name="process-media-item", input=object, handler=lambda _: Done()))
    spec = JobSpec(queue="process-media-item", name="Sintel", data=0, dedup_id=f"process-movie-{film}")
    home.engine.add(spec)
    assert page(home)["rivulet_oldest_overdue_seconds"] == {(): 0}


def test_the_loop_and_the_file_system_are_there(home: Home) -> None:
    told = page(home)
    assert told["rivulet_loop_lag_seconds"] == {(): 0.25}
    assert told["rivulet_loop_turns_total"] == {(): 7}
    assert told["rivulet_loop_turn_seconds_total"] == {(): 0.5}
    assert told["rivulet_vfs_bytes_read_total"] == {(): 4096}
    assert told["rivulet_vfs_errors_total"] == {(): 2}
    assert told["rivulet_vfs_files"] == {(): 3}


def test_the_process_itself_is_there(home: Home) -> None:
    assert page(home)["process_resident_memory_bytes"][()] > 1_000_000


def test_labels_come_from_short_lists_whatever_a_provider_answers() -> None:
    odd = {str(status): 1 for status in range(100, 600)} | {"timeout": 1, "nonsense": 1}
    text = Metrics().page(Reading(providers=(ProviderReading(key="sample", is_usable=True, calls=odd),)))
    calls = samples(text.decode())["rivulet_provider_calls_total"]
    assert len(calls) <= 30
    assert sum(calls.values()) == len(odd), "none is lost"
    assert [status_label(status) for status in ("429", "418", "599", "timeout", "")] == [
        "429",
        "4xx",
        "5xx",
        "timeout",
        "other",
    ]


def test_two_programs_in_one_process_count_for_themselves() -> None:
    first, second = Metrics(), Metrics()
    first.job_ended("work", "completed", timedelta(seconds=1))
    assert b'queue="work"' in first.page(Reading())
    assert b'queue="work"' not in second.page(Reading())


def waiting(job: Job) -> Outcome:
    if job.has_waited:
        return Done()
    late = JobSpec(queue="below", name="late", data=0, policy=ChildPolicy.IGNORE)
    return WaitFor((late,), deadline=timedelta(seconds=10))
