"""`main.py check` and `main.py show`: what they print of an installation that is well, and of one that is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from program.db.connect import engine_for
from program.db.url import parse
from tests.faults.killing import SETTINGS, ask_for_everything, is_complete
from tests.support.commands import command, write_settings
from tests.support.stage import Stage

REACH = "who sees the mount"
PROVIDERS = ("overseerr", "realdebrid", "tmdb", "tvdb", "torrentio", "plex", "jellyfin")


def lines_of(out: str) -> dict[str, tuple[str, str]]:
    """Return, by subject, the level and the sentence of each line that `check` printed."""
    found = {}
    for line in out.strip().splitlines():
        level, _, rest = line.partition(" ")
        subject, _, sentence = rest.strip().partition(": ")
        found[subject.rpartition(".")[2]] = (level, sentence)
    return found


def test_an_installation_that_is_well_is_told_so_before_and_while_it_runs(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        config = stage.installation.config
        before = command(config, "check")
        assert (before.code, before.err) == (0, "")
        lines = lines_of(before.out)
        # Whether containers would see the mount is this machine's affair.
        lines.pop(REACH, None)
        assert {level for level, _ in lines.values()} == {"ok"}
        assert set(lines) == {"settings", "database", "mount", *PROVIDERS}
        stage.start_program()
        while_running = command(config, "check", "--json")
        assert while_running.code == 0
        found = {one["subject"]: one for one in json.loads(while_running.out)}
        found.pop(REACH, None)
        assert {one["level"] for one in found.values()} == {"ok"}
        assert "mounted by the running Rivulet" in found["mount"]["sentence"]


def test_everything_that_is_wrong_is_told_at_once_without_secrets(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        (stage.mount / "holiday.mkv").write_bytes(b"mine")
        stage.fault("tmdb", "status", status=401)
        stage.fault("realdebrid", "status", status=403, code=9)
        stage.fault("overseerr", "html")
        stage.fault("jellyfin", "truncated_json")
        stage.fault("torrentio", "status", status=503)
        stage.fault("tvdb", "reset")
        stage.fault("plex", "status", status=429, retry_after=600)
        ended = command(stage.installation.config, "check")
        assert (ended.code, ended.err) == (1, "")
        lines = lines_of(ended.out)
        assert {subject for subject, (level, _) in lines.items() if level == "ok"} == {"settings", "database"}
        expected = {
            "mount": "is not empty",
            "tmdb": "api_key: is refused",
            "realdebrid": "api_key: is refused",
            "overseerr": "a web page where JSON is due",
            "jellyfin": "JSON",
            "torrentio": "503",
            "tvdb": "the connection broke off",
            "plex": "429",
        }
        wrong = {subject: word for subject, word in expected.items() if word not in lines[subject][1]}
        assert wrong == {}, ended.out
        assert ended.out.startswith("wrong"), "what is wrong comes first"
        keys = [
            service["key"]
            for service in stage.ready.values()
            if isinstance(service, dict) and "key" in service
        ]
        assert not [key for key in keys if key in ended.out]


def test_settings_that_cannot_be_read_are_all_that_is_told(tmp_path: Path) -> None:
    config = write_settings(tmp_path, {"api.port": "x", "vfs.memory_mib": 1})
    ended = command(config, "check", "--json")
    assert ended.code == 1
    [found] = json.loads(ended.out)
    assert found["subject"] == "settings"
    assert "api.port" in found["sentence"]
    assert "vfs.memory_mib" in found["sentence"]


def test_a_broken_database_is_told_with_what_is_broken(tmp_path: Path) -> None:
    config = write_settings(tmp_path, {})
    assert command(config, "check").code == 0
    engine = engine_for(parse(f"sqlite:///{config / 'rivulet.db'}"))
    with engine.connect().execution_options(rivulet_writes=True) as connection:
        columns = "infohash, path_in_torrent, original_name, size, path, version, created_at"
        values = "'00', 'a.mkv', 'a.mkv', 1, '/movies/a.mkv', '1080p', '2031-01-01 00:00:00.000000'"
        connection.execute(text(f"INSERT INTO media_entry ({columns}) VALUES ({values})"))  # noqa: S608
        connection.commit()
    engine.dispose()
    ended = command(config, "check")
    assert ended.code == 1
    assert lines_of(ended.out)["database"] == ("wrong", "file 1 belongs to no film or episode")


@pytest.mark.slow
def test_the_story_of_a_title_is_told_from_the_wish_to_its_end(tmp_path: Path) -> None:
    with Stage(tmp_path, settings=SETTINGS) as stage:
        config = stage.installation.config
        ask_for_everything(stage)
        stage.start_program()
        stage.wait_for(lambda: is_complete(stage), 60.0, "the library")
        rows = stage.api("GET", "/items?type=movie&type=episode&type=season&limit=100").data["items"]
        film = next(row["id"] for row in rows if row["title"] == "Tears of Steel")
        season = next(row["id"] for row in rows if row["type"] == "season" and row["season_number"] == 1)

        told = command(config, "show", str(film))
        assert (told.code, told.err) == (0, "")
        assert told.out.startswith("Tears of Steel (2012) is Completed")
        steps = [line.split(":")[2].split("  ")[1] for line in told.out.splitlines() if line.startswith("2")]
        assert [step for step in steps if step != "confirm"] == [
            *("request", "index", "scrape", "download", "complete", "post-process")
        ]
        assert "SEQUEL: is Tears of Steel 2, another part than Tears of Steel" in told.out
        assert "PACKED: Real-Debrid: the torrent holds no video" in told.out

        story = json.loads(command(config, "show", str(season), "--json").out)
        assert story["title"] == "Pioneer One, season 1"
        assert story["state"] == "Completed"
        assert next(row["step"] for row in story["timeline"]) == "scrape"

        unknown = command(config, "show", "999")
        assert (unknown.code, unknown.out) == (2, "")
        assert unknown.sentence == "rivulet: no item has the id 999"
