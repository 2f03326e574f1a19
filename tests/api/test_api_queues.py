"""The queues as a person sees them: what stands where, what runs, what failed and why; and what can be done about it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

from program.errors import Final, Transient
from program.log import hide
from program.queues import (
    ChildPolicy,
    Delay,
    Done,
    Job,
    JobSpec,
    JobState,
    Outcome,
    Priority,
    QueueDef,
    WaitFor,
)
from program.services.flows import names
from program.services.flows.process_media_item import MediaItemJob
from tests.api.home import Home

PLUGIN_QUEUE = "riven.media-item.scrape.requested.plugin[sample]"


def test_jobs_are_counted_by_queue_and_state(home: Home) -> None:
    home.engine.add(item_job("Sintel"))
    counts = home.get("/queues")["queues"]
    assert counts[names.PROCESS_MEDIA_ITEM]["waiting"] == 1
    assert counts[names.SCRAPE_ITEM] == {
        "waiting": 0,
        "delayed": 0,
        "active": 0,
        "waiting-children": 0,
        "completed": 0,
        "failed": 0,
    }


def test_the_jobs_of_a_queue_are_listed_in_the_order_of_their_turns(home: Home) -> None:
    home.engine.add(item_job("Sintel", 1))
    home.engine.add(item_job("Cosmos Laundromat", 2, priority=Priority.FRONT))
    first, second = home.get(f"/queues/{names.PROCESS_MEDIA_ITEM}/jobs")["jobs"]
    assert (first["name"], first["state"], first["priority"]) == ("Cosmos Laundromat", "waiting", "front")
    assert (second["name"], second["priority"]) == ("Sintel", "normal")


def test_what_runs_is_shown_with_its_age_the_longest_first(home: Home) -> None:
    seen: list[dict[str, Any]] = []

    def look(job: Job) -> Outcome:
        home.clock.advance(7)
        if job.name == "first":
            home.engine.run_one()
        else:
            seen.append(home.get("/queues"))
        return Done()

    work(home, look, concurrency=2)
    add(home, "first")
    add(home, "second")
    home.engine.run_one()
    (overview,) = seen
    assert [(job["name"], job["running"], job["age"]) for job in overview["running"]] == [
        ("first", 14.0, 14.0),
        ("second", 7.0, 14.0),
    ]
    assert home.get("/queues")["running"] == []


def test_what_is_delayed_is_shown_with_the_reason_the_next_first(home: Home) -> None:
    waits = {"soon": 5, "later": 60}
    work(home, lambda job: Delay(home.clock.now() + timedelta(seconds=waits[job.name]), f"come {job.name}"))
    add(home, "later")
    add(home, "soon")
    home.engine.run_until_idle()
    delayed = home.get("/queues")["delayed"]
    assert [(job["queue"], job["name"], job["reason"]) for job in delayed] == [
        ("work", "soon", "come soon"),
        ("work", "later", "come later"),
    ]
    assert delayed[0]["run_at"] == "2031-05-01T12:00:05.000Z"


def test_the_last_failures_are_shown_with_error_and_attempts(home: Home) -> None:
    hide(["key-of-a-provider-0001"])
    work(home, failing(Transient("no answer within 20 s from http://h/?apikey=key-of-a-provider-0001")))
    add(home, "old", attempts=1)
    home.engine.run_until_idle()
    home.clock.advance(60)
    add(home, "new", attempts=3)
    for _ in range(3):
        home.engine.run_until_idle()
        home.clock.advance(60)
    failed = home.get("/queues")["failed"]
    assert [(job["name"], job["attempts"]) for job in failed] == [("new", 3), ("old", 1)]
    assert failed[0]["error"].startswith("no answer within 20 s")
    assert "key-of-a-provider" not in failed[0]["error"]


def test_a_paused_queue_is_named(home: Home) -> None:
    work(home, failing(Final("no")))
    home.engine.rate_limit("work", home.clock.now() + timedelta(minutes=1))
    assert home.get("/queues")["paused"] == {"work": "2031-05-01T12:01:00.000Z"}


def test_jobs_can_be_asked_for_by_state(home: Home) -> None:
    work(home, lambda job: Done() if job.name == "good" else fail())
    for name in ("good", "bad", "worse"):
        add(home, name)
    home.engine.run_until_idle()
    assert names_of(home, "?state=completed") == ["good"]
    assert names_of(home, "?state=failed") == ["worse", "bad"]
    assert names_of(home, "?state=failed&state=completed&limit=2") == ["worse", "bad"]
    assert names_of(home, "?state=waiting") == []
    status, detail = home.refused("GET", "/queues/work/jobs?state=sleeping")
    assert status == 422
    assert "state" in detail
    assert "'waiting'" in detail


def test_a_parent_says_how_many_it_waits_for(home: Home) -> None:
    work(home, lambda job: Done() if job.has_waited else WaitFor((child("a"), child("b"))))
    home.engine.define(QueueDef(name="below", input=object, handler=lambda _: Done()))
    add(home, "parent")
    home.engine.run_one()
    (parent,) = home.get("/queues/work/jobs?state=waiting-children")["jobs"]
    assert parent["waiting_for"] == 2
    home.engine.run_until_idle()
    assert names_of(home, "?state=completed") == ["parent"]


def test_a_failed_job_is_tried_again_as_it_was_added(home: Home) -> None:
    outcomes = [Final("no"), None]
    work(home, lambda _: Done() if (error := outcomes.pop(0)) is None else fail(error))
    job_id = add(home, "Sintel", dedup_id="key")
    home.engine.run_until_idle()
    answer = home.post(f"/queues/work/jobs/{job_id}/retry")
    assert answer["id"] != job_id
    assert names_of(home, "?state=failed") == []
    assert home.engine.held("work") == {"key"}
    home.engine.run_until_idle()
    assert names_of(home, "?state=completed") == ["Sintel"]
    assert home.engine.held("work") == frozenset()


def test_a_failed_job_whose_key_another_holds_is_not_tried_again(home: Home) -> None:
    work(home, failing(Final("no")))
    job_id = add(home, "Sintel", dedup_id="key")
    home.engine.run_until_idle()
    add(home, "Sintel", dedup_id="key")
    assert home.refused("POST", f"/queues/work/jobs/{job_id}/retry") == (409, "work: key is already at work")
    assert names_of(home, "?state=failed") == ["Sintel"], "it is still there"


def test_only_failed_jobs_can_be_tried_again(home: Home) -> None:
    work(home, lambda _: Done())
    job_id = add(home, "Sintel")
    assert home.refused("POST", f"/queues/work/jobs/{job_id}/retry") == (
        404,
        f"work has no failed job {job_id}",
    )
    assert home.refused("POST", "/queues/work/jobs/j999/retry")[0] == 404


def test_nothing_is_tried_again_while_the_program_stops(home: Home) -> None:
    work(home, failing(Final("no")))
    job_id = add(home, "Sintel")
    home.engine.run_until_idle()
    home.engine.drain(0.0)
    answer = home.call("POST", f"/queues/work/jobs/{job_id}/retry")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")


def test_a_job_is_removed_with_its_children_and_its_key(home: Home) -> None:
    work(home, lambda job: Done() if job.has_waited else WaitFor((child("a"),)))
    home.engine.define(QueueDef(name="below", input=object, handler=lambda _: Done()))
    job_id = add(home, "parent", dedup_id="key")
    home.engine.run_one()
    assert home.call("DELETE", f"/queues/work/jobs/{job_id}").status_code == 200
    assert home.engine.counts()["below"][JobState.WAITING] == 0
    assert home.engine.held("work") == frozenset()
    assert home.refused("DELETE", f"/queues/work/jobs/{job_id}") == (404, f"work has no job {job_id}")


def test_the_queue_of_a_plugin_can_be_named_in_a_path(home: Home) -> None:
    home.engine.define(QueueDef(name=PLUGIN_QUEUE, input=object, handler=failing(Final("no"))))
    job_id = home.engine.add(JobSpec(queue=PLUGIN_QUEUE, name="Sintel", data=None)).job_id
    home.engine.run_until_idle()
    path = f"/queues/{quote(PLUGIN_QUEUE, safe='')}/jobs"
    assert [job["error"] for job in home.get(path)["jobs"]] == ["no"]
    assert home.post(f"{path}/{job_id}/retry")["message"] == "It is tried again"


def test_a_queue_that_is_not_there_is_said_so(home: Home) -> None:
    for method, path in (("GET", ""), ("POST", "/j1/retry"), ("DELETE", "/j1")):
        assert home.refused(method, f"/queues/none/jobs{path}") == (404, "there is no queue none")


def item_job(title: str, item_id: int = 1, **more: Any) -> JobSpec:
    data = MediaItemJob(item_id, item_id, title, ())
    return JobSpec(queue=names.PROCESS_MEDIA_ITEM, name=title, data=data, **more)


def work(home: Home, handler: Any, **more: Any) -> None:
    """Define a queue `work` whose jobs do what `handler` says."""
    below = frozenset({"below"})
    home.engine.define(QueueDef(name="work", input=object, handler=handler, children=below, **more))


def add(home: Home, name: str, **more: Any) -> str:
    return home.engine.add(JobSpec(queue="work", name=name, data=name, **more)).job_id


def child(name: str) -> JobSpec:
    return JobSpec(queue="below", name=name, data=name, policy=ChildPolicy.IGNORE)


def failing(error: Exception) -> Any:
    def handler(_job: Job) -> Outcome:
        raise error

    return handler


def fail(error: Exception | None = None) -> Outcome:
    raise error or Final("no")


def names_of(home: Home, query: str) -> list[str]:
    return [job["name"] for job in home.get(f"/queues/work/jobs{query}")["jobs"]]
