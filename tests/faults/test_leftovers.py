"""Torrents on the account of which a kill left us in doubt: ours go when they are not needed, the user's own stay."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.db import torrents
from program.demo.launch import Servers
from program.services.downloaders.realdebrid import RealDebrid
from program.services.flows import tidy_account
from tests.support.pipeline import Pipeline
from tests.support.providers import make

TEARS = 133701
PACKED = "Tears.of.Steel.2012.1080p.BluRay.x264.TrueHD.5.1-PACKED"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def infohash_of(servers: Servers, name: str) -> str:
    releases = servers.control("/catalog")["releases"]
    return str(next(one["infohash"] for one in releases if one["name"] == name))


def add_to_account(servers: Servers, name: str) -> None:
    """Add a torrent whose id nobody hears of."""
    ready = servers.ready["realdebrid"]
    debrid = make(RealDebrid, ready["url"], api_key=ready["key"])
    debrid.http.post(
        "/torrents/addMagnet", form={"magnet": f"magnet:?xt=urn:btih:{infohash_of(servers, name)}"}
    )


def names_on_account(servers: Servers) -> list[str]:
    return sorted(one["filename"] for one in servers.control("/account")["torrents"])


def intend(pipeline: Pipeline, servers: Servers, item: int, name: str) -> None:
    with pipeline.db.write() as tx:
        torrents.intend(tx, "realdebrid", infohash_of(servers, name), item, pipeline.clock.now())


def half_made(pipeline: Pipeline) -> int:
    with pipeline.db.read() as tx:
        return len(torrents.half_made(tx))


def test_what_was_added_just_before_a_kill_is_deleted_when_it_does_not_do(
    pipeline: Pipeline, servers: Servers
) -> None:
    film = pipeline.add_movie(TEARS)
    intend(pipeline, servers, film, PACKED)
    add_to_account(servers, PACKED)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"
    assert names_on_account(servers) == ["Tears.of.Steel.2012.1080p.WEB-DL.DDP5.1.H.264-OPEN"]
    assert half_made(pipeline) == 0


def test_what_the_user_added_before_us_stays_also_when_it_does_not_do(
    pipeline: Pipeline, servers: Servers
) -> None:
    add_to_account(servers, PACKED)
    pipeline.clock.advance(300)
    film = pipeline.add_movie(TEARS)
    intend(pipeline, servers, film, PACKED)
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"
    assert PACKED in names_on_account(servers)
    assert half_made(pipeline) == 0


def test_what_was_added_just_before_a_kill_is_cleared_up_when_nobody_wants_it_any_more(
    pipeline: Pipeline, servers: Servers
) -> None:
    film = pipeline.add_movie(TEARS)
    intend(pipeline, servers, film, PACKED)
    add_to_account(servers, PACKED)
    pipeline.actions.remove([film])
    pipeline.engine.add(tidy_account.job())
    pipeline.run(for_=MINUTE)
    assert names_on_account(servers) == []
    assert half_made(pipeline) == 0


@pytest.mark.parametrize("fault", [{"status": 503}, {"status": 429, "retry_after": 600}])
def test_a_torrent_that_could_not_be_deleted_is_not_forgotten(
    pipeline: Pipeline, servers: Servers, fault: dict[str, int]
) -> None:
    film = pipeline.add_movie(TEARS)
    intend(pipeline, servers, film, PACKED)
    add_to_account(servers, PACKED)
    pipeline.actions.remove([film])
    servers.control("/faults", {"provider": "realdebrid", "kind": "status", **fault})
    pipeline.engine.add(tidy_account.job())
    pipeline.run(for_=5 * MINUTE)
    assert half_made(pipeline) == 1
    servers.control("/faults", method="DELETE")
    pipeline.run(for_=20 * MINUTE, step=MINUTE)
    pipeline.engine.add(tidy_account.job())
    pipeline.run(for_=MINUTE)
    assert names_on_account(servers) == []
    assert half_made(pipeline) == 0
