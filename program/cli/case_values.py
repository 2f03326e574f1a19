"""The values of a case file, checked as they are read."""

from collections.abc import Mapping
from datetime import UTC, datetime

from program.media.release import JsonValue

Json = Mapping[str, JsonValue]


class Malformed(ValueError):
    """A case that cannot be understood, with the reason."""


def mapping(value: JsonValue | None, what: str) -> Json:
    """Return an object, empty when there is none; raise Malformed."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"{what} is not an object")
    return value


def texts(value: JsonValue | None, what: str) -> tuple[str, ...]:
    """Return a list of strings, also from one string, a list of objects with a title or name, or an object; raise Malformed."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, dict):
        return tuple(text for part in value.values() for text in texts(part, what))
    if isinstance(value, list):
        return tuple(_text(part, what) for part in value)
    raise Malformed(f"{what} is not a list")


def _text(value: JsonValue, what: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for name in ("title", "name", "raw_title", "release"):
            if isinstance(found := value.get(name), str):
                return found
    raise Malformed(f"{what} has something that is no text")


def number(value: JsonValue | None) -> int | None:
    """Return a whole number from a number or its digits, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return int(value) if str(value).isdigit() else None


def text_or_none(value: JsonValue | None) -> str | None:
    """Return a text that is not empty, None for anything else."""
    return value if isinstance(value, str) and value else None


def date_or_none(value: JsonValue | None) -> datetime | None:
    """Return an instant from ISO 8601, midnight UTC for a day; raise Malformed for a text that is none."""
    try:
        found = datetime.fromisoformat(str(value)) if isinstance(value, str) else None
    except ValueError as error:
        raise Malformed(f"{value} is no date") from error
    return found.replace(tzinfo=found.tzinfo or UTC) if found else None
