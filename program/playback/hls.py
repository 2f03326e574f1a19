"""HLS: a list of short segments, each made by ffmpeg when a player asks for it.

ffmpeg is started with a list of arguments, never through a shell; what a client chooses is taken from a list of allowed words.
There are only so many processes, each ends with its reader, and none lives longer than `LONGEST_SECONDS`.
"""

import math
import subprocess
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Literal

from program.clock import Clock
from program.errors import NotPossible, RetryLater, Transient
from program.log import logger
from program.playback.loopback import Loopback, Opener

PixelFormat = Literal["yuv420p"]
Profile = Literal["baseline", "main", "high"]
Level = Literal["3.0", "3.1", "4.0", "4.1", "4.2", "5.0", "5.1"]
Height = Literal["360p", "480p", "720p", "1080p", "2160p"]

SEGMENT_SECONDS = 6
# Conversions at a time: each takes a core or more.
MOST_PROCESSES = 2
# How long a player waits for its turn before it is told to come back.
TURN_SECONDS = 10.0
COME_BACK = timedelta(seconds=3)
LONGEST_SECONDS = 60.0
PROBE_SECONDS = 30.0
PIECE = 64 * 1024
MOST_DURATIONS = 256
# No film is longer; a file that says so is broken.
LONGEST_FILM = 48 * 3600.0
QUIET = ("-hide_banner", "-loglevel", "error")
ONLY_HTTP = ("-protocol_whitelist", "http,tcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a player can show. height: None leaves it as it is."""

    pix_fmt: PixelFormat = "yuv420p"
    profile: Profile = "high"
    level: Level = "4.1"
    height: Height | None = None

    def query(self) -> str:
        """Return it as the query of a segment's address."""
        scaled = f"&resolution={self.height}" if self.height else ""
        return f"pix_fmt={self.pix_fmt}&profile={self.profile}&level={self.level}{scaled}"


def playlist(seconds: float, form: Form) -> str:
    """Return the list of segments; their addresses are relative, so that it works behind any path."""
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", f"#EXT-X-TARGETDURATION:{SEGMENT_SECONDS}"]
    lines += ["#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD"]
    for number in range(count(seconds)):
        length = min(SEGMENT_SECONDS, seconds - number * SEGMENT_SECONDS)
        lines += [f"#EXTINF:{length:.3f},", f"segment/{number}.ts?{form.query()}"]
    return "\n".join([*lines, "#EXT-X-ENDLIST", ""])


def count(seconds: float) -> int:
    """Return how many segments a film has."""
    return max(1, math.ceil(seconds / SEGMENT_SECONDS))


def arguments(address: str, number: int, form: Form) -> list[str]:
    """Return the command that writes a segment to its output."""
    start = str(number * SEGMENT_SECONDS)
    scale = ["-vf", f"scale=-2:{form.height.removesuffix('p')}"] if form.height else []
    return [
        *("ffmpeg", "-nostdin", *QUIET, *ONLY_HTTP, "-ss", start, "-t", str(SEGMENT_SECONDS), "-i", address),
        *("-map", "0:v:0", "-map", "0:a:0?", "-sn", "-dn", *scale),
        *("-c:v", "libx264", "-preset", "veryfast", "-crf", "21", "-pix_fmt", form.pix_fmt),
        *("-profile:v", form.profile, "-level:v", form.level, "-c:a", "aac", "-b:a", "160k", "-ac", "2"),
        *("-output_ts_offset", start, "-muxdelay", "0", "-f", "mpegts", "pipe:1"),
    ]


def probe_arguments(address: str) -> list[str]:
    """Return the command that prints a file's length in seconds."""
    shown = ("-show_entries", "format=duration", "-of", "default=noprint_wrappers=1:nokey=1")
    return ["ffprobe", *QUIET, *ONLY_HTTP, *shown, address]


class Converter:
    """Runs ffmpeg. Thread-safe. To be closed."""

    def __init__(self, open_file: Opener, clock: Clock) -> None:
        self.loopback = Loopback(open_file)
        self._clock = clock
        self._turns = threading.BoundedSemaphore(MOST_PROCESSES)
        self._lock = threading.Lock()
        # Guarded by the lock. Lengths in seconds by entry, the one used last stands last.
        self._running: set[subprocess.Popen[bytes]] = set()
        self._durations: OrderedDict[int, float] = OrderedDict()

    def running(self) -> int:
        """Return how many conversions there are."""
        with self._lock:
            return len(self._running)

    def close(self) -> None:
        """End every process."""
        with self._lock:
            running = tuple(self._running)
        for process in running:
            process.kill()
        self.loopback.close()

    def duration(self, entry_id: int) -> float:
        """Return how long the film of an entry is, in seconds. Raises NotPossible, RetryLater, Transient."""
        with self._lock:
            known = self._durations.get(entry_id)
        if known is not None:
            return known
        with self._turn(), self.loopback.address_of(entry_id) as address:
            found = _seconds(_output(probe_arguments(address)))
        with self._lock:
            self._durations[entry_id] = found
            if len(self._durations) > MOST_DURATIONS:
                self._durations.popitem(last=False)
        return found

    def segment(self, entry_id: int, number: int, form: Form) -> Generator[bytes, None, None]:
        """Yield a segment as it is made; whoever stops listening ends the process. Raises as `duration` does."""
        with ExitStack() as stack:
            stack.enter_context(self._turn())
            address = stack.enter_context(self.loopback.address_of(entry_id))
            said = stack.enter_context(tempfile.TemporaryFile())
            process = self._started(arguments(address, number, form), said)
            stack.callback(self._end, process)
            watchdog = threading.Timer(LONGEST_SECONDS, process.kill)
            watchdog.daemon = True
            watchdog.start()
            stack.callback(watchdog.cancel)
            output = process.stdout
            yield from iter(lambda: output.read1(PIECE) if output else b"", b"")  # type: ignore[attr-defined]
            if process.wait(LONGEST_SECONDS):
                said.seek(0)
                logger.warning("ffmpeg failed: {}", _last_line(said.read()))
                raise Transient("ffmpeg could not convert this file; the log says why")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._turns.acquire(timeout=TURN_SECONDS):
            raise RetryLater(self._clock.now() + COME_BACK, f"{MOST_PROCESSES} conversions are under way")
        try:
            yield
        finally:
            self._turns.release()

    def _started(self, command: list[str], said: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said)
        except FileNotFoundError:
            raise NotPossible("ffmpeg is not installed") from None
        with self._lock:
            self._running.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        with self._lock:
            self._running.discard(process)


def _output(command: list[str]) -> str:
    try:
        answer = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS
        )
    except FileNotFoundError:
        raise NotPossible("ffprobe is not installed") from None
    except subprocess.TimeoutExpired:
        raise Transient("the file could not be looked at in time") from None
    if answer.returncode:
        logger.warning("ffprobe failed: {}", _last_line(answer.stderr))
        raise Transient("the file could not be looked at; the log says why")
    return answer.stdout.decode("ascii", "replace").strip()


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found <= LONGEST_FILM:
        raise NotPossible("the file does not say how long it is")
    return found


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
