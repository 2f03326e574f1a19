"""What a client reads of an answer, as a value that says what does not fit and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Answers with what is wrong with a value, nothing when it fits.
Shape = Callable[[Any, str], list[str]]


def _kind(name: str, fits: Callable[[Any], bool]) -> Shape:
    return lambda value, where: [] if fits(value) else [f"{where}: {value!r} is no {name}"]


number = _kind("number", lambda value: isinstance(value, int | float) and not isinstance(value, bool))
integer = _kind("integer", lambda value: isinstance(value, int) and not isinstance(value, bool))
boolean = _kind("boolean", lambda value: isinstance(value, bool))
text = _kind("text", lambda value: isinstance(value, str))
filled = _kind("text that is not empty", lambda value: isinstance(value, str) and bool(value))
moment = _kind(
    "instant",
    lambda value: isinstance(value, str) and bool(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", value)),
)
day = _kind("day", lambda value: isinstance(value, str) and bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value)))
url = _kind(
    "whole address", lambda value: isinstance(value, str) and value.startswith(("http://", "https://"))
)


def null_or(shape: Shape) -> Shape:
    """A value that may be null."""
    return lambda value, where: [] if value is None else shape(value, where)


def one_of(*values: object) -> Shape:
    """One of some values."""
    return _kind(f"one of {values}", lambda value: value in values)


def every(shape: Shape, *, least: int = 0) -> Shape:
    """A list."""

    def check(value: Any, where: str) -> list[str]:
        if not isinstance(value, list):
            return [f"{where}: {value!r} is no list"]
        few = [f"{where}: has {len(value)} entries, not {least} or more"] if len(value) < least else []
        return few + [wrong for place, part in enumerate(value) for wrong in shape(part, f"{where}[{place}]")]

    return check


def distinct(shape: Shape) -> Shape:
    """A list whose values serve as keys."""

    def check(value: Any, where: str) -> list[str]:
        wrong = every(shape)(value, where)
        twice = isinstance(value, list) and len(value) != len(set(map(str, value)))
        return wrong + ([f"{where}: {value} has something twice"] if twice else [])

    return check


def by_key(shape: Shape, key: Shape = text, *, least: int = 0) -> Shape:
    """An object whose keys are data."""

    def check(value: Any, where: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{where}: {value!r} is no object"]
        few = [f"{where}: has {len(value)} keys, not {least} or more"] if len(value) < least else []
        return few + [
            wrong
            for name, part in value.items()
            for wrong in (*key(name, where), *shape(part, f"{where}.{name}"))
        ]

    return check


def fields(**shapes: Shape) -> Shape:
    """An object with at least these keys."""

    def check(value: Any, where: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{where}: {value!r} is no object"]
        found = []
        for name, shape in shapes.items():
            found += (
                shape(value[name], f"{where}.{name}") if name in value else [f"{where}.{name} is missing"]
            )
        return found

    return check


@dataclass(frozen=True)
class Answer:
    """What came back: its status, its type and its body."""

    status: int
    kind: str
    body: Any


def wrong_with(answer: Answer, shape: Shape) -> list[str]:
    """Return what a client could not use of an answer that should be JSON of a shape."""
    if not 200 <= answer.status < 300:
        return [f"status {answer.status}: {answer.body}"]
    if answer.kind.split(";")[0] != "application/json":
        return [f"the answer is {answer.kind}, not JSON"]
    if answer.body in (None, "", {}, []):
        return ["the answer is empty"]
    return shape(answer.body, "answer")


def type_fits(value: Any, kind: str | list[str]) -> bool:
    """Return whether a value is of a JSON type, or of one of several."""
    kinds = [kind] if isinstance(kind, str) else kind
    names: Mapping[type, tuple[str, ...]] = {
        bool: ("boolean",),
        int: ("integer", "number"),
        float: ("number",),
        str: ("string",),
        list: ("array",),
        dict: ("object",),
        type(None): ("null",),
    }
    return "any" in kinds or bool(set(names[type(value)]) & set(kinds))
