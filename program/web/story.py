"""The timeline of an item as a page tells it: newest first, repetitions drawn together, each search with what it saw."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from program.api.explained import NO_REASONS, Reasons
from program.db.views import ItemDetail, StoredDecision
from program.media.release import Candidate, JsonValue
from program.web import words
from program.web.sentence import REASONS

# What a step is called and marked with.
STEPS: Mapping[str, tuple[str, str]] = {
    "request": ("Asked for", "person"),
    "index": ("Looked up", "eye"),
    "scrape": ("Searched", "search"),
    "download": ("Fetched", "down"),
    "complete": ("Library", "folder"),
    "confirm": ("Media servers", "play"),
    "post-process": ("Afterwards", "spark"),
    "person": ("By a person", "person"),
}
GOOD = frozenset({"indexed", "found", "taken", "registered", "completed", "done"})
BAD = frozenset({"error", "failed", "contradictory", "unconfirmed"})


@dataclass(frozen=True, slots=True)
class Row:
    """One release that a step looked at. why: the refusal."""

    release: str
    why: str
    provider: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step, or several in a row that said the same. place: whose it is, beneath a show. rows: what it looked at.

    counts: refusals by reason. is_newest_search: the releases of the item are what this one saw.
    """

    item_id: int
    place: str
    word: str
    icon: str
    tone: str
    sentence: str
    at: datetime
    times: int
    next_at: datetime | None
    counts: tuple[tuple[str, int], ...] = ()
    rows: tuple[Row, ...] = ()
    troubles: tuple[str, ...] = ()
    is_newest_search: bool = False


@dataclass(frozen=True, slots=True)
class Term:
    """A part of a score. at, width: where its bar stands, of a hundred."""

    name: str
    points: int
    at: float
    width: float


@dataclass(frozen=True, slots=True)
class Release:
    """A candidate with its verdict in words. tone: of the verdict. why: what every rule says, and what puts it above the next."""

    candidate: Candidate
    verdict: str
    tone: str
    is_active: bool
    terms: tuple[Term, ...]
    why: Reasons


def steps(story: Sequence[StoredDecision], detail: ItemDetail) -> tuple[Step, ...]:
    """Return the steps of an item and of what is beneath it, the newest first."""
    names = _names(detail)
    told: list[Step] = []
    searched: set[int] = set()
    for made in reversed(story):
        newest = made.step == "scrape" and made.item_id not in searched
        searched |= {made.item_id} if made.step == "scrape" else set()
        step = _step(made, names.get(made.item_id, ""), newest=newest)
        if told and _is_same(told[-1], step):
            told[-1] = _joined(told[-1])
        else:
            told.append(step)
    return tuple(told)


def _names(detail: ItemDetail) -> Mapping[int, str]:
    names: dict[int, str] = {}
    for child in detail.children:
        season = detail.item.number if child.type.is_leaf else child.number
        names[child.id] = words.place(season, child.number if child.type.is_leaf else None)
        names |= {leaf.id: words.place(child.number, leaf.number) for leaf in child.children}
    return names


def _step(made: StoredDecision, place: str, *, newest: bool) -> Step:
    word, icon = STEPS.get(made.step, (made.step.capitalize(), "dots"))
    tone = "green" if made.outcome in GOOD else "red" if made.outcome in BAD else "grey"
    return Step(
        item_id=made.item_id,
        place=place,
        word=word,
        icon=icon,
        tone=tone,
        sentence=made.sentence,
        at=made.at,
        times=1,
        next_at=made.next_at,
        counts=_counts(made.data.get("refused")),
        rows=(*_rows(made.data.get("tried")), *_rows(made.data.get("examples"))),
        troubles=tuple(map(str, _list(made.data.get("troubles")))),
        is_newest_search=newest,
    )


def _is_same(one: Step, other: Step) -> bool:
    return (one.item_id, one.word, one.sentence) == (other.item_id, other.word, other.sentence)


def _joined(newer: Step) -> Step:
    return replace(newer, times=newer.times + 1)


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _rows(value: JsonValue) -> Iterable[Row]:
    for part in _list(value):
        if isinstance(part, dict):
            yield Row(str(part.get("release", "")), str(part.get("why", "")), str(part.get("provider", "")))


def _counts(value: JsonValue) -> tuple[tuple[str, int], ...]:
    found = value if isinstance(value, dict) else {}
    counted = [
        (REASONS.get(code, code.replace("_", " ")), n) for code, n in found.items() if isinstance(n, int)
    ]
    return tuple(sorted(counted, key=lambda pair: -pair[1]))


def releases(
    candidates: Iterable[Candidate], active: str | None, why: Mapping[int, Reasons]
) -> tuple[Release, ...]:
    """Return candidates as a page shows them; why: by their ids."""
    return tuple(
        _release(one, why.get(one.id, NO_REASONS), is_active=one.release.infohash == active)
        for one in candidates
    )


def _release(candidate: Candidate, why: Reasons, *, is_active: bool) -> Release:
    release = candidate.release
    if candidate.blacklisted is not None:
        verdict, tone = f"Blocked by you: {candidate.blacklisted}", "grey"
    elif release.rejection is not None:
        verdict, tone = release.rejection.sentence, "red"
    elif candidate.blocks:
        verdict, tone = (
            "; ".join(f"{block.provider}: {block.sentence}" for block in candidate.blocks),
            "amber",
        )
    else:
        verdict, tone = ("In use" if is_active else "Fits"), "green"
    return Release(candidate, verdict, tone, is_active, _terms(release.score), why)


def _terms(score: Mapping[str, int]) -> tuple[Term, ...]:
    """Return the parts of a score side by side, so that their widths show what counted most."""
    whole = sum(abs(points) for points in score.values())
    terms, at = [], 0.0
    for name, points in sorted(score.items(), key=lambda pair: -abs(pair[1])):
        width = 100 * abs(points) / whole if whole else 0.0
        terms.append(Term(name.rpartition(".")[2].replace("_", " "), points, round(at, 1), round(width, 1)))
        at += width
    return tuple(terms)
