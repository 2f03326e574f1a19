"""Where a family works: a folder, its size, and what is ended with it."""

import os
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

# How long a server may take to end before it is killed.
END_SECONDS = 10.0


class Stage:
    """A family's place. folder: its own, empty at first and removed at the end; rounds: how often each trial is run."""

    def __init__(self, folder: Path, stack: ExitStack, *, rounds: int, is_tiny: bool = False) -> None:
        self.folder = folder
        self.rounds = rounds
        self.is_tiny = is_tiny
        self._stack = stack

    def size(self, full: int, *, tiny: int) -> int:
        """Return how much of something to work on: `tiny` is for the test that the family works at all."""
        return tiny if self.is_tiny else full

    def enter(self, manager: AbstractContextManager[T]) -> T:
        """Enter what is left with the family, and return what it gives."""
        return self._stack.enter_context(manager)

    def start(self, command: Sequence[str], *, log: str = "server.log") -> subprocess.Popen[bytes]:
        """Start a program that ends with the family; what it says goes into the file `log` of the folder."""
        with (self.folder / log).open("ab") as output:
            process = subprocess.Popen(
                list(command), stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=os.environ.copy()
            )
        self._stack.callback(end, process)
        return process


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program of ours and wait for it."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
