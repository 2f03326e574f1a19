"""What is wrong with settings, in sentences a person can act on; the value of a secret is never part of one."""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from program.errors import RivuletError, SettingsError
from program.log import MASK
from program.settings.fields import fields, inside, is_secret, leaves, section_of

FILE_NAME = "settings.json"
# Longer values are cut in a sentence.
LONGEST_VALUE = 60

SENTENCES: Mapping[str, str] = {
    "missing": "is missing",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text in quotes",
    "string_too_short": "must have {min_length} characters or more",
    "string_too_long": "must have {max_length} characters or fewer",
    "too_short": "must have {min_length} entries or more",
    "too_long": "must have {max_length} entries or fewer",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "frozen_set_type": "must be a list",
    "dict_type": "must be an object in braces",
    "model_type": "must be an object in braces",
    "model_attributes_type": "must be an object in braces",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be one of {expected}",
    "enum": "must be one of {expected}",
    "url_parsing": "is not a URL: {error}",
    "url_type": "must be a URL in quotes",
    "url_scheme": "must be a URL that begins with {expected_schemes}",
    "url_too_long": "is too long for a URL",
    "value_error": "{error}",
}


# Where the value says nothing that the sentence does not.
WITHOUT_VALUE = frozenset({"missing", "too_short", "too_long"})


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. path: where in the settings; source: the file or the environment variable."""

    path: str
    reason: str
    source: str = FILE_NAME

    def __str__(self) -> str:
        return ": ".join(part for part in (self.source, self.path, self.reason) if part)


class InvalidSettings(SettingsError):
    """Settings that cannot be used; `str()` has one line for each of `problems`."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems[0].path, self.problems[0].reason)
        self.args = ("\n".join(map(str, self.problems)),)


class SettingsConflict(RivuletError):
    """The file is not the one the new settings were made from; somebody else wrote it meanwhile."""


class SettingsNotWritten(RivuletError):
    """The file could not be written; nothing has changed."""


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    owner: type[BaseModel] | None
    annotation: object


def explain(
    error: ValidationError, model: type[BaseModel], sources: Mapping[str, str]
) -> tuple[Problem, ...]:
    """Return every problem of a validation. sources: path to the environment variable that set it."""
    return tuple(_problem(detail, model, sources) for detail in error.errors(include_url=False))


def _problem(detail: ErrorDetails, model: type[BaseModel], sources: Mapping[str, str]) -> Problem:
    place = _locate(model, detail["loc"])
    source = next((name for path, name in sources.items() if _covers(path, place.path)), FILE_NAME)
    if detail["type"] == "extra_forbidden":
        return Problem(place.path, f"unknown key{_hint(model, place)}", source)
    return Problem(place.path, _sentence(detail, hide=is_secret(place.annotation)), source)


def _covers(path: str, place: str) -> bool:
    return place == path or place.startswith((f"{path}.", f"{path}["))


def _locate(model: type[BaseModel], loc: tuple[int | str, ...]) -> _Place:
    """Return where a validation error is; steps that only name a branch of a union are left out."""
    path, annotation = "", object()
    owner, section = None, model if loc else None
    for step in loc:
        owner, section = section, None
        if owner is not None:
            known = fields(owner).get(str(step))
            annotation = known[1].annotation if known else object()
            path = f"{path}.{step}" if path else str(step)
        else:
            deeper = inside(annotation, step)
            is_branch = isinstance(step, str) and deeper is annotation
            path += f"[{step}]" if isinstance(step, int) else "" if is_branch else f".{step}"
            annotation = deeper
        section = section_of(annotation)
    return _Place(path, owner, annotation)


def _hint(model: type[BaseModel], place: _Place) -> str:
    key = place.path.rpartition(".")[2]
    beside = difflib.get_close_matches(key, fields(place.owner) if place.owner else (), n=1)
    if beside:
        return f" (did you mean {beside[0]}?)"
    sections = {leaf.path.rpartition(".")[0] for leaf in leaves(model)}
    elsewhere = sorted(path for path in sections if path.rpartition(".")[2] == key)
    return f" (did you mean {elsewhere[0]}?)" if elsewhere else ""


def _sentence(detail: ErrorDetails, *, hide: bool) -> str:
    template = SENTENCES.get(detail["type"])
    if template is not None:
        sentence = template.format_map(detail.get("ctx", {}))
    else:
        sentence = detail["msg"].replace("Input should be", "must be")
    value = detail["input"]
    if hide:
        return sentence.replace(str(value), MASK) if str(value) else sentence
    is_scalar = value is None or isinstance(value, (str, int, float))
    return (
        f"{sentence}, not {shown(value)}" if is_scalar and detail["type"] not in WITHOUT_VALUE else sentence
    )


def shown(value: str | float | bool | None) -> str:  # noqa: FBT001 - any value of a JSON file
    """Return a value for a sentence: cut, and without the password of a URL."""
    text = json.dumps(mask_address(value) if isinstance(value, str) else value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"


def mask_address(text: str) -> str:
    """Return `text` with the password masked when it is a URL that holds one."""
    password = address_password(text)
    if not password:
        return text
    parts = urlsplit(text)
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{name}:{MASK}@{host}"))


def address_password(text: str) -> str | None:
    """Return the password inside a URL, as it is written there, or None."""
    if "://" not in text or "@" not in text:
        return None
    try:
        user = urlsplit(text).netloc.rpartition("@")[0]
    except ValueError:
        return None
    return user.partition(":")[2] or None
