"""Log lines as facts with fields; secrets never reach a line."""

import contextvars
import logging
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from loguru import logger

if TYPE_CHECKING:
    from loguru import Record

__all__ = ["MASK", "hide", "in_context", "logger", "redact", "set_up"]

T = TypeVar("T")

# Shown in place of a secret, here and in API answers.
MASK = "••••••"
# A shorter value would blank out ordinary words.
SHORTEST_SECRET = 4
FORMAT = (
    "<green>{time:YYYY-MM-DD HH:mm:ss.SSS}</green> <level>{level: <7}</level> "
    "<cyan>{extra[room]}</cyan> {message}<dim>{extra[fields]}</dim>"
)

_secrets: set[str] = set()
_secrets_lock = threading.Lock()


def hide(values: Iterable[str]) -> None:
    """Never print these values again; values under four characters are left alone."""
    with _secrets_lock:
        _secrets.update(value for value in values if len(value) >= SHORTEST_SECRET)


def redact(text: str) -> str:
    """Return `text` with every known secret masked."""
    with _secrets_lock:
        known = sorted(_secrets, key=len, reverse=True)
    for secret in known:
        text = text.replace(secret, MASK)
    return text


def _patch(record: "Record") -> None:
    record["message"] = redact(record["message"])
    extra = record["extra"]
    fields = {key: value for key, value in extra.items() if key not in ("room", "fields")}
    extra.setdefault("room", (record["name"] or "").removeprefix("program."))
    extra["fields"] = redact("".join(f" {key}={value}" for key, value in fields.items()))


class _Intercept(logging.Handler):
    """Sends the standard library's log records to loguru."""

    def emit(self, record: logging.LogRecord) -> None:
        """Pass one record on, at its own level."""
        logger.bind(room=record.name).opt(exception=record.exc_info).log(
            record.levelname, record.getMessage()
        )


def set_up(level: str = "INFO", file: Path | None = None) -> None:
    """Write lines of `level` and above to stderr and, when given, to `file` (rotated at 10 MB, five kept)."""
    logger.configure(handlers=[], patcher=_patch)
    logger.add(sys.stderr, level=level, format=FORMAT, backtrace=False, diagnose=False)
    if file is not None:
        logger.add(
            file, level=level, format=FORMAT, backtrace=False, diagnose=False, rotation="10 MB", retention=5
        )
    logging.basicConfig(handlers=[_Intercept()], level=logging.WARNING, force=True)


def in_context(function: Callable[[], T]) -> Callable[[], T]:
    """Return `function` bound to the caller's context, so that a pool thread logs with the same fields."""
    context = contextvars.copy_context()
    return lambda: context.run(function)
