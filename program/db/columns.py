"""Column types that behave the same on SQLite and PostgreSQL."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum as PythonEnum
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast

from sqlalchemy import JSON, DateTime, Dialect, Enum, String
from sqlalchemy.types import TypeDecorator

from program.media.item import Contradiction, ReleaseKind, Title
from program.media.release import JsonValue

E = TypeVar("E", bound=PythonEnum)
V = TypeVar("V")

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

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:  # noqa: ARG002
        """Return what makes an aware UTC datetime of a stored value; an item has twenty of them, so it is made to be quick."""
        if dialect.name == "sqlite":
            return lambda value: None if value is None else datetime.fromisoformat(value + "+00:00")
        return lambda value: None if value is None else value.astimezone(UTC)


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


class JsonOf(TypeDecorator[V]):
    """A value kept as JSON; None is SQL's NULL. A kind says how it becomes JSON and what it is made of."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    # What an empty list or object stands for: most rows have one, and it need not be read.
    empty: ClassVar[object] = None

    def to_json(self, value: V) -> JsonValue:
        """Return the value as plain JSON."""
        raise NotImplementedError

    def from_json(self, value: Any) -> V:
        """Return the value that plain JSON stands for."""
        raise NotImplementedError

    def process_bind_param(self, value: V | None, dialect: Dialect) -> JsonValue:  # noqa: ARG002
        """Return JSON or NULL."""
        return None if value is None else clean_json(self.to_json(value))

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], V | None]:
        """Return what makes a value of what the driver gives: text, or on PostgreSQL the parsed value."""
        parse = self.impl_instance.result_processor(dialect, coltype)
        empty = cast("V | None", self.empty)

        def value_of(stored: Any) -> V | None:
            if stored is None:
                return None
            if stored in ("[]", "{}"):
                return empty
            return self.from_json(stored if parse is None else parse(stored))

        return value_of


class TextList(JsonOf[tuple[str, ...]]):
    """A tuple of texts."""

    cache_ok = True
    empty = ()

    def to_json(self, value: tuple[str, ...]) -> JsonValue:
        """Return a JSON list."""
        return list(value)

    def from_json(self, value: list[str]) -> tuple[str, ...]:
        """Return the texts."""
        return tuple(value)


class NumberList(JsonOf[tuple[int, ...]]):
    """A tuple of numbers."""

    cache_ok = True
    empty = ()

    def to_json(self, value: tuple[int, ...]) -> JsonValue:
        """Return a JSON list."""
        return list(value)

    def from_json(self, value: list[int]) -> tuple[int, ...]:
        """Return the numbers."""
        return tuple(value)


class Titles(JsonOf[tuple[Title, ...]]):
    """Names of an item, each with its country and language."""

    cache_ok = True
    empty = ()

    def to_json(self, value: tuple[Title, ...]) -> JsonValue:
        """Return a JSON list of [text, country, language], with `true` behind a person's own."""
        return [
            [title.text, title.country, title.language, *([True] if title.is_own else [])] for title in value
        ]

    def from_json(self, value: list[list[Any]]) -> tuple[Title, ...]:
        """Return the names."""
        return tuple(Title(*parts) for parts in value)


class ReleaseDates(JsonOf[Mapping[ReleaseKind, datetime]]):
    """Release dates by kind."""

    cache_ok = True
    empty: ClassVar[object] = MappingProxyType({})

    def to_json(self, value: Mapping[ReleaseKind, datetime]) -> JsonValue:
        """Return a JSON object of ISO 8601 instants."""
        return {kind.value: at.astimezone(UTC).isoformat() for kind, at in value.items()}

    def from_json(self, value: dict[str, str]) -> Mapping[ReleaseKind, datetime]:
        """Return the dates."""
        return {ReleaseKind(kind): datetime.fromisoformat(at) for kind, at in value.items()}


class ContradictionType(JsonOf[Contradiction]):
    """Why an item makes no sense."""

    cache_ok = True

    def to_json(self, value: Contradiction) -> JsonValue:
        """Return a JSON list."""
        return [value.reason, value.with_metadata]

    def from_json(self, value: list[object]) -> Contradiction:
        """Return the contradiction."""
        return Contradiction(str(value[0]), with_metadata=bool(value[1]))


def words_of(kind: type[E]) -> Enum:
    """Return a text column type that holds the values of an enum."""
    return Enum(
        kind,
        native_enum=False,
        create_constraint=False,
        length=ENUM_LENGTH,
        values_callable=lambda members: [str(member.value) for member in members],
    )
