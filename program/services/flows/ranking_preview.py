"""Which titles would get another release with changed ranking settings, of those that searches found; nothing is written."""

from collections.abc import Iterable
from dataclasses import dataclass

from program.clock import Clock
from program.db import items, streams
from program.db.engine import Database
from program.db.lookup import root_of, shared_names
from program.media.item import Node
from program.media.release import Candidate, JudgedRelease
from program.media.wanted import wanted_for
from program.services.flows import copies
from program.services.flows.context import label
from program.services.matching.explain import found_again
from program.services.matching.judge import judge
from program.services.matching.rank import key_of
from program.settings.models import RootSettings
from program.settings.ranking import RankingOptions


@dataclass(frozen=True, slots=True)
class Choice:
    """The release that would be taken."""

    raw_title: str
    resolution: str
    rank: int


@dataclass(frozen=True, slots=True)
class Change:
    """A title that would choose differently; None: nothing would be taken."""

    item_id: int
    title: str
    now: Choice | None
    then: Choice | None


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the library. checked: titles looked at; next_after: where to go on, None when all were looked at."""

    changes: tuple[Change, ...]
    checked: int
    next_after: int | None


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is looked at in one go. after: the last item of the page before; seconds: no title is begun after that."""

    after: int = 0
    limit: int = 200
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Preview:
    """Compares two settings on the releases of a library. providers: keys of the enabled downloaders."""

    db: Database
    clock: Clock
    providers: tuple[str, ...]
    before: RootSettings
    after: RootSettings

    def page(self, bounds: Bounds) -> Page:
        """Return the titles of the next part of the library that would choose differently."""
        until = self.clock.monotonic() + bounds.seconds
        with self.db.read() as tx:
            ids = streams.items_after(tx, bounds.after, bounds.limit)
        found: list[Change] = []
        checked, last = 0, bounds.after
        for item_id in ids:
            if checked and self.clock.monotonic() > until:
                return Page(tuple(found), checked, last)
            change = self._change(item_id)
            found += [change] if change is not None else []
            checked, last = checked + 1, item_id
        return Page(tuple(found), checked, last if len(ids) == bounds.limit else None)

    def _change(self, item_id: int) -> Change | None:
        now = self.clock.now()
        with self.db.read() as tx:
            root_id = root_of(tx, [item_id]).get(item_id)
            root = items.tree(tx, root_id, now, self.providers) if root_id is not None else None
            if root is None:
                return None
            rankings = [
                copies.rankings(settings, tx, root.item.id).usual.plain()
                for settings in (self.before, self.after)
            ]
            if rankings[0] == rankings[1]:
                return None
            others = shared_names(tx, root.item)
            found = [
                one for one in streams.candidates(tx, item_id, now, self.providers) if self._is_free(one)
            ]
        chosen = [self._best(root, item_id, others, found, ranking) for ranking in rankings]
        if _hash(chosen[0]) == _hash(chosen[1]):
            return None
        return Change(item_id, label(root, item_id), *(_choice(one) for one in chosen))

    def _is_free(self, one: Candidate) -> bool:
        """Return True for a release that neither a person nor every provider has ruled out."""
        blocked = {block.provider for block in one.blocks}
        return one.blacklisted is None and not (self.providers and blocked >= {*self.providers})

    def _best(
        self,
        root: Node,
        item_id: int,
        others: tuple[str, ...],
        found: Iterable[Candidate],
        ranking: RankingOptions,
    ) -> JudgedRelease | None:
        missing = frozenset(leaf.item.id for leaf in root.leaves())
        wanted = wanted_for(root, item_id, missing=missing, other_titles=others)
        judged = judge(wanted, [found_again(one.release) for one in found], ranking, self.clock.now())
        accepted = [release for release in judged if release.rejection is None]
        by_rank = ranking.order == "rank"
        return max(accepted, key=lambda release: key_of(release, by_rank=by_rank), default=None)


def _hash(release: JudgedRelease | None) -> str | None:
    return None if release is None else release.infohash


def _choice(release: JudgedRelease | None) -> Choice | None:
    return None if release is None else Choice(release.raw_title, release.resolution, release.rank)
