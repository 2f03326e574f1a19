"""Why each release of a title is taken or not, for the list of its releases: what `match/explain` answers, for those found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from program.api.answers.stories import RuleBody
from program.api.context import ApiContext
from program.db.lookup import root_of, shared_names
from program.db.trees import tree
from program.errors import NotFound
from program.media.release import Candidate
from program.media.wanted import Wanted, wanted_for
from program.services.flows import copies
from program.services.flows.context import NAMES
from program.services.matching.explain import Explained, best_first, chain, explain_releases, found_again
from program.services.matching.kept_names import kept_in
from program.settings.ranking import RankingOptions

# Nobody reads the rules of more releases than these, and each takes a millisecond.
MOST_EXPLAINED = 300


@dataclass(frozen=True, slots=True)
class Reasons:
    """What the rules answer for a release today, and what puts it above the next one."""

    rules: list[RuleBody]
    above_next: str | None


NO_REASONS = Reasons([], None)


def wanted_of(context: ApiContext, item_id: int) -> tuple[Wanted, RankingOptions]:
    """Return a title of the library as the rules see it, and the ranking that counts for it. Raises NotFound."""
    with context.db.read() as tx:
        root_id = root_of(tx, [item_id]).get(item_id)
        root = tree(tx, root_id, context.clock.now(), context.providers()) if root_id is not None else None
        if root is None:
            raise NotFound(f"no item has the id {item_id}")
        others = shared_names(tx, root.item)
        ranking = copies.rankings(context.store.current, tx, root.item.id).usual.plain()
    missing = frozenset(leaf.item.id for leaf in root.leaves())
    return wanted_for(root, item_id, missing=missing, other_titles=others), ranking


def reasons(context: ApiContext, item_id: int, candidates: Iterable[Candidate]) -> Mapping[int, Reasons]:
    """Return, by the id of a candidate, why it is taken or not; the first of a long list only."""
    wanted, ranking = wanted_of(context, item_id)
    known = {one.release.infohash: one.id for one in list(candidates)[:MOST_EXPLAINED]}
    found = [found_again(one.release) for one in candidates if one.release.infohash in known]
    with kept_in(names_folder(context)):
        explained = explain_releases(wanted, found, ranking, context.clock.now())
    above = {one.above.infohash: one.sentence for one in chain(best_first(explained, ranking), ranking)}
    return {
        known[one.release.infohash]: Reasons(rules_of(one), above.get(one.release.infohash))
        for one in explained
    }


def names_folder(context: ApiContext) -> Path:
    """Return where the names are kept that searches read."""
    return context.store.folder / NAMES


def rules_of(one: Explained) -> list[RuleBody]:
    """Return every rule's answer."""
    return [
        RuleBody(
            rule=said.code,
            passed=said.refusal is None,
            sentence=said.refusal.sentence if said.refusal else None,
            permanent=said.refusal.permanent if said.refusal else None,
        )
        for said in one.answers
    ]
