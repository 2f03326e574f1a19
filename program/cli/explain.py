"""`explain`: why a release is taken or not, and what puts one above another, on the command line."""

from collections.abc import Iterator, Mapping

import click
from pydantic import ValidationError

from program.api.match import ExplainBody, ExplainedBody, ExplainPayload, MadeUpItem, answer
from program.clock import Clock
from program.db.engine import Database
from program.db.lookup import root_of, shared_names
from program.db.trees import tree
from program.errors import NotFound
from program.media.wanted import Wanted, wanted_for
from program.program import database_url
from program.services.matching.explain import explain_releases
from program.settings.store import SettingsStore

# What an option of the command may be.
Given = str | int | bool | tuple[str, ...] | None


def explain(
    store: SettingsStore, item: int | MadeUpItem, names: tuple[str, ...], clock: Clock
) -> ExplainBody:
    """Return the explanation; item: an id of the library, or a made-up title. Raises NotFound."""
    wanted = _of_library(store, item, clock) if isinstance(item, int) else item.wanted()
    ranking = store.current.ranking.plain()
    found = ExplainPayload(item_id=1, releases=list(names)).found()
    return answer(explain_releases(wanted, found, ranking, clock.now()), ranking)


def made_up(kind: str, item: Mapping[str, Given]) -> MadeUpItem:
    """Return a title from the options that are given; raise click.UsageError with what is wrong."""
    given = {name: list(value) if isinstance(value, tuple) else value for name, value in item.items()}
    try:
        return MadeUpItem.model_validate({"type": kind, **{k: v for k, v in given.items() if v is not None}})
    except ValidationError as error:
        raise click.UsageError(str(error.errors()[0]["msg"]).removeprefix("Value error, ")) from None


def _of_library(store: SettingsStore, item_id: int, clock: Clock) -> Wanted:
    database = Database(database_url(store), data_dir=store.folder, clock=clock)
    database.open()
    try:
        with database.read() as tx:
            root_id = root_of(tx, [item_id]).get(item_id)
            root = tree(tx, root_id, clock.now(), ()) if root_id is not None else None
            others = shared_names(tx, root.item) if root is not None else ()
    finally:
        database.close()
    if root is None:
        raise NotFound(f"no item has the id {item_id}")
    missing = frozenset(leaf.item.id for leaf in root.leaves())
    return wanted_for(root, item_id, missing=missing, other_titles=others)


def text(body: ExplainBody) -> str:
    """Return it for reading."""
    lines = [line for release in body.releases for line in _lines(release)]
    lines += [
        f"{one.above}\n  is above {one.below}\n  by {one.by}: {one.sentence}" for one in body.differences
    ]
    return "\n".join(lines)


def _lines(release: ExplainedBody) -> Iterator[str]:
    verdict = "taken" if release.accepted else f"refused: {release.rejection}"
    yield f"{release.name}\n  {verdict}"
    year = f" ({release.year})" if release.year else ""
    yield f"  read as {release.title or 'nothing'}{year}, {release.similarity:.0%} like {release.known_name or 'the title'}"
    for rule in release.rules:
        yield f"  {'ok' if rule.passed else 'no':<3} {rule.rule}{'' if rule.passed else ': ' + (rule.sentence or '')}"
    terms = ", ".join(f"{name} {points:+}" for name, points in release.score.items())
    yield f"  {release.rank} points{': ' + terms if terms else ''}"
