"""Whether the library is what it should be: every file the right one, to the byte; nothing too much anywhere."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from program.demo.launch import ROOT, Servers
from program.demo.titles import Title

# The mount is read to the end within so many seconds, or the check fails.
READ_SECONDS = 60.0
# How far ffprobe's duration may be from the clip's: containers round to whole frames.
SECONDS_APART = 0.2
STREAMS = ["video", "audio"]
_FILM = re.compile(r"\{tmdb-(\d+)\}")
_SHOW = re.compile(r"\{tvdb-(\d+)\}.*[sS](\d+)[eE](\d+)")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found. verified: files that are right; problems: one sentence each."""

    verified: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """A file as the catalog has it."""

    release: str
    size: int
    sha256: str
    seconds: float


def look(mount: Path) -> list[dict[str, Any]]:
    """Return every file of the library as a reader sees it. Raises RuntimeError when it cannot be read in time."""
    command = [sys.executable, "-m", "program.demo.inspect_mount", str(mount)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=READ_SECONDS)
    except subprocess.CalledProcessError as error:
        raise RuntimeError(
            f"the library cannot be read: {error.stderr.decode(errors='replace').strip()}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"the library could not be read within {READ_SECONDS:.0f} s") from error
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def check_files(
    rows: Iterable[Mapping[str, Any]],
    catalog: Mapping[str, Any],
    origins: Iterable[Mapping[str, Any]],
    titles: Iterable[Title],
) -> Verdict:
    """Return which files are the right ones of the titles that are Completed."""
    right = _right_files(catalog, origins)
    wanted = {title.key for title in titles if title.state == "Completed"}
    problems: list[str] = []
    seen: set[str] = set()
    verified = 0
    for row in rows:
        key = _key_of(row["path"])
        problem = _file_problem(row, right.get(key or "", ()))
        if key is None or key not in wanted:
            problem = problem or "it belongs to no title that is Completed"
        if key in seen:
            problem = problem or "its title has another file already"
        if problem:
            problems.append(f"{row['path']}: {problem}")
            continue
        seen.add(key or "")
        verified += 1
    problems += [f"{key} is Completed and has no file that is right" for key in sorted(wanted - seen)]
    return Verdict(verified, tuple(problems))


def check_account(servers: Servers, *, leftovers: bool = False) -> list[str]:
    """Return what should not be on the debrid account: wrong releases, unfinished ones, and anything twice.

    leftovers: what is begun and not needed any more may still be there; it goes at the program's next tidying up.
    """
    right = {one["infohash"] for one in servers.control("/catalog")["releases"] if one["right"]}
    torrents = servers.control("/account")["torrents"]
    if leftovers:
        torrents = [one for one in torrents if one["status"] == "downloaded"]
    hashes = [one["hash"] for one in torrents]
    problems = [
        f"the account holds {one['filename']}, which nobody wants"
        for one in torrents
        if one["hash"] not in right
    ]
    problems += [
        f"the account holds {one['filename']}, which is not there yet"
        for one in torrents
        if one["status"] != "downloaded"
    ]
    twice = {one for one in hashes if hashes.count(one) > 1}
    return problems + [f"the account holds the torrent {one} more than once" for one in sorted(twice)]


def check_media_servers(servers: Servers, mount: Path, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what a media server lacks of the library."""
    files = {f"{mount}/{row['path']}" for row in rows}
    problems = []
    for name, found in servers.control("/library").items():
        lacking = files - {one["path"] for one in found}
        problems += [f"{name} has not found {path}" for path in sorted(lacking)]
    return problems


def check_unreleased(titles: Iterable[Title], catalog: Mapping[str, Any]) -> list[str]:
    """Return which titles to come are not shown as Unreleased with their date."""
    dates = {
        f"show {show['tvdb']} s{one['season']:02}e{one['number']:02}": one["aired"]
        for show in catalog["shows"]
        for one in show["episodes"]
    }
    problems = []
    for title in titles:
        if title.state != "Unreleased":
            continue
        aired = dates.get(title.key)
        if aired is None or not _same_day(title.date, aired):
            problems.append(f"{title.name} is Unreleased with the date {title.date}, and airs on {aired}")
    return problems


def _same_day(shown: str | None, aired: str) -> bool:
    """Return whether an instant in UTC is an air date elsewhere: a day apart at most."""
    if not shown:
        return False
    day = datetime.fromisoformat(shown).date()
    return abs(day - date.fromisoformat(aired)) <= timedelta(days=1)


def _key_of(path: str) -> str | None:
    """Return which title a path of the library is of, None when its names do not say."""
    if path.startswith("movies/") and (film := _FILM.search(path)):
        return f"movie {film[1]}"
    if path.startswith("shows/") and (show := _SHOW.search(path)):
        return f"show {show[1]} s{int(show[2]):02}e{int(show[3]):02}"
    return None


def _right_files(catalog: Mapping[str, Any], origins: Iterable[Mapping[str, Any]]) -> dict[str, list[Origin]]:
    """Return, by title, the files that may be served for it."""
    films = {film["imdb"]: film["tmdb"] for film in catalog["films"]}
    shows = {show["imdb"]: show["tvdb"] for show in catalog["shows"]}
    found: dict[str, list[Origin]] = {}
    for one in origins:
        if not one["right"] or one["kind"] not in ("feature", "episode"):
            continue
        key = f"movie {films.get(one['imdb'])}"
        if one["imdb"] in shows:
            key = f"show {shows[one['imdb']]} s{one['season']:02}e{one['episode']:02}"
        found.setdefault(key, []).append(Origin(one["release"], one["size"], one["sha256"], one["seconds"]))
    return found


def _file_problem(row: Mapping[str, Any], right: Iterable[Origin]) -> str | None:
    if row["error"]:
        return str(row["error"])
    origin = next((one for one in right if one.sha256 == row["sha256"]), None)
    if origin is None:
        return "its bytes are not those of a release that is right for this title"
    if row["size"] != origin.size:
        return f"its size is shown as {row['size']}, and is {origin.size}"
    if row["streams"] != STREAMS or abs(row["seconds"] - origin.seconds) > SECONDS_APART:
        return f"ffprobe finds {row['streams']} of {row['seconds']} s in place of {STREAMS} of {origin.seconds} s"
    return None
