"""Walking a settings model: which keys it has, where a path leads, what is a secret.

A *key* is a field's name as it stands in the file (its alias when it has one); a *path* is keys joined by dots.
"""

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value of the settings. path: its keys joined by dots."""

    path: str
    info: FieldInfo


def fields(model: type[BaseModel]) -> Mapping[str, tuple[str, FieldInfo]]:
    """Return key to (attribute name, field) in the order of the class, those that few people need last."""
    found = sorted(model.model_fields.items(), key=lambda pair: _is_rare(pair[1]))
    return {info.alias or name: (name, info) for name, info in found}


def _is_rare(info: FieldInfo) -> bool:
    return isinstance(info.json_schema_extra, dict) and bool(info.json_schema_extra.get("rare"))


def bare(annotation: object) -> object:
    """Return a type without `Annotated` and without `| None`."""
    if get_origin(annotation) is Annotated:
        return bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        others = [part for part in get_args(annotation) if part is not type(None)]
        return bare(others[0]) if len(others) == 1 else annotation
    return annotation


def section_of(annotation: object) -> type[BaseModel] | None:
    """Return the model that a field holds, or None when it holds a plain value."""
    inner = bare(annotation)
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def inside(annotation: object, step: str | int) -> object:
    """Return the type found one step inside a list, tuple or mapping; the type itself when the step leads nowhere."""
    inner = bare(annotation)
    arguments = [part for part in get_args(inner) if part is not Ellipsis]
    origin = get_origin(inner)
    if isinstance(step, int) and arguments:
        return arguments[min(step, len(arguments) - 1)]
    if isinstance(step, str) and isinstance(origin, type) and issubclass(origin, Mapping):
        return arguments[-1]
    return inner


def leaves(model: type[BaseModel], prefix: str = "") -> Iterator[Leaf]:
    """Yield every value beneath `model`, section by section."""
    for key, (_, info) in fields(model).items():
        section = section_of(info.annotation)
        if section is None:
            yield Leaf(f"{prefix}{key}", info)
        else:
            yield from leaves(section, f"{prefix}{key}.")


def is_secret(annotation: object) -> bool:
    """True when a type is, or contains, a secret."""
    return annotation is SecretStr or any(is_secret(part) for part in get_args(annotation))


def varies(info: FieldInfo) -> bool:
    """True when a field's default depends on the machine, so that it belongs in no example and no document."""
    factory = info.default_factory
    return factory is not None and not isinstance(factory, type) and section_of(info.annotation) is None
