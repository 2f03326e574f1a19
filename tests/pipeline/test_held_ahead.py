"""A debrid service that says what it holds is asked once for all releases, and then only for what it has."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from program.demo.launch import Servers
from tests.support.pipeline import Pipeline

BUNNY, BUNNY_IMDB = 10378, "tt1254207"
# Ranks first, and nobody holds it.
SLOW = "Big.Buck.Bunny.2008.1080p.BluRay.x264.TrueHD.5.1-SLOW"
MINUTE = timedelta(minutes=1)
ONLY_TORBOX = {"downloaders__realdebrid__enabled": False, "downloaders__torbox__enabled": True}


def asked(servers: Servers, what: str) -> list[dict[str, Any]]:
    """Return the requests to the service whose path ends so."""
    requests = servers.control("/requests?provider=torbox")["requests"]
    return [one for one in requests if one["path"].partition("?")[0].endswith(what)]


def test_a_release_that_is_not_held_costs_no_call_of_its_own(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    pipeline = make_pipeline(**ONLY_TORBOX)
    film = pipeline.add_movie(BUNNY)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"
    (taken,) = [row for row in pipeline.story(film) if row.outcome == "taken"]
    tried = {one["release"]: one["why"] for one in taken.data["tried"]}
    assert tried[SLOW] == "TorBox: does not hold it"
    first, *single = asked(servers, "/checkcached")
    assert first["path"].count(",") + first["path"].count("%2C") >= len(tried)
    held = [why for why in tried.values() if why != "TorBox: does not hold it"]
    assert len(single) == len(held) + 1, "those that it holds, until one fits"


def test_a_film_of_which_nothing_is_held_is_searched_again_and_nothing_was_added(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    servers.control("/catalog", {"op": "availability", "title": BUNNY_IMDB, "value": "uncached"})
    pipeline = make_pipeline(**ONLY_TORBOX)
    film = pipeline.add_movie(BUNNY)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Indexed"
    assert len(asked(servers, "/checkcached")) == 1
    assert asked(servers, "/createtorrent") == []
    (story,) = [row for row in pipeline.story(film) if row.outcome == "none_available"]
    assert {one["why"] for one in story.data["tried"]} == {"TorBox: does not hold it"}
    assert pipeline.item(film).schedule.next_attempt_at is not None


def test_a_service_that_does_not_say_what_it_holds_is_asked_for_each(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    servers.control("/faults", {"provider": "torbox", "path": "checkcached", "kind": "html", "count": 1})
    pipeline = make_pipeline(**ONLY_TORBOX)
    film = pipeline.add_movie(BUNNY)
    pipeline.run(for_=5 * MINUTE)
    assert pipeline.state(film) == "Completed"
