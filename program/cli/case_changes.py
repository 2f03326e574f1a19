"""Cases of kind e about changes: a file replaced while it is read, a title that appears, a daemon that is killed."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from program.cli.case_origin import content
from program.cli.case_stage import (
    LONGEST_WAIT,
    Got,
    kept_promises,
    names_in,
    only_expected,
    opened,
    staged,
    stat_of,
    until,
)
from program.cli.case_values import Json, Malformed
from program.media.release import JsonValue

MIB = 1024 * 1024
LOOK_SECONDS = 0.3


def steps_of(steps: Sequence[str], expected: Json) -> Got:
    """Return what is seen after the steps of a case, told by their words; raise Malformed for a story that is not known."""
    said = " ".join(steps).casefold()
    if "kill" in said:
        return _killed(expected)
    if "replace" in said:
        return _replaced(expected)
    if "complete" in said or "appear" in said or "added" in said:
        return _appears(expected)
    raise Malformed("steps tell no story that is known")


def _replaced(expected: Json) -> Got:
    """File A is open while B takes its place."""
    folder = "/movies/Case (2000)"
    with staged() as stage:
        for entry_id in (1, 2):
            stage.origin.add(entry_id, MIB, ((0, MIB),))
        stage.show(1, f"{folder}/A.mkv", MIB)
        with opened(stage.path(1)) as descriptor:
            stage.show(2, f"{folder}/B.mkv", MIB, removed=(1,))
            listing = names_in(stage.path(1).parent)
            gone = stat_of(stage.path(1))
            ending = _pread(descriptor, 4096)
    got: dict[str, JsonValue] = {"listing": _as_told(expected.get("listing"), listing), "stat_A": gone}
    got |= kept_promises(expected, {"open handles on A": ending in ("right", "EIO", "ENOENT", "ESTALE")})
    return only_expected(got, expected), {"listing": [*listing], "reading A": ending}


def _as_told(expected: JsonValue, listing: Sequence[str]) -> JsonValue:
    """Return a listing as the case words it: `only B` for one name."""
    names = [name.partition(".")[0] for name in listing]
    is_only = isinstance(expected, list) and any(str(one).startswith("only ") for one in expected)
    return [f"only {names[0]}"] if is_only and len(names) == 1 else [*names]


def _pread(descriptor: int, length: int) -> str:
    try:
        return "right" if os.pread(descriptor, length, 0) == content(0, length) else "wrong"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "?")


def _appears(expected: Json) -> Got:
    """A title that was not there a moment ago, and was asked for, is listed and found at once."""
    with staged() as stage:
        before = names_in(stage.root / "movies")
        missing = stat_of(stage.root / "movies" / "Case (2000)")
        stage.origin.add(1, MIB)
        stage.show(1, "/movies/Case (2000)/Case (2000).mkv", MIB)
        listing, found = names_in(stage.root / "movies"), stat_of(stage.path(1))
    promises = {
        "listing": not before and listing == ["Case (2000)"],
        "stat": (missing, found) == ("ENOENT", "ok"),
    }
    return kept_promises(expected, promises), {"listing": [*listing], "stat before": missing, "stat": found}


def _killed(expected: Json) -> Got:
    """The daemon is killed while mounted, and started again at the same place."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rivulet-case-")))
        root, manifest = folder / "mount", folder / "manifest.json"
        manifest.write_text(
            '[{"path": "/movies/a.mkv", "size": 10, "urls": ["http://127.0.0.1:9/a.mkv"]}]', encoding="utf-8"
        )
        first = _daemon(manifest, root, stack)
        first.send_signal(signal.SIGKILL)
        first.wait()
        dead = _listing(root)
        _daemon(manifest, root, stack)
        alive = _listing(root / "movies")
    promises = {
        "start": alive == "a.mkv",
        "ls_mountpoint": alive == "a.mkv",
        "no_error": alive != os.strerror(errno.ENOTCONN),
    }
    return kept_promises(expected, promises), {"after the kill": dead, "after the start": alive}


def _daemon(manifest: Path, root: Path, stack: ExitStack) -> subprocess.Popen[bytes]:
    """Start the file system alone, as a process; return it once something is mounted."""
    process = subprocess.Popen(
        [sys.executable, "-m", "program.vfs.manifest", str(manifest), str(root)],
        cwd=Path(__file__).resolve().parents[2],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    stack.callback(_end, process)
    until(lambda: _listing(root / "movies") == "a.mkv" or process.poll() is not None, LOOK_SECONDS)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(LONGEST_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _listing(folder: Path) -> str:
    """Return what `ls` says, a name or an error; a process of its own, since a dead mount may hang."""
    try:
        found = subprocess.run(["ls", str(folder)], capture_output=True, check=False, timeout=LONGEST_WAIT)
    except subprocess.TimeoutExpired:
        return "it hangs"
    text = (found.stdout or found.stderr).decode(errors="replace").strip()
    return text.rpartition(": ")[2]
