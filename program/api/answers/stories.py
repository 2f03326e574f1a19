"""Why an item is where it is: its steps and its releases."""

from pydantic import JsonValue

from program.api.answers.base import Body, Instant
from program.media.item import States


class StepBody(Body):
    """One step of an item's story."""

    item_id: int
    at: Instant
    step: str
    outcome: str
    sentence: str
    provider: str | None
    attempt: int | None
    ms: int | None
    next_at: Instant | None
    data: dict[str, JsonValue]


class TimelineBody(Body):
    """An item's story, the oldest step first, and what comes next. reindex_at: when the title is looked up again."""

    item_id: int
    state: States
    next_attempt_at: Instant | None
    next_reason: str | None
    reindex_at: Instant | None
    timeline: list[StepBody]


class BlockBody(Body):
    """One provider's refusal; until null: for good."""

    provider: str
    code: str
    sentence: str
    until: Instant | None


class RuleBody(Body):
    """One rule's answer; sentence and permanent are null when it has nothing against the release."""

    rule: str
    passed: bool
    sentence: str | None
    permanent: bool | None


class StreamBody(Body):
    """A release that a search found. rejection: why the rules refused it then; blacklisted: why a person does.

    rules: what every rule says today, empty beyond the first few hundred. above_next: what puts it above the next best.
    """

    id: int
    infohash: str
    raw_title: str
    parsed_title: str | None
    rank: int
    score: dict[str, int]
    lev_ratio: float
    resolution: str
    size: int | None
    seeders: int | None
    sources: list[str]
    is_cached: bool
    is_active: bool
    found_at: Instant
    rejection: str | None
    rejection_code: str | None
    blocks: list[BlockBody]
    blacklisted: str | None
    rules: list[RuleBody]
    above_next: str | None


class StreamsBody(Body):
    """The releases of an item, the best first."""

    message: str
    streams: list[StreamBody]
    blacklisted_streams: list[StreamBody]
