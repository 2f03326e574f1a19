"""Column types that behave the same on SQLite and PostgreSQL."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum as PythonEnum
from typing import TypeVar

from sqlalchemy import JSON, DateTime, Dialect, Enum, String
from sqlalchemy.types import TypeDecorator

from program.media.item import Contradiction, ReleaseKind, Title
from program.media.release import JsonValue

E = TypeVar("E", bound=PythonEnum)

# Long enough for every word of our enums; PostgreSQL wants a length.
ENUM_LENGTH = 24


def clean(text: str) -> str:
    """Return `text` without what PostgreSQL refuses: NUL and halves of surrogate pairs."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def clean_json(value: JsonValue) -> JsonValue:
    """Return `value` with every text in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_json(part) for part in value]
    if isinstance(value, dict):
        return {clean(key): clean_json(part) for key, part in value.items()}
    return value


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC datetime. SQLite keeps it as text that sorts by time; a naive value is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the value to store; raise ValueError for a naive one."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a datetime without a time zone: {value!r}")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the stored instant, aware UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


class Words(TypeDecorator[str]):
    """Text that others wrote: whatever they sent, both databases can store it."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Return the text without characters a database refuses."""
        return None if value is None else clean(value)


class Json(TypeDecorator[JsonValue]):
    """Plain JSON values; None is SQL's NULL."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: JsonValue, dialect: Dialect) -> JsonValue:  # noqa: ARG002
        """Return the value without characters a database refuses."""
        return clean_json(value)


class TextList(TypeDecorator[tuple[str, ...]]):
    """A tuple of texts."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> JsonValue:  # noqa: ARG002
        """Return a JSON list."""
        return [clean(part) for part in value or ()]

    def process_result_value(self, value: list[str] | None, dialect: Dialect) -> tuple[str, ...]:  # noqa: ARG002
        """Return the texts."""
        return tuple(value or ())


class NumberList(TypeDecorator[tuple[int, ...]]):
    """A tuple of numbers; None stays None."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: tuple[int, ...] | None, dialect: Dialect) -> list[int] | None:  # noqa: ARG002
        """Return a JSON list or NULL."""
        return None if value is None else list(value)

    def process_result_value(self, value: list[int] | None, dialect: Dialect) -> tuple[int, ...] | None:  # noqa: ARG002
        """Return the numbers or None."""
        return None if value is None else tuple(value)


class Titles(TypeDecorator[tuple[Title, ...]]):
    """Names of an item, each with its country and language."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: tuple[Title, ...] | None, dialect: Dialect) -> JsonValue:  # noqa: ARG002
        """Return a JSON list of [text, country, language]."""
        return [[clean(title.text), title.country, title.language] for title in value or ()]

    def process_result_value(self, value: list[list[str]] | None, dialect: Dialect) -> tuple[Title, ...]:  # noqa: ARG002
        """Return the names."""
        return tuple(Title(text, country, language) for text, country, language in value or ())


class ReleaseDates(TypeDecorator[Mapping[ReleaseKind, datetime]]):
    """Release dates by kind."""

    impl = JSON
    cache_ok = True

    def process_bind_param(
        self,
        value: Mapping[ReleaseKind, datetime] | None,
        dialect: Dialect,  # noqa: ARG002
    ) -> JsonValue:
        """Return a JSON object of ISO 8601 instants."""
        return {kind.value: at.astimezone(UTC).isoformat() for kind, at in (value or {}).items()}

    def process_result_value(
        self,
        value: dict[str, str] | None,
        dialect: Dialect,  # noqa: ARG002
    ) -> Mapping[ReleaseKind, datetime]:
        """Return the dates."""
        return {ReleaseKind(kind): datetime.fromisoformat(at) for kind, at in (value or {}).items()}


class ContradictionType(TypeDecorator[Contradiction]):
    """Why an item makes no sense."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: Contradiction | None, dialect: Dialect) -> JsonValue:  # noqa: ARG002
        """Return a JSON list or NULL."""
        return None if value is None else [clean(value.reason), value.with_metadata]

    def process_result_value(self, value: list[object] | None, dialect: Dialect) -> Contradiction | None:  # noqa: ARG002
        """Return the contradiction or None."""
        return None if value is None else Contradiction(str(value[0]), with_metadata=bool(value[1]))


def words_of(kind: type[E]) -> Enum:
    """Return a text column type that holds the values of an enum."""
    return Enum(
        kind,
        native_enum=False,
        create_constraint=False,
        length=ENUM_LENGTH,
        values_callable=lambda members: [str(member.value) for member in members],
    )
