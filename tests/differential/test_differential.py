"""Our queue engine beside BullMQ, which the specification describes: the same scenarios, the same observable sequence.

Where the two differ the scenario says why. In `make test` our engine is held to the traces that were taken of both; `make test-all`
plays everything on BullMQ with a real Redis again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.ours import play
from tests.differential.redis_server import redis_server
from tests.differential.scenarios import SCENARIOS, Scenario
from tests.differential.traces import FOLDER, departing, file_of, kept

ALIKE = [one for one in SCENARIOS if one.departure is None]
DEPARTING = [one for one in SCENARIOS if one.departure is not None]


PAGE = Path(__file__).parents[2] / "docs" / "decisions" / "0017-where-the-queue-differs-from-bullmq.md"


def named(scenario: Scenario) -> str:
    return scenario.name


@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
def test_our_engine_does_as_when_the_trace_was_taken(scenario: Scenario) -> None:
    assert play(scenario) == kept(scenario).ours


@pytest.mark.parametrize("scenario", ALIKE, ids=named)
def test_our_engine_does_as_bullmq_did(scenario: Scenario) -> None:
    trace = kept(scenario)
    assert play(scenario) == trace.bullmq
    assert trace.departure is None


@pytest.mark.parametrize("scenario", DEPARTING, ids=named)
def test_a_departure_is_one_and_has_its_reason(scenario: Scenario) -> None:
    trace = kept(scenario)
    assert trace.ours != trace.bullmq, "it is none: take the reason away"
    assert trace.departure == scenario.departure


def test_every_trace_belongs_to_a_scenario() -> None:
    assert set(FOLDER.glob("*.json")) == {file_of(scenario) for scenario in SCENARIOS}


def test_the_page_of_departures_names_each_of_them() -> None:
    flat = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert not [one.name for one in DEPARTING if one.name not in flat or (one.departure or "") not in flat]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_bullmq_with_a_real_redis_does_as_the_traces_say(tmp_path: Path) -> None:
    with redis_server(tmp_path) as port:
        expected = {scenario.name: kept(scenario).bullmq for scenario in SCENARIOS}
        assert departing(port, expected, SCENARIOS) == {}
