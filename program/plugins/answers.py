"""Whether what a hook answered is what its event asks for, down to the last field.

A plugin's answer goes into rules and into the database, so a number where a name is due must end here, as one plugin's fault, and
not there, as everybody's.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

from program.errors import BadAnswer
from program.events import Event, ScrapeRequested
from program.media.release import FoundRelease

# Says what is wrong with a value (where in it, and a sentence), None when nothing is.
Fault = tuple[str, str]
Check = Callable[[object], Fault | None]

INFOHASH = re.compile(r"[0-9a-f]{40}")
# What a database column of whole numbers holds.
LARGEST = 2**63
# What no database stores as text.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def accepted(key: str, event: Event, value: object) -> object:
    """Return the answer of plugin `key` to an asked event; raise `BadAnswer` with the place of what is wrong.

    Of a search the releases that are none are left out, unless none is left. What a hook of a told event returns is dropped.
    """
    if event.answer is None:
        return None
    if isinstance(event, ScrapeRequested) and isinstance(value, tuple) and value:
        value = _releases(key, value)
    fault = check_for(event.answer)(value)
    if fault is not None:
        raise BadAnswer(f"{key}: {_sentence(fault)}")
    return value


def _sentence(fault: Fault) -> str:
    place, what = fault
    return f"{place.lstrip('.') or 'its answer'} {what}"


def _releases(key: str, found: tuple[object, ...]) -> tuple[object, ...]:
    good = tuple(release for release in found if _release_fault(release) is None)
    if not good:
        fault = _release_fault(found[0]) or ("", "")
        raise BadAnswer(f"{key}: none of {len(found)} releases is one: {_sentence(fault)}")
    return good


def _release_fault(release: object) -> Fault | None:
    fault = check_for(FoundRelease)(release)
    if fault is None and isinstance(release, FoundRelease):
        if not INFOHASH.fullmatch(release.infohash):
            return ("infohash", "is not 40 digits in lower case")
        if not release.raw_title.strip():
            return ("raw_title", "is empty")
    return fault


@cache
def check_for(form: object) -> Check:
    """Return the check for a type as it stands in an annotation; a form that is not known lets everything pass."""
    if form in (None, NoneType):
        return lambda value: None if value is None else ("", f"is {_named(value)}, not None")
    origin = get_origin(form)
    if origin in (Union, UnionType):
        return _one_of(tuple(check_for(part) for part in get_args(form)))
    if origin is tuple:
        return _each(tuple, check_for(get_args(form)[0]))
    if origin is frozenset:
        return _each(frozenset, check_for(get_args(form)[0]))
    if origin is Mapping:
        return _mapping(*(check_for(part) for part in get_args(form)))
    return _single(form) if isinstance(form, type) else _nothing_wrong


def _single(form: type) -> Check:
    if form is object:
        return _nothing_wrong
    if is_dataclass(form):
        return _record(form)
    return PLAIN.get(form) or _instance(form)


def _nothing_wrong(_value: object) -> None:
    return None


def _named(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _instance(form: type, *more: type) -> Check:
    forms = (form, *more)
    return lambda value: (
        None if isinstance(value, forms) else ("", f"is {_named(value)}, not a {form.__name__}")
    )


def _text(value: object) -> Fault | None:
    if not isinstance(value, str):
        return ("", f"is {_named(value)}, not a str")
    return ("", "holds a character that cannot be stored") if UNSTORABLE.search(value) else None


def _whole(value: object) -> Fault | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return ("", f"is {_named(value)}, not an int")
    return None if -LARGEST <= value < LARGEST else ("", "is too large a number")


def _instant(value: object) -> Fault | None:
    if not isinstance(value, datetime):
        return ("", f"is {_named(value)}, not a datetime")
    return None if value.tzinfo is not None else ("", "is a datetime without a time zone")


PLAIN: Mapping[type, Check] = {
    str: _text,
    int: _whole,
    float: _instance(float, int),
    datetime: _instant,
}


def _one_of(checks: tuple[Check, ...]) -> Check:
    def check(value: object) -> Fault | None:
        faults = [one(value) for one in checks]
        return None if None in faults else faults[0]

    return check


def _each(form: type, inner: Check) -> Check:
    outer = _instance(form)

    def check(value: object) -> Fault | None:
        if not isinstance(value, tuple | frozenset) or outer(value) is not None:
            return outer(value)
        return next(
            (_at(f"[{place}]", fault) for place, one in enumerate(value) if (fault := inner(one))), None
        )

    return check


def _mapping(keys: Check, values: Check) -> Check:
    def check(value: object) -> Fault | None:
        if not isinstance(value, Mapping):
            return ("", f"is {_named(value)}, not a mapping")
        faults = ((key, keys(key) or values(one)) for key, one in value.items())
        return next((_at(f"[{key!r:.60}]", fault) for key, fault in faults if fault), None)

    return check


def _record(form: type) -> Check:
    outer = _instance(form)
    hints = get_type_hints(form)
    inner = [(field.name, check_for(hints[field.name])) for field in fields(form)]

    def check(value: object) -> Fault | None:
        if outer(value) is not None:
            return outer(value)
        faults = ((name, one(getattr(value, name, None))) for name, one in inner)
        return next((_at(f".{name}", fault) for name, fault in faults if fault), None)

    return check


def _at(place: str, fault: Fault) -> Fault:
    return (place + fault[0], fault[1])
