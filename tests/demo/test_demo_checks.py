"""The demo's checks see every way in which a library can be wrong."""

from __future__ import annotations

import io
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from program.demo import checks, needs
from program.demo.catalog import load_catalog
from program.demo.clips import Clip, ClipStore, default_cache
from program.demo.launch import Servers
from program.demo.titles import Progress, Title
from tests.demo.conftest import Client
from tests.demo.test_demo_realdebrid import SINTEL, SLOW, add, hash_of

FOLDER = "movies/Sintel (2010) {tmdb-45745} [tmdbid=45745]"
FILM = f"{FOLDER}/Sintel (2010) {{tmdb-45745}} [tmdbid=45745] - 1080p.mkv"
EPISODE = "shows/Pioneer One (2010) {tvdb-170551} [tvdbid=170551]/Season 02/Pioneer One (2010) - s02e01.mkv"
SINTEL_DONE = Title("movie 45745", "Sintel (2010)", "Completed", None)
EPISODE_DONE = Title("show 170551 s02e01", "Pioneer One s02e01", "Completed", None)
QUARANTINE = "Pioneer.One.S02E01.Quarantine.1080p.WEB.H264-OPEN"
WRONG_YEAR = "Sintel.2013.1080p.BluRay.x264.TrueHD-REDUX"


def clip_of(release: str, kind: str = "feature") -> Clip:
    found = load_catalog(datetime.now(UTC)).find_release(release)
    assert found is not None
    return ClipStore(default_cache()).clip(next(file.clip for file in found.files if file.kind == kind))


def put(library: Path, path: str, clip: Clip) -> Path:
    target = library / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(clip.path, target)
    return target


def verdict(servers: Servers, library: Path, *titles: Title) -> checks.Verdict:
    origins = servers.control("/origins")["files"]
    return checks.check_files(checks.look(library), servers.control("/catalog"), origins, titles)


def test_the_right_files_pass(servers: Servers, tmp_path: Path) -> None:
    put(tmp_path, FILM, clip_of(SINTEL))
    put(tmp_path, EPISODE, clip_of(QUARANTINE, "episode"))
    assert verdict(servers, tmp_path, SINTEL_DONE, EPISODE_DONE) == checks.Verdict(2, ())


@pytest.mark.parametrize("release", [WRONG_YEAR, "Spring.2019.1080p.WEB-DL.AAC2.0.H.264-OPEN"])
def test_another_release_in_the_place_of_a_film_is_seen(
    servers: Servers, tmp_path: Path, release: str
) -> None:
    put(tmp_path, FILM, clip_of(release))
    found = verdict(servers, tmp_path, SINTEL_DONE)
    assert found.verified == 0
    assert "not those of a release that is right" in found.problems[0]


def test_a_single_wrong_byte_is_seen(servers: Servers, tmp_path: Path) -> None:
    target = put(tmp_path, FILM, clip_of(SINTEL))
    with target.open("r+b") as file:
        file.seek(300_000)
        file.write(b"\0\1\2\3")
    assert verdict(servers, tmp_path, SINTEL_DONE).verified == 0


def test_a_sample_in_the_place_of_a_film_is_seen(servers: Servers, tmp_path: Path) -> None:
    put(tmp_path, FILM, clip_of(SINTEL, "sample"))
    assert verdict(servers, tmp_path, SINTEL_DONE).verified == 0


def test_a_completed_title_without_a_file_is_seen(servers: Servers, tmp_path: Path) -> None:
    assert verdict(servers, tmp_path, SINTEL_DONE).problems == (
        "movie 45745 is Completed and has no file that is right",
    )


def test_a_file_too_many_is_seen(servers: Servers, tmp_path: Path) -> None:
    put(tmp_path, FILM, clip_of(SINTEL))
    put(tmp_path, FILM.replace("1080p", "720p"), clip_of("Sintel 2010 720p WEB-DL x264 AAC-CC"))
    put(tmp_path, EPISODE, clip_of(QUARANTINE, "episode"))
    found = verdict(servers, tmp_path, SINTEL_DONE)
    assert sorted(problem.partition(": ")[2] for problem in found.problems) == [
        "it belongs to no title that is Completed",
        "its title has another file already",
    ]


def test_a_file_that_cannot_be_read_is_seen(servers: Servers, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FILM).symlink_to("/nowhere")
    assert "FileNotFoundError" in verdict(servers, tmp_path, SINTEL_DONE).problems[0]


def test_an_account_with_only_right_torrents_once_is_fine(servers: Servers, realdebrid: Client) -> None:
    torrent = add(realdebrid, hash_of(servers, SINTEL)).json()["id"]
    realdebrid.post(f"/torrents/selectFiles/{torrent}", data={"files": "3"})
    assert checks.check_account(servers) == []


def test_a_torrent_twice_a_wrong_one_and_an_unfinished_one_on_the_account_are_seen(
    servers: Servers, realdebrid: Client
) -> None:
    for name in (SINTEL, SINTEL, WRONG_YEAR, SLOW):
        torrent = add(realdebrid, hash_of(servers, name)).json()["id"]
        realdebrid.post(f"/torrents/selectFiles/{torrent}", data={"files": "1"})
    found = checks.check_account(servers)
    assert [problem.rpartition(", which ")[2] for problem in found[:2]] == [
        "nobody wants",
        "is not there yet",
    ]
    assert "more than once" in found[2]


def test_a_media_server_that_lacks_a_file_is_named(servers: Servers, library: Path, plex: Client) -> None:
    put(library, FILM, clip_of(SINTEL))
    rows = checks.look(library)
    assert [problem.split()[0] for problem in checks.check_media_servers(servers, library, rows)] == [
        "plex",
        "jellyfin",
    ]


@pytest.mark.parametrize(("shown", "wrong"), [("air", 0), ("2001-01-01T00:00:00Z", 1), (None, 1)])
def test_an_unreleased_episode_must_show_its_date(servers: Servers, shown: str | None, wrong: int) -> None:
    catalog = servers.control("/catalog")
    aired = next(
        one["aired"] for one in catalog["shows"][0]["episodes"] if (one["season"], one["number"]) == (2, 4)
    )
    date = f"{aired}T23:30:00Z" if shown == "air" else shown
    title = Title("show 170551 s02e04", "Pioneer One s02e04", "Unreleased", date)
    assert len(checks.check_unreleased([title], catalog)) == wrong


def test_progress_prints_a_line_for_each_change_when_nobody_watches() -> None:
    out = io.StringIO()
    progress = Progress(out)
    progress.show([Title("movie 1", "Sintel", "Requested", None)], 0.5)
    progress.show([Title("movie 1", "Sintel", "Requested", None)], 0.7)
    progress.show([Title("movie 1", "Sintel", "Completed", None)], 1.5)
    assert out.getvalue().splitlines() == [
        "  0.5 s  Sintel: Requested",
        "  1.5 s  Sintel: Requested → Completed",
    ]


def test_progress_draws_one_table_on_a_terminal() -> None:
    leader, follower = os.openpty()
    with os.fdopen(follower, "w") as terminal:
        progress = Progress(terminal)
        progress.show([Title("movie 1", "Sintel", "Requested", None)], 0.5)
        progress.show([Title("movie 1", "Sintel", "Completed", None)], 1.5)
        seen = ""
        while "1 of 1 settled" not in seen:
            seen += os.read(leader, 10_000).decode()
    os.close(leader)
    assert "\x1b[2A" in seen


def test_this_machine_lacks_nothing() -> None:
    assert needs.missing() == []


def test_missing_tools_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sentences = needs.missing()
    assert "ffmpeg and ffprobe cannot be found: apt-get install ffmpeg" in sentences[0]
    assert "fusermount cannot be found" in sentences[1]
