"""Cases of kind e: what the file system shows and reads, seen from outside, on a real mount of a library made for the case."""

import errno
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from program.cli.case_changes import steps_of
from program.cli.case_names import named
from program.cli.case_origin import FAULTS, content, refusing
from program.cli.case_stage import Got, Stage, kept_promises, only_expected, opened, staged, until
from program.cli.case_values import Json, Malformed, mapping, number, texts
from program.media.release import JsonValue

# What is going on in the background has ended when nothing came for so long.
QUIET_SECONDS = 0.5
# A scan of more files shows nothing that one of so many does not.
MOST_FILES = 200
KIB, MIB = 1024, 1024 * 1024
_UNITS = {"mib": MIB, "mb": MIB, "kib": KIB, "kb": KIB, "b": 1}
_SPAN = re.compile(r"(\d+)\s*(mib|kib|mb|kb|b)\s+(?:at\s+)?(?:the\s+)?(\d+|start|end)", re.IGNORECASE)
_AT_ONCE = re.compile(r"(\d+) at a time", re.IGNORECASE)


def run(given: Json, expected: Json) -> Got:
    """Return what is seen, in the words of `expected`, and what was tried. Raises Malformed for a case that is not understood."""
    if "items" in given or "title" in given:
        return named(given, expected)
    if "reads" in given:
        return _reads(given, expected)
    if "emulate" in given:
        return _failing(given, expected)
    if "action" in given:
        return _scan(given, expected)
    if "steps" in given:
        return steps_of(texts(given["steps"], "steps"), expected)
    raise Malformed("input has nothing of steps, items, title, reads, action, emulate")


# Reading --------------------------------------------------------------------------------------------------------------------


def _reads(given: Json, expected: Json) -> Got:
    size = _whole(given, "file_size")
    spans = [_pair(span) for span in _list(given, "reads")]
    with staged() as stage:
        stage.origin.add(1, size, tuple((start, start + length) for start, length in spans))
        stage.show(1, "/movies/Case (2000)/Case (2000).mkv", size)
        with opened(stage.path()) as descriptor:
            found = [os.pread(descriptor, length, offset) for offset, length in spans]
            before = stage.origin.requests
            beyond = [os.pread(descriptor, length, offset) for offset, length in spans if offset >= size]
            asked = stage.origin.requests - before
        is_right = all(
            bytes_ == content(offset, min(offset + length, size)) if offset < size else not bytes_
            for bytes_, (offset, length) in zip(found, spans, strict=True)
        )
        got: dict[str, JsonValue] = {
            "st_size": stage.path().stat().st_size,
            "returned_lengths": [len(bytes_) for bytes_ in found],
            **kept_promises(expected, {"bytes": is_right}),
        }
    if not is_right or any(beyond) or asked:
        got["returned_lengths"] = (
            "wrong bytes" if not is_right else "the origin was asked for what is behind the end"
        )
    return only_expected(got, expected), {"requests": before}


def _scan(given: Json, expected: Json) -> Got:
    """Read what a media server reads of each file, then close it."""
    action, files = str(given["action"]), number(given.get("files")) or 1
    size = number(given.get("file_size")) or 1_000_000_000
    spans = [_span(match, size) for match in _SPAN.finditer(action)]
    if not spans:
        raise Malformed("action says nothing of what is read where")
    tried, at_once = min(files, MOST_FILES), _AT_ONCE.search(action)
    with staged() as stage:
        for entry_id in range(1, tried + 1):
            stage.origin.add(entry_id, size, tuple((start, start + length) for start, length in spans))
            stage.show(entry_id, f"/movies/Case {entry_id} (2000)/Case {entry_id} (2000).mkv", size)
        memory = _memory()
        with ThreadPoolExecutor(int(at_once[1]) if at_once else 1) as readers:
            wrong = [
                bad for bad in readers.map(lambda one: _look(stage.path(one), spans), stage.paths) if bad
            ]
        stopped = _is_quiet(stage)
        seen = stage.vfs.statistics()
        got: dict[str, JsonValue] = {
            "rss_growth_mb_max": max(_memory() - memory, 0) // MIB,
            "open_handles_after": seen.open_handles,
            "upstream_bytes_max": seen.counts.bytes_fetched,
            "upstream_requests_max": stage.origin.requests,
            "prefetch_stops_on_close": stopped,
            **kept_promises(expected, {"process": not wrong and stage.vfs.healthy()}),
        }
    return only_expected(got, expected), {"files tried": tried, "wrong": [*wrong[:5]]}


def _look(path: Path, spans: Sequence[tuple[int, int]]) -> str | None:
    """Read the spans of one file; return what is wrong with them."""
    with opened(path) as descriptor:
        for start, length in spans:
            position = start
            while position < start + length:
                piece = os.pread(descriptor, min(128 * KIB, start + length - position), position)
                if not piece or piece != content(position, position + len(piece)):
                    return f"{path.name}: wrong bytes at {position}"
                position += len(piece)
    return None


def _failing(given: Json, expected: Json) -> Got:
    """Let the origin fail in each of the named ways: once, and then for good."""
    said = str(given["emulate"]).casefold()
    faults = [
        fault for name, fault in FAULTS.items() if name in said or (name == "reset" and "connection" in said)
    ]
    if not faults:
        raise Malformed("emulate names no failure that is known")
    outcomes: list[str] = []
    with staged() as stage:
        for entry_id, (fault, times) in enumerate(
            [(fault, times) for fault in faults for times in (1, 500)], 1
        ):
            size = 4 * MIB
            stage.origin.add(entry_id, size, ((0, size),))
            stage.show(entry_id, f"/movies/Case {entry_id} (2000)/Case {entry_id} (2000).mkv", size)
            stage.origin.faults = [fault] * times
            outcomes.append(_outcome(stage.path(entry_id), 1_000_001, 300_000))
            stage.origin.faults = []
        is_usable = all(_outcome(stage.path(entry_id), 0, 100_000) == "right" for entry_id in stage.paths)
    promises = {
        "read_result": set(outcomes) <= {"right", "EIO"},
        "never": "wrong" not in outcomes,
        "mount": is_usable,
    }
    return kept_promises(expected, promises), {"outcomes": [*outcomes]}


def expired(given: Json, expected: Json) -> Got:
    """Read a file whose stored address is refused: once by the old one, not by the next."""
    told = next(
        (value for name, value in mapping(given.get("emulate"), "emulate").items() if name.endswith("old")),
        None,
    )
    size = 4 * MIB
    with staged() as stage:
        stage.origin.add(1, size, ((0, size),))
        stage.show(1, "/movies/Case (2000)/Case (2000).mkv", size)
        stage.origin.faults = [refusing(number(told) or 403)]
        outcome = _outcome(stage.path(), 1_000_001, 300_000)
        links = stage.origin.links - 1
    got: dict[str, JsonValue] = {"refresh_attempts_max": links}
    # A new address comes from the ids of torrent and file, which are all that is stored of them; nothing else was asked to change.
    promises = {
        "read_result": outcome == "right",
        "refresh_source": links > 0,
        "state_change": outcome == "right",
    }
    return only_expected(got | kept_promises(expected, promises), expected), {
        "outcome": outcome,
        "new addresses": links,
    }


def _outcome(path: Path, offset: int, length: int) -> str:
    """Return `right`, `wrong`, or the error that a read ended in."""
    try:
        with opened(path) as descriptor:
            return (
                "right"
                if os.pread(descriptor, length, offset) == content(offset, offset + length)
                else "wrong"
            )
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "an error without a number")


# Small things ---------------------------------------------------------------------------------------------------------------


def _is_quiet(stage: Stage) -> bool:
    """Return whether nothing more is fetched and nothing is open, soon after the last file was closed."""
    seen: list[int] = [-1]

    def is_quiet() -> bool:
        now = stage.vfs.statistics()
        before, seen[0] = seen[0], now.counts.bytes_fetched
        return before == now.counts.bytes_fetched and now.open_handles == 0

    return until(is_quiet, QUIET_SECONDS)


def _memory() -> int:
    """Return the bytes of memory that this process has in use."""
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def _span(match: re.Match[str], size: int) -> tuple[int, int]:
    """Return (offset, length) of `1 MiB at 0`, `64 KiB at end`."""
    length = min(int(match[1]) * _UNITS[match[2].lower()], size)
    places = {"start": 0, "end": size - length}
    place = match[3].lower()
    return (places[place] if place in places else min(int(place), size - length), length)


def _whole(given: Json, name: str) -> int:
    found = number(given.get(name))
    if found is None:
        raise Malformed(f"{name} is not a whole number")
    return found


def _list(given: Json, name: str) -> list[JsonValue]:
    found = given.get(name)
    if not isinstance(found, list):
        raise Malformed(f"{name} is not a list")
    return found


def _pair(value: JsonValue) -> tuple[int, int]:
    pair = [number(part) for part in value] if isinstance(value, list) else []
    if len(pair) != 2 or pair[0] is None or pair[1] is None:  # noqa: PLR2004 - offset and length
        raise Malformed("a read is not [offset, length]")
    return pair[0], pair[1]
