"""What is generated from the settings model: the JSON Schema and the page `docs/settings.md`."""

import json
from collections.abc import Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from program.settings import document as documents
from program.settings.applies import applies
from program.settings.environment import NOT_FOR_ENVIRONMENT, variable_for
from program.settings.fields import fields, is_secret, varies
from program.settings.models import RootSettings
from program.settings.provider import ProviderSettings, heading

DIALECT = "https://json-schema.org/draft/2020-12/schema"
INTRODUCTION = """# Settings

This page is generated from the settings' classes (`make docs`).

The settings are one file, `settings.json`, in the config folder: `data`, or the folder that `RIVULET_CONFIG` names (`/config`
in the container). It is made at the first start, readable by its owner only, with an API key of its own. It can be edited by
hand, on the settings page or through the API. An edit by hand is noticed within a few seconds; a bad one is refused with its
place and reason in the log while the last good settings stay in force. An editor that knows JSON Schema completes keys by
`settings.schema.json` beside it.

Each setting can come from the environment instead: by the variable named below, or by the same name with `_FILE` behind it, which
holds the path of a file with the value. Lists are written as JSON or with commas. What the environment sets wins over the file, is
never written into it, and can only be changed there; an empty variable counts as not set, a variable that names no setting is an
error.
"""


def schema_text(model: type[RootSettings]) -> str:
    """Return the JSON Schema of the settings file as text."""
    schema = {"$schema": DIALECT, **model.model_json_schema(by_alias=True)}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def example_text(model: type[RootSettings]) -> str:
    """Return a settings file with the defaults."""
    return documents.to_text(documents.starter(model))


def settings_page(model: type[RootSettings]) -> str:
    """Return `docs/settings.md`: each setting with its default, its environment variable and when a change counts."""
    return "\n".join([INTRODUCTION, *_section(model(), "", "General")]).rstrip("\n") + "\n"


def _section(defaults: BaseModel, prefix: str, title: str) -> Iterator[str]:
    """Yield the lines of a section, then those of the sections inside; `defaults` is the section as it is when nothing is set."""
    known = {key: (getattr(defaults, name), info) for key, (name, info) in fields(type(defaults)).items()}
    sections = {key: found for key, found in known.items() if _has_a_table(*found)}
    values = {key: found for key, found in known.items() if key not in sections}
    if prefix:
        yield f"{'###' if isinstance(defaults, ProviderSettings) else '##'} `{prefix.rstrip('.')}` {title}\n"
        yield f"{_first_line(defaults)}\n"
    if values:
        yield "| setting | default | what it does | environment | a change counts |"
        yield "|---|---|---|---|---|"
        for key, (value, info) in values.items():
            yield _row(f"{prefix}{key}", key, value, info)
        yield ""
    for key, (value, info) in sections.items():
        yield from _section(value, f"{prefix}{key}.", info.title or heading(type(value)))


def _has_a_table(value: object, info: FieldInfo) -> bool:
    """True for a section of its own; one whose field is described is a value of several parts, and a row."""
    return isinstance(value, BaseModel) and not info.description


def _first_line(section: BaseModel) -> str:
    return (type(section).__doc__ or "").strip().partition("\n")[0]


def _row(path: str, key: str, value: object, info: FieldInfo) -> str:
    default = (
        "of this machine"
        if varies(info)
        else f"`{json.dumps(documents.value_of(value), ensure_ascii=False)}`"
    )
    default += " (secret)" if is_secret(info.annotation) else ""
    parts = [f"{path}.{part}" for part in fields(type(value))] if isinstance(value, BaseModel) else [path]
    variables = ", ".join(f"`{variable_for(part)}`" for part in parts if part not in NOT_FOR_ENVIRONMENT)
    cells = (f"`{key}`", default, info.description or "", variables, str(applies(path)))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
