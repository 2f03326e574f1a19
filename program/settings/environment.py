"""Settings from environment variables: `RIVULET_DOWNLOADERS__REALDEBRID__API_KEY` sets `downloaders.realdebrid.api_key`.

Two underscores stand for a dot. With `_FILE` behind the name the value is read from the file whose path the variable holds.
An empty variable counts as not set. What is set here wins over the file, is never written into it and cannot be changed by the API.
"""

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from program.settings.fields import Leaf, bare, leaves
from program.settings.problems import InvalidSettings, Problem

PREFIX = "RIVULET_"
# The folder of the settings file; not itself a setting.
CONFIG = "RIVULET_CONFIG"
FILE_SUFFIX = "_FILE"
# Container engines make these up for a container or service that is called "rivulet".
MADE_UP = re.compile(r"RIVULET_(SERVICE_(HOST|PORT)\w*|PORT|PORT_\d+_(TCP|UDP)\w*|NAME|ENV_\w+)")
WORDS: Mapping[str, bool] = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
# A document has a version of its own, and its schema is where we put it.
NOT_FOR_ENVIRONMENT = frozenset({"version", "$schema"})


@dataclass(frozen=True, slots=True)
class Override:
    """One value from the environment. variable: the name it was found under; path: what it sets."""

    variable: str
    path: str
    value: JsonValue


def variable_for(path: str) -> str:
    """Return the environment variable that sets the value at a path."""
    return PREFIX + path.upper().replace(".", "__")


def read(environ: Mapping[str, str], model: type[BaseModel]) -> tuple[Override, ...]:
    """Return what the environment sets; raise InvalidSettings with every variable that leads nowhere or to a place already set."""
    table = _table(model)
    found: dict[str, Override] = {}
    problems: list[Problem] = []
    for variable, text in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable == CONFIG or not text or MADE_UP.fullmatch(variable):
            continue
        try:
            override = _override(variable, text, table)
        except InvalidSettings as error:
            problems.extend(error.problems)
            continue
        if override.path in found:
            other = found[override.path].variable
            problems.append(Problem(override.path, f"is set by {other} as well", variable))
        found[override.path] = override
    if problems:
        raise InvalidSettings(problems)
    return tuple(found.values())


def _table(model: type[BaseModel]) -> Mapping[str, Leaf]:
    return {variable_for(leaf.path): leaf for leaf in leaves(model) if leaf.path not in NOT_FOR_ENVIRONMENT}


def _override(variable: str, text: str, table: Mapping[str, Leaf]) -> Override:
    target = table.get(variable)
    if target is None and variable.endswith(FILE_SUFFIX):
        target = table.get(variable.removesuffix(FILE_SUFFIX))
        text = _content(variable, target.path, text) if target else text
    if target is None:
        close = difflib.get_close_matches(variable, table, n=1, cutoff=0.8)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise InvalidSettings([Problem("", f"there is no such setting{hint}", variable)])
    return Override(variable, target.path, _value(text, target.info))


def _content(variable: str, path: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise InvalidSettings([Problem(path, f"cannot read {file}: {reason}", variable)]) from error


def _value(text: str, info: FieldInfo) -> JsonValue:
    """Return the text as the JSON value that the setting's type takes; the text itself when nothing fits."""
    adapter: TypeAdapter[object] = TypeAdapter(bare(info.annotation))  # type: ignore[arg-type]
    for candidate in _candidates(text):
        try:
            adapter.validate_json(json.dumps(candidate), strict=True)
        except ValidationError:
            continue
        return candidate
    return text


def _candidates(text: str) -> Iterator[JsonValue]:
    yield text
    if text.lower() in WORDS:
        yield WORDS[text.lower()]
    try:
        yield json.loads(text)
    except ValueError:
        parts = [part.strip() for part in text.split(",")]
        yield list(parts)
        if all(part.isdecimal() for part in parts):
            yield [int(part) for part in parts]
