"""A form drawn from a settings class: which fields there are, what each takes, what stands in it now."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from program.settings import document as documents
from program.settings.applies import Applies, applies
from program.settings.fields import bare, fields, is_secret, section_of
from program.settings.provider import ProviderSettings, heading
from program.settings.vfs import Permissions

# Parts of names that are not written as words are.
SPELLINGS: Mapping[str, str] = {
    "api": "API",
    "url": "address",
    "dir": "folder",
    "strm": "STRM",
    "gib": "GiB",
    "uid": "user id",
    "gid": "group id",
    "kib": "KiB",
    "mib": "MiB",
    "vfs": "library folder",
}
# Ends of names that say what a number counts.
UNITS = ("minutes", "hours", "seconds", "days", "kib", "mib")
# Form over content: what is typed for a list is one line each, for a table `name = value`, where a value of several is JSON.
Control = Literal[
    "switch",
    "whole",
    "number",
    "octal",
    "text",
    "secret",
    "choice",
    "pick",
    "maybe",
    "checks",
    "lines",
    "row",
    "table",
]
SIMPLE: Mapping[object, Control] = {bool: "switch", int: "whole", float: "number"}
# A described section with so few values is one thing with several sides, and one line.
MOST_IN_ROW = 3
OCTAL = get_args(Permissions)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value. text: as it stands in the form; chosen: of a field with several; locked: the variable that sets it.

    unit: what its number counts.
    """

    path: str
    label: str
    help: str
    control: Control
    text: str = ""
    is_on: bool = False
    chosen: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    unit: str = ""
    lowest: str = ""
    highest: str = ""
    locked: str = ""
    default: str = ""
    needs_restart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A section. is_row: its fields belong together on one line; provider: its key when it is a provider's."""

    path: str
    title: str
    help: str
    fields: tuple[Field, ...]
    blocks: tuple["Block", ...]
    is_row: bool = False
    provider: str = ""

    def walk(self) -> Iterator["Block"]:
        """Yield this block and all within."""
        yield self
        for block in self.blocks:
            yield from block.walk()

    def all_fields(self) -> Iterator[Field]:
        """Yield the fields of this block and of all within."""
        for block in self.walk():
            yield from block.fields


def block_of(
    section: BaseModel, path: str, locked: Mapping[str, str], *, title: str = "", is_row: bool = False
) -> Block:
    """Return the form of a section as it is in force."""
    model = type(section)
    inner: list[Block] = []
    plain: list[Field] = []
    for key, (name, info) in fields(model).items():
        value, place = getattr(section, name), f"{path}.{key}" if path else key
        if isinstance(value, BaseModel):
            word = info.title or info.description or heading(type(value))
            is_short = bool(info.description) and len(fields(type(value))) <= MOST_IN_ROW
            inner.append(block_of(value, place, locked, title=word, is_row=is_short))
        elif section_of(info.annotation) is None:
            plain.append(field_of(value, place, info, locked.get(place, "")))
    return Block(
        path=path,
        title=title or heading(model),
        help=(model.__doc__ or "").strip().partition("\n")[0],
        fields=tuple(plain),
        blocks=tuple(inner),
        is_row=is_row,
        provider=path.rpartition(".")[2] if isinstance(section, ProviderSettings) else "",
    )


def field_of(value: object, path: str, info: FieldInfo, variable: str) -> Field:
    """Return one field with its present value."""
    control, options = control_of(info)
    label, unit = named(path.rpartition(".")[2])
    made = Field(
        path=path,
        label=info.title or label,
        unit=unit,
        help=(info.description or "").rstrip("."),
        control=control,
        options=options,
        locked=variable,
        lowest=_limit(info, "ge", "gt"),
        highest=_limit(info, "le", "lt"),
        default=_default(info, control),
        needs_restart=applies(path) is Applies.RESTART,
    )
    return with_value(made, _written(value))


def _written(value: object) -> JsonValue:
    """Return a value as JSON; of sections by name, what is other than usual."""
    if not isinstance(value, Mapping):
        return documents.value_of(value)
    return {
        key: _unusual(part) if isinstance(part, BaseModel) else documents.value_of(part)
        for key, part in value.items()
    }


def _unusual(section: BaseModel) -> dict[str, JsonValue]:
    """Return what a section has to say for its values to be what they are."""
    found: dict[str, JsonValue] = {}
    for key, (name, info) in fields(type(section)).items():
        value = getattr(section, name)
        if info.is_required() or value != info.get_default(call_default_factory=True):
            found[key] = _unusual(value) if isinstance(value, BaseModel) else _written(value)
    return found


def named(key: str) -> tuple[str, str]:
    """Return what a setting is called, made from its key, and what it counts: `wait_days` is `Wait`, in `days`."""
    if key == "enabled":
        return "Use it", ""
    rest, _, last = key.rpartition("_")
    unit = SPELLINGS.get(last, last) if rest and last in UNITS else ""
    words = " ".join(SPELLINGS.get(word, word) for word in (rest if unit else key).split("_"))
    return words[:1].upper() + words[1:], unit


def control_of(info: FieldInfo) -> tuple[Control, tuple[str, ...]]:
    """Return how a value is typed, and what may be chosen."""
    kind = bare(info.annotation)
    if is_secret(info.annotation):
        return "secret", ()
    if kind is bool and type(None) in get_args(info.annotation):
        return "maybe", ()
    if OCTAL in info.metadata:
        return "octal", ()
    options = _options(kind)
    if options:
        is_open = type(None) in get_args(info.annotation)
        return ("pick", ("", *options)) if is_open else ("choice", options)
    return _several(kind) if get_origin(kind) else (SIMPLE.get(kind, "text"), ())


def _several(kind: object) -> tuple[Control, tuple[str, ...]]:
    """Return the control of a list or table."""
    origin = get_origin(kind)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "table", ()
    parts = [bare(part) for part in get_args(kind) if part is not Ellipsis]
    options = _options(parts[0]) if parts else ()
    if options:
        return "checks", options
    return ("row" if parts and parts[0] in (int, float) else "lines"), ()


def _options(kind: object) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return tuple(map(str, get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(member.value) for member in kind)
    return ()


def _limit(info: FieldInfo, *names: str) -> str:
    found = (getattr(rule, name, None) for rule in info.metadata for name in names)
    return next((f"{limit:g}" for limit in found if limit is not None), "")


def _default(info: FieldInfo, control: Control) -> str:
    """Return the default for people to read; empty where there is none to show."""
    if info.is_required() or control == "secret":
        return ""
    value = documents.value_of(info.get_default(call_default_factory=True))
    if isinstance(value, bool):
        return "on" if value else "off"
    return text_of(value, control).replace("\n", ", ") if value not in ("", [], {}, None) else ""


def with_value(field: Field, value: JsonValue) -> Field:
    """Return a field with another value in it."""
    changes: dict[str, Any] = {"text": "" if field.control == "secret" else text_of(value, field.control)}
    if field.control == "secret":
        # Only whether there is one: the value itself never leaves the program.
        changes["is_on"] = bool(value)
    elif isinstance(value, bool):
        changes["is_on"] = value
    elif field.control == "checks" and isinstance(value, list):
        changes["chosen"] = tuple(map(str, value))
    return Field(**{name: getattr(field, name) for name in Field.__slots__} | changes)


def text_of(value: JsonValue, control: Control) -> str:
    """Return a value as it is typed."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if control == "octal" and isinstance(value, int):
        return f"{value:o}"
    if isinstance(value, list):
        return (", " if control == "row" else "\n").join(map(_one_line, value))
    if isinstance(value, dict):
        return "\n".join(f"{key} = {_one_line(part)}" for key, part in value.items())
    return _one_line(value)


def _one_line(part: JsonValue) -> str:
    if isinstance(part, float):
        return f"{part:g}"
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
