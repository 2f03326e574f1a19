"""The real program against the stand-ins of all services, each in a process of its own; and films that nobody has heard of.

The stand-ins answer at once and have no limits, and the program keeps none (`bench.unpaced`).
"""

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count as numbers_from
from pathlib import Path
from typing import Any

import requests

from bench.names import release_names
from bench.stage import Stage
from bench.timing import seconds
from program.demo.launch import Child, Installation, Running, Servers, install

RELEASES = 36
# What `bare_calls` asks the debrid service for one film.
BARE_DEBRID_CALLS = 4
FIRST = 900_000
# What a film may take on a machine with much else to do, before it is a fault.
SECONDS_A_FILM = 1.5
LONGEST = 60
PAUSE, LONGEST_PAUSE = 0.02, 1.0
QUIET = {
    "updaters.plex.enabled": False,
    "updaters.jellyfin.enabled": False,
    "content.overseerr.enabled": False,
}


class Unpaced(Running):
    """The program without its providers' pace."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        own = {"RIVULET_CONFIG": str(installation.config)}
        self.child = Child(["-m", "bench.unpaced"], installation.log, own)
        installation.pid_file.write_text(str(self.child.pid), encoding="utf-8")


@contextmanager
def started(folder: Path) -> Generator[tuple[Servers, Unpaced]]:
    """Give the stand-ins and a program that is ready; both end with the block."""
    mount = folder / "mount"
    servers = Servers(folder, mount, guard=folder / "program.pid")
    try:
        servers.control("/options", {"realdebrid_rate_per_minute": 0})
        program = Unpaced(install(folder, servers.ready, mount, changes=QUIET))
        try:
            program.wait_ready(LONGEST)
            yield servers, program
        finally:
            program.stop()
    finally:
        servers.stop()


class Home:
    """The stand-ins, the program, and the films that there are."""

    def __init__(self, stage: Stage) -> None:
        self.folder = stage.folder / "home"
        self.servers, self.program = stage.enter(started(self.folder))
        self._numbers = numbers_from(FIRST)
        self._session = stage.enter(requests.Session())
        self._done = 0

    @property
    def pid(self) -> int:
        """Return the program's process id."""
        return self.program.child.pid

    def new_films(self, films: int, releases: int = RELEASES) -> list[dict[str, Any]]:
        """Have the stand-ins know so many more films, each with its releases; return them as the catalog has them."""
        rows = [_film(next(self._numbers), releases) for _ in range(films)]
        for row in rows:
            self.servers.control("/catalog", {"op": "add_film", "row": row})
        return rows

    def complete(self, films: Sequence[Mapping[str, Any]]) -> None:
        """Ask for the films and return when all are Completed."""
        ids = [str(film["tmdb"]) for film in films]
        answer = self.program.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": ids})
        if answer.status != requests.codes.ok:
            raise RuntimeError(f"POST /items/add: {answer.status} {answer.data}")
        self._done += len(films)
        end = time.monotonic() + LONGEST + SECONDS_A_FILM * len(films)
        # Asking costs the program something as well, so it is asked less often the longer it takes.
        pause = min(LONGEST_PAUSE, PAUSE * len(films))
        while self.completed() < self._done:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.completed()} of {self._done} films are Completed")
            time.sleep(pause)

    def completed(self) -> int:
        """Return how many films are Completed."""
        return int(self.program.api("GET", "/items?limit=1&state=Completed").data["total_items"])

    def file(self) -> Path:
        """Return a file of the mount."""
        return next((self.folder / "mount" / "movies").rglob("*.mkv"))

    def calls(self) -> int:
        """Return how many calls about torrents the debrid service got so far; it is also asked now and then whether it is there."""
        asked = self.servers.control("/requests?provider=realdebrid")["requests"]
        return sum("/torrents/" in entry["path"] for entry in asked)

    def bare_calls(self, films: Sequence[Mapping[str, Any]]) -> float:
        """Return how long the calls for these films take by themselves: look up, search, add, look, choose, look."""

        def work() -> None:
            for film in films:
                self._bare(film)

        return seconds(work)

    def _bare(self, film: Mapping[str, Any]) -> None:
        ready = self.servers.ready
        tmdb, torrentio, debrid = ready["tmdb"], ready["torrentio"], ready["realdebrid"]
        self._call("GET", f"{tmdb['url']}/movie/{film['tmdb']}", params={"api_key": tmdb["key"]})
        found = self._call("GET", f"{torrentio['url']}/stream/movie/{film['imdb']}.json")["streams"]
        key = {"Authorization": f"Bearer {debrid['key']}"}
        magnet = {"magnet": f"magnet:?xt=urn:btih:{found[0]['infoHash']}"}
        torrent = self._call("POST", f"{debrid['url']}/torrents/addMagnet", headers=key, data=magnet)["id"]
        info = f"{debrid['url']}/torrents/info/{torrent}"
        self._call("GET", info, headers=key)
        chosen = f"{debrid['url']}/torrents/selectFiles/{torrent}"
        self._call("POST", chosen, headers=key, data={"files": "all"})
        self._call("GET", info, headers=key)

    def _call(self, method: str, url: str, **more: Any) -> Any:
        answer = self._session.request(method, url, timeout=LONGEST, **more)
        answer.raise_for_status()
        return answer.json() if answer.content else None


def _film(number: int, count: int) -> dict[str, Any]:
    title, year = f"Silent Harbour {number}", 2000 + number % 20
    releases = release_names(count, seed=number, of=(title, year))
    return {
        "title": title,
        "year": year,
        "tmdb": number,
        "imdb": f"tt{number:08}",
        "runtime": 95,
        "premiere": f"{year}-03-01",
        "digital": f"{year}-06-01",
        "releases": [
            {"name": name, "seeders": 20 + place, "gb": 2.5, "right": True, "shared_clip": True}
            for place, name in enumerate(releases)
        ],
    }
