"""The log as a user sees it: `with log_lines() as lines:` collects what is written at INFO and above, secrets masked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from program.log import _patch, logger


@contextmanager
def log_lines(level: str = "INFO") -> Iterator[list[str]]:
    """Yield a list that grows by one line per message: `LEVEL message`."""
    lines: list[str] = []
    logger.configure(patcher=_patch)
    sink = logger.add(
        lambda message: lines.append(f"{message.record['level'].name} {message.record['message']}"),
        level=level,
        format="{message}",
    )
    try:
        yield lines
    finally:
        logger.remove(sink)
