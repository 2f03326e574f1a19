"""Reads every file of a mounted library to its end: `python -m program.demo.inspect_mount DIR` prints what it found as JSON.

A process of its own, so that a file system that hangs costs a time limit and not the demo.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

READERS = 4
BLOCK = 256 * 1024
PROBE_SECONDS = 30


def main(arguments: list[str]) -> int:
    """Print a JSON list with one object per file: path (below DIR), size, sha256, seconds, streams, error."""
    root = Path(arguments[0])
    with ThreadPoolExecutor(READERS) as pool:
        rows = list(pool.map(lambda path: look_at(root, path), sorted(files_below(root))))
    print(json.dumps(rows))  # noqa: T201 (this is a command)
    return 0


def files_below(root: Path) -> Iterator[Path]:
    """Yield every file of a folder and the folders in it."""
    for top, _, names in os.walk(root):
        yield from (Path(top) / name for name in names)


def look_at(root: Path, path: Path) -> dict[str, Any]:
    """Return what a reader and a player see in a file; `error` is None when all went well."""
    row: dict[str, Any] = {
        "path": str(path.relative_to(root)),
        "size": None,
        "sha256": None,
        "seconds": 0.0,
        "streams": [],
    }
    try:
        row["size"] = path.stat().st_size
        row["sha256"] = hash_of(path)
        probed = probe(path)
        row["seconds"] = float(probed["format"]["duration"])
        row["streams"] = [stream["codec_type"] for stream in probed["streams"]]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        return {**row, "error": f"{type(error).__name__}: {error}"}
    return {**row, "error": None}


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(BLOCK):
            digest.update(data)
    return digest.hexdigest()


def probe(path: Path) -> dict[str, Any]:
    """Return what ffprobe says of a file. Raises SubprocessError when it cannot play it."""
    entries = "format=duration:stream=codec_type"
    command = ["ffprobe", "-v", "error", "-show_entries", entries, "-of", "json", str(path)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=PROBE_SECONDS)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
