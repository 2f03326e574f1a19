"""Why an item stands where it stands, in one sentence with a date: what is beside its chip."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from program.db.views import ChildView, ItemDetail, StoredDecision
from program.media.item import Item, MediaType, States
from program.media.release import Candidate
from program.media.schedule import NO_SERVER, UNCONFIRMED
from program.web.times import count

# More reasons than this are no longer read.
MOST_REASONS = 3
# What the codes of refusals are called, in front of a number of releases.
REASONS: Mapping[str, str] = {
    "adult": "pornography",
    "bonus_material": "bonus material",
    "camera_copy": "copied in a cinema",
    "disc_image": "whole discs",
    "dolby_vision_alone": "Dolby Vision only",
    "incomplete_show": "not the whole show",
    "language": "in other languages",
    "not_released_yet": "fakes from before the release",
    "pattern": "against your patterns",
    "resolution": "of a resolution you refuse",
    "series_for_film": "of another kind",
    "size": "of a wrong size",
    "unwanted_property": "of a quality you refuse",
    "wrong_country": "of another country",
    "wrong_episode": "of other episodes",
    "wrong_season": "of other seasons",
    "wrong_title": "of other titles",
    "wrong_year": "of other years",
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is the matter. note: stands in front of `at`, when there is one."""

    text: str
    note: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a sentence is made from. item: with its confirmations; title: of a provider, by its key."""

    item: Item
    detail: ItemDetail
    story: Sequence[StoredDecision]
    active: Candidate | None
    now: datetime
    title: Callable[[str], str]

    @property
    def leaves(self) -> tuple[ChildView, ...]:
        """Return the episodes beneath that are asked for."""
        return tuple(leaf for leaf in episodes(self.detail.children) if leaf.is_requested)

    def last(self, step: str) -> StoredDecision | None:
        """Return the newest decision of a step about the item itself."""
        own = (made for made in reversed(self.story) if made.item_id == self.item.id and made.step == step)
        return next(own, None)

    @property
    def next_at(self) -> datetime | None:
        """Return when something is tried again, here or beneath."""
        dates = [self.item.schedule.next_attempt_at, *(leaf.next_attempt_at for leaf in self.leaves)]
        return min((at for at in dates if at is not None), default=self.item.schedule.reindex_at)


def episodes(children: Iterable[ChildView]) -> Iterator[ChildView]:
    """Yield the episodes among and beneath some children."""
    for child in children:
        if child.type is MediaType.EPISODE:
            yield child
        yield from episodes(child.children)


def sentence(scene: Scene) -> Sentence:
    """Return what is the matter with an item."""
    return SENTENCES[scene.item.last_state](scene)


def _completed(scene: Scene) -> Sentence:
    facts = scene.item.facts
    if not scene.item.type.is_leaf:
        return Sentence(f"All {count(len(scene.leaves), 'episode')} ready to watch")
    if facts.confirmed_by == UNCONFIRMED:
        return Sentence("In the folder, though no media server has listed it", "since", facts.confirmed_at)
    if facts.confirmed_by in (NO_SERVER, None):
        return Sentence("Ready to watch", "in the folder since", facts.confirmed_at)
    return Sentence("Ready to watch", f"in {scene.title(facts.confirmed_by)} since", facts.confirmed_at)


def _partly(scene: Scene) -> Sentence:
    missing = [leaf for leaf in scene.leaves if leaf.last_state is not States.Completed]
    listed = ", ".join(str(leaf.number) for leaf in missing)
    few = scene.item.type is MediaType.SEASON and len(missing) <= MOST_REASONS
    what = f"Episode {listed}" if few else count(len(missing), "episode")
    return Sentence(f"{what} still wanted", "next step", scene.next_at)


def _ongoing(scene: Scene) -> Sentence:
    out = [leaf for leaf in scene.leaves if leaf.last_state is not States.Unreleased]
    ready = sum(leaf.last_state is States.Completed for leaf in out)
    text = (
        f"All {len(out)} so far ready" if out and ready == len(out) else f"{ready} of {len(out)} so far ready"
    )
    ahead = min(
        (leaf.aired_at for leaf in scene.leaves if leaf.aired_at and leaf.aired_at > scene.now), default=None
    )
    return Sentence(text, "next episode", ahead)


def _unreleased(scene: Scene) -> Sentence:
    reason = scene.item.schedule.next_reason
    text = f"Not out yet: {reason}" if reason and "season" in reason else "Not out yet"
    return Sentence(text, "checked again", scene.next_at)


def _requested(scene: Scene) -> Sentence:
    trouble = scene.last("index")
    if trouble is not None and trouble.outcome != "indexed":
        return Sentence(trouble.sentence.rstrip("."), "tried again", scene.next_at)
    return Sentence("Looking it up")


def _searching(scene: Scene) -> Sentence:
    last = scene.last("scrape")
    if not scene.item.type.is_leaf and last is None:
        return Sentence("Searching its episodes", "next search", scene.next_at)
    if last is None:
        reason = scene.item.schedule.next_reason
        return Sentence(
            f"Waits: {reason}" if reason else "About to be searched", "next search", scene.next_at
        )
    if last.outcome in ("error", "waiting"):
        return Sentence(last.sentence.rstrip("."), "tried again", scene.next_at)
    return Sentence(nothing_fits(last.data), "next search", scene.next_at)


def nothing_fits(data: Mapping[str, object]) -> str:
    """Return how many releases a search saw and why they were refused."""
    seen, refused = data.get("considered"), data.get("refused")
    if not isinstance(seen, int) or not seen:
        return "No releases are offered yet"
    reasons = refused if isinstance(refused, dict) else {}
    ordered = sorted(reasons.items(), key=lambda pair: -pair[1])[:MOST_REASONS]
    why = ", ".join(f"{number} {REASONS.get(code, code.replace('_', ' '))}" for code, number in ordered)
    return f"Nothing fits yet: {count(seen, 'release')} seen" + (f", {why}" if why else "")


def _found(scene: Scene) -> Sentence:
    last = scene.last("download")
    if last is not None and last.outcome in ("waiting", "error"):
        return Sentence(last.sentence.rstrip("."), "tried again", scene.next_at)
    name = scene.active.release.raw_title if scene.active else "what was found"
    return Sentence(f"Asking for {name}")


def _fetched(_scene: Scene) -> Sentence:
    return Sentence("Adding it to the library folder")


def _in_library(scene: Scene) -> Sentence:
    open_questions = [one for one in scene.item.facts.confirmations if one.confirmed_at is None]
    if not open_questions:
        return Sentence("In the folder, about to be shown to the media servers")
    names = " and ".join(scene.title(one.server) for one in open_questions)
    times = max(one.asked_times for one in open_questions)
    asked = "once" if times == 1 else f"{times} times"
    return Sentence(
        f"In the folder, waiting for {names} to list it, asked {asked}", "asked again", scene.next_at
    )


def _unknown(scene: Scene) -> Sentence:
    contradiction = scene.item.facts.contradiction
    return Sentence(contradiction.reason if contradiction else "No id of a metadata service is known")


def _failed(scene: Scene) -> Sentence:
    facts = scene.item.facts
    if facts.failed_reason:
        return Sentence(
            facts.failed_reason[:1].upper() + facts.failed_reason[1:], "given up", facts.failed_at
        )
    failed = sum(leaf.last_state is States.Failed for leaf in scene.leaves)
    return Sentence(f"{count(failed, 'episode')} given up" if failed else "Given up", "", facts.failed_at)


def _paused(scene: Scene) -> Sentence:
    return Sentence("Nothing is done with it until you resume it", "paused", scene.item.facts.paused_at)


SENTENCES: Mapping[States, Callable[[Scene], Sentence]] = {
    States.Completed: _completed,
    States.PartiallyCompleted: _partly,
    States.Ongoing: _ongoing,
    States.Unreleased: _unreleased,
    States.Requested: _requested,
    States.Indexed: _searching,
    States.Scraped: _found,
    States.Downloaded: _fetched,
    States.Symlinked: _in_library,
    States.Unknown: _unknown,
    States.Failed: _failed,
    States.Paused: _paused,
}
