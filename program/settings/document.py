"""The settings as a JSON document: read, merged, masked, written back."""

import json
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import cast

from pydantic import BaseModel, JsonValue, SecretStr
from pydantic_core import to_jsonable_python

from program.log import MASK
from program.settings.fields import fields, section_of, varies
from program.settings.problems import InvalidSettings, Problem, address_password, mask_address
from program.settings.upgrade import Document

Pairs = list[tuple[str, JsonValue]]


def parse(content: bytes) -> Document:
    """Return the object in a settings file; raise InvalidSettings with line and column when it is not JSON."""
    try:
        document = json.loads(
            content.decode("utf-8-sig"), object_pairs_hook=_without_doubles, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        reason = f"line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}"
        raise InvalidSettings([Problem("", reason)]) from error
    except UnicodeDecodeError as error:
        raise InvalidSettings([Problem("", f"byte {error.start}: not UTF-8 text")]) from error
    except RecursionError as error:
        raise InvalidSettings([Problem("", "not valid JSON: nested too deeply")]) from error
    if not isinstance(document, dict):
        raise InvalidSettings([Problem("", "must be an object in braces")])
    return document


def _without_doubles(pairs: Pairs) -> Document:
    found: Document = {}
    for key, value in pairs:
        if key in found:
            raise InvalidSettings([Problem("", f'the key "{key}" stands twice in one object')])
        found[key] = value
    return found


def _refuse_constant(name: str) -> JsonValue:
    raise InvalidSettings([Problem("", f"{name} is not a JSON value")])


def to_text(document: Mapping[str, JsonValue]) -> str:
    """Return a document as it stands in a file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def plain(settings: BaseModel) -> Document:
    """Return the settings as JSON values, secrets included."""
    return cast("Document", _dump(settings, lambda secret: secret, lambda text: text))


def masked(settings: BaseModel) -> Document:
    """Return the settings as JSON values with every secret that is set shown as the mask."""
    return cast("Document", _dump(settings, lambda secret: MASK if secret else "", mask_address))


def value_of(value: object) -> JsonValue:
    """Return one value of the settings as JSON."""
    return _dump(value, lambda secret: secret, lambda text: text)


def starter(model: type[BaseModel]) -> Document:
    """Return the defaults as a document; a default that depends on the machine is left out."""
    return _stable(model, plain(model()))


def _stable(model: type[BaseModel], document: Document) -> Document:
    kept: Document = {}
    for key, (_, info) in fields(model).items():
        section, value = section_of(info.annotation), document[key]
        if section is not None and isinstance(value, dict):
            kept[key] = _stable(section, value)
        elif not varies(info):
            kept[key] = value
    return kept


def _dump(value: object, secret: Callable[[str], str], text: Callable[[str], str]) -> JsonValue:
    if isinstance(value, BaseModel):
        known = fields(type(value))
        return {key: _dump(getattr(value, name), secret, text) for key, (name, _) in known.items()}
    if isinstance(value, SecretStr):
        return secret(value.get_secret_value())
    if isinstance(value, Mapping):
        return {str(key): _dump(part, secret, text) for key, part in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((_dump(part, secret, text) for part in value), key=str)
    if isinstance(value, list | tuple):
        return [_dump(part, secret, text) for part in value]
    simple = cast("JsonValue", to_jsonable_python(value))
    return text(simple) if isinstance(simple, str) else simple


def secrets_in(settings: BaseModel) -> frozenset[str]:
    """Return every secret value, passwords inside addresses included, so that they are never printed."""
    found: set[str] = set()

    def note(secret: str) -> str:
        found.add(secret)
        return secret

    def note_password(text: str) -> str:
        found.add(address_password(text) or "")
        return text

    _dump(settings, note, note_password)
    return frozenset(found - {""})


def merge(model: type[BaseModel], base: Document, change: Document) -> Document:
    """Return `base` with the values of `change`; sections are merged, any other value is replaced whole."""
    merged = dict(base)
    for key, value in change.items():
        known = fields(model).get(key)
        section = section_of(known[1].annotation) if known else None
        before = base.get(key)
        if section is not None and isinstance(value, dict):
            merged[key] = merge(section, before if isinstance(before, dict) else {}, value)
        else:
            merged[key] = value
    return merged


def unmasked(document: Document, before: Document) -> Document:
    """Return `document` with every mask replaced by what stands at that place in `before`."""
    return {key: _unmask(part, before.get(key)) for key, part in document.items()}


def _unmask(value: JsonValue, before: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return unmasked(value, before if isinstance(before, dict) else {})
    if isinstance(value, list) and isinstance(before, list) and len(value) == len(before):
        return [_unmask(part, old) for part, old in zip(value, before, strict=True)]
    if isinstance(value, str) and MASK in value and isinstance(before, str):
        hidden = before if value == MASK else address_password(before)
        return value.replace(MASK, hidden) if hidden else value
    return value


def masks_left(value: JsonValue, path: str = "") -> Iterator[str]:
    """Yield the paths at which a mask stands for nothing that is known."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from masks_left(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from masks_left(part, f"{path}[{index}]")
    elif isinstance(value, str) and MASK in value:
        yield path


def read_at(document: Mapping[str, JsonValue], path: str) -> JsonValue:
    """Return the value at a path, None when nothing stands there."""
    value: JsonValue = dict(document)
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def write_at(document: Document, path: str, value: JsonValue) -> Document:
    """Return a copy of the document with `value` at a path; objects on the way are made when missing."""
    key, _, rest = path.partition(".")
    if not rest:
        return {**document, key: value}
    below = document.get(key)
    return {**document, key: write_at(below if isinstance(below, dict) else {}, rest, value)}


def remove_at(document: Document, path: str) -> Document:
    """Return a copy of the document without the value at a path."""
    key, _, rest = path.partition(".")
    below = document.get(key)
    if not rest:
        return {name: value for name, value in document.items() if name != key}
    return {**document, key: remove_at(below, rest)} if isinstance(below, dict) else document
