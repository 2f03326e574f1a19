"""Running `main.py` as a person does, with a settings file of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from program.demo.launch import ROOT, free_port

SECONDS = 60


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """Return the last line on stderr."""
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


def write_settings(folder: Path, changes: Mapping[str, Any]) -> Path:
    """Write a settings file that runs, changed at paths with dots, and return its config folder."""
    settings: dict[str, Any] = {
        "api": {"port": free_port()},
        "vfs": {"mount_path": str(folder / "mount"), "cache_dir": str(folder / "vfs-cache")},
        "log": {"to_file": False},
    }
    for path, value in changes.items():
        *above, last = path.split(".")
        section = settings
        for name in above:
            section = section.setdefault(name, {})
        section[last] = value
    config = folder / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return config


def command(
    config: Path, *arguments: str, before: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Ended:
    """Run `main.py` with these arguments to its end. before: a command that runs it, such as `unshare`."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("RIVULET_")}
    done = subprocess.run(
        [*before, sys.executable, "main.py", *arguments],
        cwd=ROOT,
        env={**outside, "RIVULET_CONFIG": str(config), **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)
