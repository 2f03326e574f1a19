"""A known state of the library for tests of the whole program: `main.py run --scenario FILE`, on an empty database only.

FILE is JSON: `{"titles": [{"movie": true, "ids": {"tmdb": "45745"}, "seasons": null, "metadata": {…}, "facts": {"": {…}}}]}`.
metadata has the fields of `program.media.metadata.Metadata`; without it the title is only asked for. facts are by row, `""` for
the title, `s01` for a season, `s01e02` for an episode, and have the names of `program.media.item.Facts`.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from program.db import items, requests
from program.db.commit import commit_outcome
from program.db.decisions import Decision
from program.db.engine import Database, Tx
from program.errors import StartupError
from program.media.item import Facts, Ids, Node
from program.media.metadata import ContentRequest, Metadata
from program.media.outcomes import index_found
from program.media.state import Policy
from program.plugins.answers import check_for

SOURCE = "scenario"
ROW = re.compile(r"(?:s(\d{2,4})(?:e(\d{2,4}))?)?")


class ScenarioTitle(BaseModel):
    """One title."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    movie: bool
    ids: Ids
    seasons: tuple[int, ...] | None = None
    metadata: Metadata | None = None
    facts: Mapping[str, Mapping[str, JsonValue]] = Field(default_factory=dict)


class Scenario(BaseModel):
    """All titles of a library."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    titles: tuple[ScenarioTitle, ...]


def load(file: Path) -> Scenario:
    """Return the scenario in a file; raise StartupError with what is wrong and where."""
    try:
        scenario = Scenario.model_validate_json(file.read_bytes())
    except OSError as error:
        raise StartupError(f"the scenario {file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        raise StartupError(f"the scenario {file}: {where}: {first['msg']}") from None
    for place, title in enumerate(scenario.titles):
        fault = check_for(Metadata)(title.metadata) if title.metadata else None
        if fault is not None:
            raise StartupError(f"the scenario {file}: titles.{place}.metadata{fault[0]} {fault[1]}")
    return scenario


def apply(scenario: Scenario, db: Database, now: datetime, policy: Policy) -> int:
    """Fill an empty database; return how many titles there are. Raises StartupError when there are titles already."""
    with db.write() as tx:
        if items.all_roots(tx):
            raise StartupError("--scenario is for an empty database only; this one has titles")
        for title in scenario.titles:
            _apply_title(tx, title, now, policy)
    return len(scenario.titles)


def _apply_title(tx: Tx, title: ScenarioTitle, now: datetime, policy: Policy) -> None:
    wish = ContentRequest(source=SOURCE, is_movie=title.movie, ids=title.ids, seasons=title.seasons)
    root_id = requests.accept(tx, wish, now, by_person=True).root_id
    if root_id is None:
        raise StartupError(f"the scenario's title {title.ids} cannot be asked for")
    facts: dict[int, Mapping[str, object]] = {}
    if title.metadata is not None:
        root_id = items.store_metadata(tx, root_id, title.metadata, now).root_id
        facts[root_id] = index_found(now)
    root = items.tree(tx, root_id, now, ())
    for row, given in title.facts.items():
        item_id = _row(root, row)
        facts[item_id] = {**facts.get(item_id, {}), **dict(_typed(row, given))}
    decision = Decision(root_id, "scenario", "applied", "Put here by a scenario.")
    commit_outcome(tx, root_id, facts, [decision], now, policy, ())


def _row(root: Node | None, name: str) -> int:
    """Return the item of a row's name; raise StartupError when there is none."""
    match = ROW.fullmatch(name)
    node = root if match else None
    for number in match.groups() if match else ():
        if number is not None and node is not None:
            node = next((child for child in node.children if child.item.number == int(number)), None)
    if node is None:
        raise StartupError(f"the scenario has facts for the row {name!r}, and there is none")
    return node.item.id


def _typed(row: str, given: Mapping[str, JsonValue]) -> Iterator[tuple[str, object]]:
    """Yield the facts as values of their types; raise StartupError for one that is none."""
    hints = get_type_hints(Facts)
    for name, value in given.items():
        try:
            typed = TypeAdapter(hints[name]).validate_python(value)
        except (KeyError, ValidationError):
            raise StartupError(f"the scenario has {name} = {value!r} for {row!r}, which is no fact") from None
        if check_for(hints[name])(typed) is not None:
            raise StartupError(f"the scenario's {name} for {row!r} has no time zone")
        yield name, typed
