"""Telling events: whom it reaches, and what nobody hooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from program.bus import Bus
from program.events import CoreShutdown, CoreStarted, Event, IndexSuccess, ScrapeRequested, Told
from program.plugins import Registry
from program.queues import Done, Job, JobState, Outcome
from program.queues.queue import QueueDef
from program.services.flows import names
from program.services.plugin import Hook
from tests.support.queues import Lab
from tests.support.sample_plugin import Sample, SecondSample, settings, sources


class Hearing(Sample):
    """Hooks two events."""

    def hooks(self) -> Mapping[str, Hook]:
        return dict.fromkeys((CoreStarted.type, IndexSuccess.type), self.hear)

    def hear(self, _event: object) -> None:
        """Hear it."""


class AlsoHearing(SecondSample):
    """Hooks one of them."""

    def hooks(self) -> Mapping[str, Hook]:
        return {CoreStarted.type: self.hear}

    def hear(self, _event: object) -> None:
        """Hear it."""


class Room:
    """An engine with the queues of two plugins, and a bus that tells them."""

    def __init__(self) -> None:
        self.lab = Lab()
        both = {"sample": {"enabled": True}, "other": {"enabled": True}}
        self.registry = Registry(
            settings(scraping=both), (Hearing, AlsoHearing), sources(self.lab.clock), self.lab.clock
        )
        for plugin, events in self.registry.hooked():
            for event in events:
                queue = names.plugin_queue(event, plugin.key)
                self.lab.engine.define(QueueDef(name=queue, input=Event, handler=self._hear))
        self.heard: list[tuple[str, object]] = []
        self.bus = Bus(self.lab.engine, self.registry, self.lab.clock)

    def _hear(self, job: Job) -> Outcome:
        self.heard.append((job.queue, job.data))
        return Done(None)

    def waiting(self) -> dict[str, int]:
        counts = self.lab.engine.counts()
        return {queue: n for queue, states in counts.items() if (n := states[JobState.WAITING])}


@pytest.fixture
def room() -> Iterator[Room]:
    found = Room()
    yield found
    found.registry.close()


def test_an_event_goes_into_the_queue_of_each_plugin_that_hooks_it(room: Room) -> None:
    event = CoreStarted()
    room.bus.publish(event)
    queues = ["riven.core.started.plugin[other]", "riven.core.started.plugin[sample]"]
    assert room.waiting() == dict.fromkeys(queues, 1)
    room.lab.engine.run_until_idle()
    assert sorted(room.heard, key=str) == [(queue, event) for queue in queues]


def test_an_event_that_nobody_hooks_is_enqueued_nowhere(room: Room) -> None:
    room.bus.publish(CoreShutdown())
    assert room.waiting() == {}
    assert room.bus.publish_and_wait(CoreShutdown(), 0.0)
    # One that hooked it is switched off; its queue is still there.
    room.registry.rebuild(settings(scraping={"other": {"enabled": True}}))
    room.bus.publish(IndexSuccess())
    assert room.waiting() == {}


def test_what_is_worth_telling_is_what_somebody_hooks(room: Room) -> None:
    assert room.registry.publishable() == {CoreStarted.type, IndexSuccess.type}
    room.registry.rebuild(settings(scraping={"other": {"enabled": True}}))
    assert room.registry.publishable() == {CoreStarted.type}
    assert ScrapeRequested.type not in room.registry.publishable()


def test_the_programs_own_listeners_hear_every_event_at_once(room: Room) -> None:
    heard: list[Told] = []
    room.bus.listen(heard.append)
    told = [CoreStarted(), CoreShutdown()]
    for event in told:
        room.bus.publish(event)
    assert heard == told
