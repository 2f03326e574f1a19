"""What changed ranking settings would choose, before they are saved."""

from pydantic import Field, JsonValue

from program.api.answers.base import Body
from program.api.context import ApiContext
from program.api.routes import Payload, Route
from program.services.flows.ranking_preview import Bounds, Choice, Preview

MOST_TITLES = 1000
MOST_SECONDS = 10.0


class PreviewPayload(Payload):
    """Changed ranking settings, as they would be saved, and which part of the library is looked at."""

    ranking: dict[str, JsonValue] = Field(description="What changes in the section `ranking`; the rest stays")
    after: int = Field(default=0, ge=0, description="`next_after` of the answer before; 0 to begin")
    limit: int = Field(default=200, ge=1, le=MOST_TITLES, description="Titles looked at, at most")
    seconds: float = Field(default=5.0, gt=0, le=MOST_SECONDS, description="No title is begun after so long")


class ChoiceBody(Body):
    """A release that would be taken."""

    raw_title: str
    resolution: str
    rank: int


class ChangeBody(Body):
    """A title that would choose differently; null: nothing would be taken."""

    item_id: int
    title: str
    now: ChoiceBody | None
    then: ChoiceBody | None


class PreviewBody(Body):
    """The titles that would choose differently among those looked at. next_after: null when all were looked at."""

    changes: list[ChangeBody]
    checked: int
    next_after: int | None


def preview(context: ApiContext, body: PreviewPayload) -> PreviewBody:
    """Tell which titles would choose differently; nothing is saved."""
    changed = context.store.preview({"ranking": body.ranking})
    compared = Preview(context.db, context.clock, context.providers(), context.store.current, changed)
    return answer(compared, Bounds(body.after, body.limit, body.seconds))


def answer(compared: Preview, bounds: Bounds) -> PreviewBody:
    """Return one page of what is different."""
    page = compared.page(bounds)
    return PreviewBody(
        changes=[
            ChangeBody(item_id=one.item_id, title=one.title, now=_choice(one.now), then=_choice(one.then))
            for one in page.changes
        ],
        checked=page.checked,
        next_after=page.next_after,
    )


def _choice(one: Choice | None) -> ChoiceBody | None:
    return (
        ChoiceBody(raw_title=one.raw_title, resolution=one.resolution, rank=one.rank)
        if one is not None
        else None
    )


ROUTES = (
    Route(
        method="POST",
        rule="/settings/preview",
        handle=preview,
        summary="Tell which titles would choose another release with changed ranking settings; nothing is saved",
        tag="settings",
        body=PreviewPayload,
        answer=PreviewBody,
    ),
)
