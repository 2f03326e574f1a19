"""What tests can do to the stand-ins: faults, kills, the log; and how the processes end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from program.demo.launch import ROOT, Servers
from program.demo.servers.mixes import mix
from tests.demo.conftest import SECONDS, Client
from tests.demo.test_demo_realdebrid import SINTEL, add, hash_of
from tests.support.stage import Stage
from tests.support.wait import until


def fault(servers: Servers, **facts: object) -> int:
    return int(servers.control("/faults", facts)["id"])


def test_the_log_has_every_outside_request_without_its_secrets(
    servers: Servers, tmdb: Client, torrentio: Client
) -> None:
    tmdb.get("/movie/45745")
    torrentio.get("/realdebrid=SECRET%7Csort=size/stream/movie/tt1727587.json")
    rows = servers.control("/requests")["requests"]
    assert [(one["n"], one["provider"], one["method"], one["status"]) for one in rows] == [
        (1, "tmdb", "GET", 200),
        (2, "torrentio", "GET", 200),
    ]
    assert servers.ready["tmdb"]["key"] not in str(rows)
    assert "SECRET" not in str(rows)
    assert servers.control("/counts") == {"tmdb": 1, "torrentio": 1}
    assert len(servers.control("/requests?provider=tmdb")["requests"]) == 1
    assert [one["n"] for one in servers.control("/requests?since=1")["requests"]] == [2]


def test_a_fault_strikes_the_nth_request_that_matches_and_no_other(servers: Servers, tmdb: Client) -> None:
    fault(servers, provider="tmdb", path="^/3/movie/45745", nth=2, kind="status", status=503)
    codes = [
        tmdb.get(path).status_code
        for path in ("/movie/45745", "/movie/10378", "/movie/45745", "/movie/45745")
    ]
    assert codes == [200, 200, 503, 200]
    assert servers.control("/faults")["faults"][0]["fired"] == 1
    assert [one["fault"] for one in servers.control("/requests")["requests"]] == [
        None,
        None,
        "status 503",
        None,
    ]


def test_a_fault_can_strike_every_second_request_so_many_times(servers: Servers, tmdb: Client) -> None:
    number = fault(servers, provider="tmdb", every=2, count=2, kind="status", status=500)
    assert [tmdb.get("/movie/45745").status_code for _ in range(6)] == [200, 500, 200, 500, 200, 200]
    assert servers.control(f"/faults/{number}", method="DELETE") == {"removed": 1}


@pytest.mark.parametrize("wait", [3, None])
def test_a_429_may_say_when_to_come_again(servers: Servers, tmdb: Client, wait: int | None) -> None:
    fault(servers, provider="tmdb", kind="status", status=429, retry_after=wait)
    answer = tmdb.get("/movie/45745")
    assert (answer.status_code, answer.json()["status_code"]) == (429, 25)
    assert answer.headers.get("Retry-After") == (str(wait) if wait else None)


def test_an_error_is_worded_as_its_provider_does(
    servers: Servers, realdebrid: Client, torrentio: Client, jellyfin: Client
) -> None:
    fault(servers, provider="*", kind="status", status=503)
    assert "html" in realdebrid.get("/user").headers["Content-Type"]
    assert "html" in torrentio.get("/manifest.json").headers["Content-Type"]
    assert jellyfin.get("/System/Info").content == b""
    servers.control("/faults", method="DELETE")
    fault(servers, provider="realdebrid", kind="status", status=503, code=19)
    assert realdebrid.get("/user").json() == {"error": "hoster_unavailable", "error_code": 19}


def test_html_and_an_empty_204_can_stand_in_for_json(servers: Servers, tmdb: Client) -> None:
    fault(servers, provider="tmdb", kind="html", nth=1)
    fault(servers, provider="tmdb", kind="empty", nth=2)
    first, second = tmdb.get("/movie/45745"), tmdb.get("/movie/45745")
    assert (first.status_code, first.text[:9]) == (200, "<!DOCTYPE")
    assert (second.status_code, second.content) == (204, b"")


def test_json_can_be_cut_short_within_a_sound_answer(servers: Servers, tmdb: Client) -> None:
    fault(servers, provider="tmdb", kind="truncated_json")
    answer = tmdb.get("/movie/45745")
    assert answer.headers["Content-Length"] == str(len(answer.content))
    with pytest.raises(requests.JSONDecodeError):
        answer.json()


@pytest.mark.parametrize("kind", ["cut", "wrong_length", "reset"])
def test_a_connection_can_break(servers: Servers, tmdb: Client, kind: str) -> None:
    fault(servers, provider="tmdb", kind=kind)
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        tmdb.get("/movie/45745")


def test_an_answer_can_be_late_or_never_come(servers: Servers, tmdb: Client) -> None:
    fault(servers, provider="tmdb", kind="slow", seconds=0.3, nth=1)
    fault(servers, provider="tmdb", kind="timeout", seconds=0.3, nth=2)
    assert tmdb.get("/movie/45745").elapsed.total_seconds() >= 0.3
    with pytest.raises(requests.ConnectionError):
        tmdb.get("/movie/45745")


def test_a_spoilt_answer_has_had_its_effect_and_a_refusal_has_not(
    servers: Servers, realdebrid: Client
) -> None:
    fault(servers, provider="realdebrid", method="POST", kind="cut", nth=1)
    fault(servers, provider="realdebrid", method="POST", kind="status", status=503, nth=2)
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        add(realdebrid, hash_of(servers, SINTEL))
    add(realdebrid, hash_of(servers, SINTEL))
    assert len(servers.control("/account")["torrents"]) == 1


def test_a_nonsensical_call_is_refused(servers: Servers) -> None:
    for path, body in (
        ("/faults", {"kind": "party"}),
        ("/faults", {"kind": "status", "path": "("}),
        ("/kill", {"at": 0, "when": "before", "pid": 1}),
        ("/catalog", {"op": "dance"}),
        ("/catalog", {"op": "publish", "release": "unknown"}),
        ("/options", {"cdn_expired_status": "soon"}),
    ):
        with pytest.raises(ValueError, match="detail"):
            servers.control(path, body)


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("when", "happened"), [("before", ()), ("lost", ("done",)), ("after", ("answered", "done"))]
)
def test_a_process_is_killed_at_the_planned_request(
    servers: Servers,
    realdebrid: Client,
    victim: subprocess.Popen[bytes],
    when: str,
    happened: tuple[str, ...],
) -> None:
    servers.control("/kill", {"at": 2, "when": when, "pid": victim.pid})
    realdebrid.get("/user")
    assert victim.poll() is None
    try:
        got = add(realdebrid, "ab" * 20).status_code == 201
    except requests.ConnectionError:
        got = False
    assert victim.wait(SECONDS) == -signal.SIGKILL
    assert got is ("answered" in happened)
    assert bool(servers.control("/account")["torrents"]) is ("done" in happened)
    state = servers.control("/kill")
    assert (state["fired"], state["request"]["kill"]) == (True, when)


def test_the_process_to_kill_may_be_named_later(
    servers: Servers, tmdb: Client, victim: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    servers.control("/kill", {"at": 1, "when": "before", "pid_file": str(tmp_path / "pid")})
    (tmp_path / "pid").write_text(str(victim.pid))
    with pytest.raises(requests.ConnectionError):
        tmdb.get("/movie/45745")
    assert victim.wait(SECONDS) == -signal.SIGKILL


def test_a_kill_can_wait_for_a_certain_request(
    servers: Servers, tmdb: Client, realdebrid: Client, victim: subprocess.Popen[bytes]
) -> None:
    plan = {"at": 1, "when": "lost", "pid": victim.pid, "provider": "realdebrid", "path": "addMagnet"}
    servers.control("/kill", plan)
    tmdb.get("/movie/45745")
    realdebrid.get("/user")
    assert victim.poll() is None
    with pytest.raises(requests.ConnectionError):
        add(realdebrid, "ab" * 20)
    assert victim.wait(SECONDS) == -signal.SIGKILL


@pytest.mark.parametrize("name", ["mild", "heavy"])
def test_a_mix_is_the_same_for_the_same_seed_and_the_stand_ins_take_it(servers: Servers, name: str) -> None:
    assert mix(name, 7) == mix(name, 7) != mix(name, 8)
    for one in mix(name, 7):
        fault(servers, **one)


def test_the_mild_mix_is_one_429_with_a_short_wait_a_5xx_and_one_expired_link() -> None:
    for seed in range(20):
        faults = mix("mild", seed)
        assert all(one["count"] == 1 for one in faults)
        assert [one["retry_after"] <= 3 for one in faults if one["status"] == 429] == [True]
        assert [one for one in faults if one["status"] >= 500]
        assert [one for one in faults if one["provider"] == "cdn"]


def test_a_stage_starts_the_stand_ins_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with Stage(tmp_path, settings={"updaters.plex.enabled": False}) as stage:
        pid = stage.ready["pid"]
        stage.want("movie", 45745)
        assert stage.control("/wishes")["requests"][0]["tmdb"] == 45745
        assert '"enabled": false' in (stage.installation.config / "settings.json").read_text()
    until(lambda: not Path(f"/proc/{pid}").exists(), what="the end of the stand-ins")


def test_the_stand_ins_end_with_their_parent_and_end_what_it_had_started(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import os, subprocess, sys
        from pathlib import Path
        from program.demo.launch import Servers
        folder = Path({str(tmp_path)!r})
        other = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True)
        (folder / "pid").write_text(str(other.pid))
        servers = Servers(folder / "state", folder / "mount", guard=folder / "pid")
        (folder / "servers").write_text(str(servers.ready["pid"]))
        os._exit(0)
    """)
    subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    pids = [int((tmp_path / name).read_text()) for name in ("servers", "pid")]
    until(lambda: not any(map(is_alive, pids)), timeout=20, what="the end of both")


def is_alive(pid: int) -> bool:
    """Tell a running process from one that is gone or waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
