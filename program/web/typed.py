"""What was typed into a form, as the values of settings; what cannot be read goes on as text, so that the check names it."""

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, JsonValue
from werkzeug.datastructures import MultiDict

from program.settings import document as documents
from program.settings.problems import Problem
from program.settings.upgrade import Document
from program.web.forms import Block, Control, Field, text_of, with_value

Form = MultiDict[str, str]
# Beside a secret's name: forget it.
FORGET = ":forget"
OCTAL = "takes digits from 0 to 7 only, e.g. 644"
TABLE = "write one `name = value` on each line"


@dataclass(frozen=True, slots=True)
class Typed:
    """A form as a change of the settings. problems: what could not even be read."""

    change: Document
    problems: tuple[Problem, ...]


def read(form: Form, fields: Iterable[Field]) -> Typed:
    """Return what was typed into those fields that were in the form; a secret left empty stays as it is."""
    change: Document = {}
    problems: list[Problem] = []
    for field in fields:
        if field.path not in form or field.locked:
            continue
        if field.control == "secret" and not form[field.path]:
            if form.get(field.path + FORGET):
                change = documents.write_at(change, field.path, "")
            continue
        try:
            value = value_of(field, form.getlist(field.path))
        except ValueError as error:
            problems.append(Problem(field.path, str(error)))
        else:
            change = documents.write_at(change, field.path, value)
    return Typed(change, tuple(problems))


def value_of(field: Field, typed: list[str]) -> JsonValue:
    """Return the value of a field; raise ValueError when what was typed has not its form."""
    return READERS.get(field.control, _text)(typed)


def _text(typed: list[str]) -> JsonValue:
    return typed[-1].strip()


def _number(text: str) -> JsonValue:
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def _octal(text: str) -> JsonValue:
    if not text or set(text) - set("01234567"):
        raise ValueError(OCTAL)
    return text


def _pairs(text: str) -> Iterable[tuple[str, JsonValue]]:
    for line in text.splitlines():
        if not line.strip():
            continue
        name, is_pair, value = line.partition("=")
        if not is_pair:
            raise ValueError(TABLE)
        yield name.strip(), _part(name.strip(), value.strip())


def _part(name: str, text: str) -> JsonValue:
    if not text.startswith(("{", "[")):
        return _number(text)
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{name}: what stands behind = is no JSON on one line") from None
    return found


# A box that is not ticked sends nothing; an empty value in front says that it was there.
READERS: Mapping[Control, Callable[[list[str]], JsonValue]] = {
    "switch": any,
    "maybe": lambda parts: {"true": True, "false": False}.get(parts[-1]),
    "pick": lambda parts: parts[-1] or None,
    "checks": lambda parts: [part for part in parts if part],
    "whole": lambda parts: _number(parts[-1].strip()),
    "number": lambda parts: _number(parts[-1].strip()),
    "row": lambda parts: [_number(part) for part in parts[-1].replace(",", " ").split()],
    "lines": lambda parts: [line.strip() for line in parts[-1].splitlines() if line.strip()],
    "octal": lambda parts: _octal(parts[-1].strip()),
    "table": lambda parts: dict(_pairs(parts[-1])),
}


def filled(block: Block, form: Form) -> Block:
    """Return a form with what was typed in place of what is in force, so that nothing has to be typed twice."""
    return Block(
        path=block.path,
        title=block.title,
        help=block.help,
        fields=tuple(_filled(field, form) for field in block.fields),
        blocks=tuple(filled(inner, form) for inner in block.blocks),
        is_row=block.is_row,
        provider=block.provider,
    )


def _filled(field: Field, form: Form) -> Field:
    if field.path not in form or field.locked or field.control == "secret":
        return field
    try:
        return with_value(field, value_of(field, form.getlist(field.path)))
    except ValueError:
        return with_value(field, form[field.path])


def at_fields(
    problems: Iterable[Problem], fields: Iterable[Field]
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return path to reason for what can be shown at a field, and sentences for the rest."""
    known = {field.path for field in fields}
    placed: dict[str, str] = {}
    rest: list[str] = []
    for problem in problems:
        path = next((path for path in known if _covers(path, problem.path)), None)
        if path is None:
            rest.append(f"{problem.path}: {problem.reason}" if problem.path else problem.reason)
        else:
            placed[path] = f"{placed[path]}; {problem.reason}" if path in placed else problem.reason
    return placed, tuple(rest)


def _covers(path: str, place: str) -> bool:
    return place == path or place.startswith((f"{path}.", f"{path}["))


def text_at(settings: BaseModel, path: str) -> str:
    """Return a value for people, secrets masked."""
    value = documents.read_at(documents.masked(settings), path)
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    if isinstance(value, dict):
        return text_of(value, "table").replace("\n", ", ") or "nothing"
    return "nothing" if value in ("", None) else str(value)
