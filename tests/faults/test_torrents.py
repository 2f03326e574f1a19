"""Torrents that are not what their names promise, and names that no file system takes as they are."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

from program.demo.inspect_mount import files_below, hash_of
from program.demo.launch import Servers
from tests.support.pipeline import Pipeline
from tests.support.stage import Stage

TEARS, TEARS_IMDB = 133701, "tt2285752"
SINTEL = 45745
LONG = ("Snö över Åmål " * 40).encode()[:300].decode(errors="ignore").strip()
NO_SERVERS = {"updaters.jellyfin.enabled": False, "updaters.plex.enabled": False}


def release(name: str, *files: list[Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "seeders": 900, "files": list(files), **more}


def tried(pipeline: Pipeline, film: int) -> dict[str, str]:
    """Return, by release, why it was not taken."""
    rows = [row for row in pipeline.story(film) if row.step == "download"]
    attempts: list[dict[str, str]] = [one for row in rows for one in row.data["tried"]]  # type: ignore[union-attr, misc]
    return {one["release"]: one["why"] for one in attempts}


def only(servers: Servers, row: dict[str, Any]) -> None:
    """Let a search for Tears of Steel find this release and nothing else."""
    servers.control("/catalog", {"op": "withdraw", "title": TEARS_IMDB})
    servers.control("/catalog", {"op": "add_release", "imdb": TEARS_IMDB, "row": row})


def test_a_torrent_without_a_video_is_named_deleted_and_not_tried_again(
    pipeline: Pipeline, servers: Servers
) -> None:
    name = "Tears.of.Steel.2012.1080p.BluRay.x264-TEXTS"
    only(servers, release(name, ["readme.txt", "text"], ["film.r00", "blob"]))
    film = pipeline.add_movie(TEARS)
    pipeline.run()
    assert tried(pipeline, film) == {name: "Real-Debrid: the torrent holds no video"}
    item = pipeline.item(film)
    assert item.last_state.value == "Indexed"
    assert item.schedule.next_attempt_at is not None, "it will be searched again"
    assert item.facts.failed_at is None
    assert servers.control("/account")["torrents"] == []
    [searched] = [row for row in pipeline.story(film) if row.outcome == "none_available"]
    assert searched.sentence == "The only candidate of Tears of Steel cannot be had; searching again."


def test_a_torrent_whose_files_are_of_another_film_is_named_and_deleted(
    pipeline: Pipeline, servers: Servers
) -> None:
    name = "Tears.of.Steel.2012.1080p.WEB-DL.H.264-SWAP"
    files = (["Elephants.Dream.2006.1080p.WEB.mkv", "feature"], ["Elephants.Dream.Sample.mkv", "sample"])
    only(servers, release(name, *files))
    film = pipeline.add_movie(TEARS)
    pipeline.run()
    assert pipeline.state(film) == "Indexed"
    assert list(tried(pipeline, film)) == [name]
    assert servers.control("/account")["torrents"] == []
    assert pipeline.listing("/movies") == []


def test_a_file_that_is_shorter_than_announced_gives_errors_and_never_wrong_bytes(tmp_path: Path) -> None:
    with Stage(tmp_path, settings={**NO_SERVERS, "vfs.read_timeout_seconds": 5}) as stage:
        stage.change("announce", release="Tears.of.Steel.2012.1080p.WEB-DL.DDP5.1.H.264-OPEN", extra=50_000)
        stage.start_program()
        stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": [str(TEARS), str(SINTEL)]})
        stage.wait_for(lambda: len(list(files_below(stage.mount))) == 2, what="both films")
        short = next(path for path in files_below(stage.mount) if "Tears" in path.name)
        good = next(path for path in files_below(stage.mount) if "Sintel" in path.name)
        origin = next(
            one for one in stage.origins() if one["imdb"] == TEARS_IMDB and one["path"].endswith(".mp4")
        )
        assert short.stat().st_size == origin["size"] + 50_000
        assert hash_of(good) in {one["sha256"] for one in stage.origins()}
        assert read_error(short, 0) == errno.EIO
        assert read_error(short, origin["size"] + 1) == errno.EIO
        told = f"the file is {origin['size']} bytes long, expected {origin['size'] + 50_000}"
        assert told in stage.log_text()
        assert stage.program.is_ready()
        assert hash_of(good) in {one["sha256"] for one in stage.origins()}


def read_error(path: Path, offset: int) -> int | None:
    """Read a little at `offset`; return the error's number, None when bytes came."""
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(offset)
            file.read(4096)
    except OSError as error:
        return error.errno
    return None


def test_a_title_of_300_bytes_appears_cut_and_can_be_read(tmp_path: Path) -> None:
    assert len(LONG.encode()) > 290
    row = {"title": LONG, "year": 2021, "tmdb": 990_001, "imdb": "tt9900001", "premiere": "2021-05-01"}
    named = release(f"{LONG.replace(' ', '.')}.2021.1080p.WEB-DL.H.264-OPEN", ["film.mkv", "feature"])
    with Stage(tmp_path, settings=NO_SERVERS) as stage:
        stage.change("add_film", row={**row, "digital": "2021-06-01", "releases": [{**named, "right": True}]})
        stage.start_program()
        stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": ["990001"]})
        [file] = stage.wait_for(lambda: list(files_below(stage.mount)), what="the film")
        # A version, a copy's number or a subtitle's language still find room behind it.
        assert 150 < len(file.name.encode()) <= 255
        assert 150 < len(file.parent.name.encode()) <= 255
        assert file.name.endswith(".mkv")
        assert "{tmdb-990001}" in file.parent.name
        assert file.name.encode().decode() == file.name, "no character is cut in two"
        [origin] = [one for one in stage.origins() if one["imdb"] == "tt9900001"]
        assert hash_of(file) == origin["sha256"]
