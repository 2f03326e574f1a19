"""`python main.py demo`: the whole journey on this machine, without any account.

The stand-ins of `program.demo.servers` play the outside world; the program that runs against them is the real one.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

from program.demo import checks
from program.demo.launch import (
    LaunchError,
    Running,
    Servers,
    install,
    is_free,
    is_mounted,
    last_lines,
    unmount,
    wait_until,
)
from program.demo.needs import missing
from program.demo.servers.mixes import MIXES
from program.demo.titles import SETTLED, Progress, Title, titles_of

# With this set the demo ends after its checks.
EXIT_VARIABLE = "DEMO_EXIT"
# All titles must have settled within so many seconds of asking for them, by the mix of faults.
SETTLE_SECONDS = {"none": 120.0, "mild": 120.0, "heavy": 300.0}
LOOK_SECONDS = 0.25
# How long the media servers may take to list what is complete.
LISTED_SECONDS = 15.0
# How much of the program's log is shown when a check failed.
LOG_LINES = 40
LOG_TAIL = 80
CANNOT_START = 2
INTERRUPTED = 130


class _Ended(Exception):
    """A signal came."""


def main(argv: list[str]) -> int:
    """Run the demo; return 0 when every check passed, 1 when one did not, 2 when it cannot start here."""
    options = _options(argv)
    sentences = missing()
    if options.port is not None and not is_free(options.port):
        sentences.append(
            f"port {options.port} of this machine is in use; take another with --port, or leave it out"
        )
    if sentences:
        print("\n".join(sentences), file=sys.stderr)  # noqa: T201 (this is a command)
        return CANNOT_START
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)
    demo = _Demo(options)
    stack = ExitStack()
    try:
        problems = demo.play(stack)
        if not os.environ.get(EXIT_VARIABLE):
            demo.stay()
        problems += demo.finish()
    except _Ended:
        return 0 if demo.is_done else INTERRUPTED
    except (LaunchError, OSError, RuntimeError) as error:
        problems = [str(error)]
    finally:
        _deaf()
        stack.close()
    words = demo.last_words()
    # A program that did not start has said so in the problem already.
    if problems and not any(words[-LOG_TAIL:] in problem for problem in problems):
        _say(words)
    for problem in problems:
        _say(f"WRONG: {problem}")
    _say(json.dumps(demo.summary()))
    return 1 if problems else 0


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="main.py demo", description="Show the whole pipeline on this machine."
    )
    parser.add_argument("--films", type=int, default=None, metavar="N", help="ask for so many films only")
    parser.add_argument("--shows", type=int, default=None, metavar="N", help="ask for so many series only")
    parser.add_argument(
        "--keep", type=Path, default=None, metavar="DIR", help="keep settings, database and logs in DIR"
    )
    parser.add_argument("--seed", type=int, default=1, help="for keys and faults")
    parser.add_argument(
        "--faults", choices=MIXES, default="mild", help="what goes wrong outside (default: mild)"
    )
    parser.add_argument("--port", type=int, default=None, help="port of the API (default: any free one)")
    return parser.parse_args(argv)


class _Demo:
    """One run of the demo."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._begin = time.monotonic()
        self._titles: list[Title] = []
        self._verified = 0
        self._requests: dict[str, int] = {}
        self._seconds = 0.0
        self._log_end = ""
        self.is_done = False

    def play(self, stack: ExitStack) -> list[str]:
        """Start everything, ask for all titles, watch, check; return what is wrong. `stack` ends what was started."""
        folder = stack.enter_context(_folder(self._options.keep))
        self._mount = folder / "library"
        stack.callback(unmount, self._mount)
        _say(f"seed {self._options.seed}, faults {self._options.faults}; everything is in {folder}")
        self._servers = Servers(
            folder,
            self._mount,
            seed=self._options.seed,
            faults=self._options.faults,
            guard=folder / "program.pid",
        )
        stack.callback(self._servers.stop)
        catalog = self._servers.control("/catalog")
        films = catalog["films"][: self._options.films]
        shows = catalog["shows"][: self._options.shows]
        # The first ones are found by asking the request app, the last of them tells us itself, the others come over the API.
        in_app, over_api = films[::2], films[1::2]
        self._ask_in_request_app(in_app[:-1] or in_app)
        self._installed = install(folder, self._servers.ready, self._mount, port=self._options.port)
        self._program = Running(self._installed)
        stack.callback(self._keep_log_end)
        stack.callback(self._program.stop)
        self._program.wait_ready()
        _say(
            f"{self._seconds_so_far():5.1f} s  the program is ready: {self._installed.api}, library at {self._mount}"
        )
        self._be_told(in_app[1:][-1:])
        self._ask_over_api(over_api, shows)
        expected = len(films) + sum(bool(one["season"]) for show in shows for one in show["episodes"])
        problems = self._watch(expected)
        problems += self._check(catalog)
        self.is_done = True
        return problems

    def stay(self) -> None:
        """Print where everything is and return when a signal came, or when the program ended by itself."""
        facts = {"api": self._installed.api, "key": self._installed.key, "mount": str(self._mount)}
        _say(f"READY {json.dumps(facts)}")
        _say("Ctrl-C ends the demo.")
        pause = threading.Event()
        with contextlib.suppress(_Ended):
            while self._program.child.code() is None:
                pause.wait(LOOK_SECONDS)

    def finish(self) -> list[str]:
        """End the program in order and return what is wrong with its end."""
        self._requests = dict(self._servers.control("/counts"))
        code = self._program.child.stop()
        problems = [] if code == 0 else [f"the program ended with the exit code {code}"]
        if is_mounted(self._mount):
            problems.append(f"{self._mount} is still mounted after the program's end")
        self._seconds = self._seconds_so_far()
        return problems

    def summary(self) -> dict[str, Any]:
        """Return the run in one object."""
        states = [title.state for title in self._titles]
        return {
            "items": len(states),
            "completed": states.count("Completed"),
            "unreleased": states.count("Unreleased"),
            "files_verified": self._verified,
            "seconds": round(self._seconds or self._seconds_so_far(), 1),
            "provider_requests": self._requests,
        }

    def last_words(self) -> str:
        """Return the end of the program's log, empty when it never ran."""
        return self._log_end

    def _keep_log_end(self) -> None:
        self._log_end = last_lines(
            self._installed.log.read_text(encoding="utf-8", errors="replace"), LOG_LINES
        )

    def _ask_in_request_app(self, films: list[dict[str, Any]]) -> None:
        for film in films:
            self._servers.control("/catalog", {"op": "request", "media_type": "movie", "tmdb": film["tmdb"]})
        _say(f"asked for in the request app: {', '.join(film['title'] for film in films)}")

    def _be_told(self, films: list[dict[str, Any]]) -> None:
        """Ask in the request app, which tells the program by webhook."""
        hook = {
            "url": f"{self._installed.api}/api/v1/webhook/overseerr",
            "authorization": f"Bearer {self._installed.key}",
        }
        for film in films:
            wish = {"op": "request", "media_type": "movie", "tmdb": film["tmdb"], "webhook": hook}
            status = self._servers.control("/catalog", wish)["webhook_status"]
            _say(f"asked for in the request app, which sent a webhook ({status}): {film['title']}")

    def _ask_over_api(self, films: list[dict[str, Any]], shows: list[dict[str, Any]]) -> None:
        movies = {"media_type": "movie", "tmdb_ids": [str(film["tmdb"]) for film in films], "tvdb_ids": []}
        series = {"media_type": "tv", "tmdb_ids": [], "tvdb_ids": [str(show["tvdb"]) for show in shows]}
        asked = [body for body, titles in ((movies, films), (series, shows)) if titles]
        for body in asked:
            reply = self._program.api("POST", "/items/add", body)
            if reply.status >= 400:  # noqa: PLR2004
                raise LaunchError(f"POST /items/add answered {reply.status}: {reply.data}")
        if asked:
            _say(f"asked for over the API: {', '.join(one['title'] for one in films + shows)}")

    def _watch(self, expected: int) -> list[str]:
        """Show the titles until all have settled; return which have not in time."""
        progress = Progress()
        end = time.monotonic() + SETTLE_SECONDS[self._options.faults]
        pause = threading.Event()
        while True:
            self._titles = self._look()
            progress.show(self._titles, self._seconds_so_far())
            open_ones = [title for title in self._titles if title.state not in SETTLED]
            if len(self._titles) == expected and not open_ones:
                break
            if time.monotonic() > end:
                return [f"{title.name} is still {title.state}" for title in open_ones] or [
                    "not all titles were found"
                ]
            pause.wait(LOOK_SECONDS)
        return [
            f"{title.name} is {title.state}" for title in self._titles if title.state in ("Failed", "Paused")
        ]

    def _look(self) -> list[Title]:
        """Return the titles as they are now. Raises LaunchError when the program has ended."""
        try:
            return titles_of(self._program)
        except OSError as error:
            code = self._program.child.code()
            if code is None:
                raise LaunchError(f"the API does not answer: {error}") from error
            raise LaunchError(f"the program ended by itself, with the exit code {code}") from error

    def _check(self, catalog: dict[str, Any]) -> list[str]:
        """Compare the library with its origins; return what is wrong."""
        rows = checks.look(self._mount)
        verdict = checks.check_files(rows, catalog, self._servers.control("/origins")["files"], self._titles)
        self._verified = verdict.verified
        wait_until(lambda: not checks.check_media_servers(self._servers, self._mount, rows), LISTED_SECONDS)
        problems = [
            *verdict.problems,
            *checks.check_unreleased(self._titles, catalog),
            *checks.check_account(self._servers, leftovers=self._options.faults == "heavy"),
            *checks.check_media_servers(self._servers, self._mount, rows),
        ]
        counted = f"{verdict.verified} of {len(rows)} files are the right ones, to the byte"
        _say(f"{self._seconds_so_far():5.1f} s  {counted}; {len(problems)} problems")
        for title in self._titles:
            if title.state == "Unreleased":
                _say(f"         {title.name} is Unreleased until {title.date}")
        return problems

    def _seconds_so_far(self) -> float:
        return time.monotonic() - self._begin


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Give a folder for the run; a temporary one is removed afterwards."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    # The mount is taken away before this is left, so nothing of the library can be removed by it.
    with tempfile.TemporaryDirectory(prefix="rivulet-demo-", ignore_cleanup_errors=True) as made:
        yield Path(made).resolve()


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _Ended


def _deaf() -> None:
    """Let nothing interrupt the ending: each of its steps has a time limit."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 (this is a command)
