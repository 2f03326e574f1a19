"""What the program itself does about an event: a table, event → cases; of each, the first whose guard holds.

An action writes facts or dates, or wakes the loop; work for titles is enqueued by the loop alone. An action that fails is logged
and keeps no other from being done.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from program.db import items
from program.db.decisions import Decision
from program.errors import Cancelled
from program.events import (
    ContentServicesDue,
    CoreShutdown,
    CoreStarted,
    DownloadError,
    DownloadIncorrectState,
    DownloadPartialSuccess,
    DownloadSuccess,
    ExternalItemRequested,
    IndexFailed,
    IndexIncorrectState,
    IndexSuccess,
    ItemCompleted,
    ItemRequestConflict,
    ItemRequestCreated,
    ItemRequestFailed,
    ItemRequestRemoved,
    ItemRequestUpdated,
    NoStreamsFound,
    RetryItemDownload,
    RetryLibrary,
    ScrapeError,
    ScrapeIncorrectState,
    ScrapeSuccess,
    Told,
)
from program.log import logger
from program.media.facts import released_at
from program.media.item import Node, ShowStatus, States
from program.resume import resume, resume_title
from program.services.flows.context import FlowContext


@dataclass(frozen=True, slots=True)
class Case:
    """guard: a name in `GUARDS`, None holds always. actions: names in `ACTIONS`, done in this order. level: of its log line."""

    guard: str | None
    actions: tuple[str, ...]
    level: str = "DEBUG"


REACTIONS: Mapping[type[Told], tuple[Case, ...]] = {
    CoreStarted: (Case(None, ("log",)),),
    CoreShutdown: (Case(None, ("log",)),),
    ContentServicesDue: (Case(None, ("request_content_services",)),),
    RetryLibrary: (Case(None, ("retry_library",)),),
    RetryItemDownload: (Case(None, ("retry_item", "log")),),
    ExternalItemRequested: (Case(None, ("process_item_request", "log")),),
    ItemRequestCreated: (Case(None, ("process_item_request", "log")),),
    ItemRequestUpdated: (Case(None, ("process_item_request", "log")),),
    ItemRequestFailed: (Case(None, ("log",), "ERROR"),),
    ItemRequestConflict: (Case(None, ("log",)),),
    ItemRequestRemoved: (Case(None, ("log",), "INFO"),),
    IndexSuccess: (
        Case("is_unreleased_item", ("schedule_reindex", "log"), "INFO"),
        Case("is_ongoing_item", ("schedule_reindex", "process_media_item", "log"), "INFO"),
        Case("is_entirely_released_item", ("process_media_item", "log"), "INFO"),
        Case(None, ("log",), "WARNING"),
    ),
    IndexFailed: (Case(None, ("log",)),),
    IndexIncorrectState: (Case(None, ("log",)),),
    ScrapeSuccess: (Case(None, ("log",), "INFO"),),
    ScrapeError: (Case(None, ("log",)),),
    ScrapeIncorrectState: (Case(None, ("log",)),),
    NoStreamsFound: (Case(None, ("fan_out_download", "log")),),
    DownloadSuccess: (Case(None, ("log",), "INFO"),),
    DownloadPartialSuccess: (Case(None, ("fan_out_download", "log"), "INFO"),),
    DownloadError: (Case(None, ("fan_out_download", "log")),),
    DownloadIncorrectState: (Case(None, ("log",)),),
    ItemCompleted: (Case(None, ("log",), "INFO"),),
}


class Scene:
    """An event with what the database says of its title, read once and only when asked."""

    def __init__(self, ctx: FlowContext, event: Told) -> None:
        self._ctx = ctx
        self.event = event

    @cached_property
    def root(self) -> Node | None:
        """The title, None for an event about none, or about one that is gone."""
        if self.event.item_id is None:
            return None
        with self._ctx.db.read() as tx:
            root_id = items.root_of(tx, [self.event.item_id]).get(self.event.item_id)
        try:
            return self._ctx.load(root_id) if root_id is not None else None
        except Cancelled:
            return None

    @cached_property
    def is_released(self) -> bool:
        """True when the film's release is past."""
        at = released_at(self.root.item, self._ctx.policy()) if self.root else None
        return at is not None and at <= self._ctx.clock.now()


def is_unreleased_item(scene: Scene) -> bool:
    """Nothing of it is released."""
    return scene.root is not None and scene.root.item.last_state is States.Unreleased


def is_ongoing_item(scene: Scene) -> bool:
    """A show that continues, or a film that is not released."""
    if scene.root is None:
        return False
    status = scene.root.item.show_status
    return not scene.is_released if status is None else status is ShowStatus.CONTINUING


def is_entirely_released_item(scene: Scene) -> bool:
    """A show that has ended, or a film that is released."""
    if scene.root is None:
        return False
    status = scene.root.item.show_status
    return scene.is_released if status is None else status is ShowStatus.ENDED


GUARDS: Mapping[str, Callable[[Scene], bool]] = {
    guard.__name__: guard for guard in (is_unreleased_item, is_ongoing_item, is_entirely_released_item)
}


class Reactions:
    """Reacts to events by the table.

    wake: has the loop look at once. poll_content: has every content service asked. is_stopped: ends long work early.
    """

    def __init__(
        self,
        ctx: FlowContext,
        *,
        wake: Callable[[], None],
        poll_content: Callable[[], None],
        is_stopped: Callable[[], bool],
    ) -> None:
        self._ctx = ctx
        self._wake = wake
        self._poll_content = poll_content
        self._is_stopped = is_stopped

    def react(self, event: Told) -> None:
        """Do what the table says; never raises."""
        scene = Scene(self._ctx, event)
        case = self._case(scene)
        if case is not None:
            for name in case.actions:
                self._isolated(event, name, partial(ACTIONS[name], self, scene, case))

    def _case(self, scene: Scene) -> Case | None:
        """Return the first case whose guard holds; a guard that fails does not hold."""
        for case in REACTIONS.get(type(scene.event), ()):
            if case.guard is None or self._isolated(
                scene.event, case.guard, partial(GUARDS[case.guard], scene)
            ):
                return case
        return None

    def _isolated(self, event: Told, name: str, do: Callable[[], object]) -> object:
        try:
            return do()
        except Exception:  # noqa: BLE001 - boundary: one reaction must not stop the others
            logger.exception(
                "the reaction {} to {} of {} failed", name, event.type, event.title or "the program"
            )
            return None

    def log(self, scene: Scene, case: Case) -> None:
        """Write a line."""
        event = scene.event
        line = f"{event.title}: {event.type}" if event.title else event.type
        logger.bind(item=event.item_id).log(
            case.level, "{}{}", line, f": {event.sentence}" if event.sentence else ""
        )

    def schedule_reindex(self, scene: Scene, _case: Case) -> None:
        """Write down in the title's story when it is looked up again; that date follows from its facts."""
        if scene.root is None:
            return
        root_id = scene.root.item.id
        with self._ctx.db.write(root_id) as tx:
            at = self._ctx.commit(tx, root_id, {}, ()).item.schedule.reindex_at
            if at is not None:
                sentence = f"Looked up again on {at:%Y-%m-%d} at {at:%H:%M} UTC."
                decision = Decision(root_id, "index", "scheduled", sentence, next_at=at)
                self._ctx.commit(tx, root_id, {}, [decision])

    def wake(self, _scene: Scene, _case: Case) -> None:
        """Have the loop look: what is to be done was written down before the event was told, with a date that is due."""
        self._wake()

    def request_content_services(self, _scene: Scene, _case: Case) -> None:
        """Have every content service asked."""
        self._poll_content()

    def retry_library(self, _scene: Scene, _case: Case) -> None:
        """Look at everything that is incomplete again; nothing is reset."""
        resume(self._ctx, self._is_stopped)
        self._wake()

    def retry_item(self, scene: Scene, _case: Case) -> None:
        """Look at one title again; nothing is reset."""
        if scene.root is not None:
            resume_title(self._ctx, scene.root)
        self._wake()


ACTIONS: Mapping[str, Callable[[Reactions, Scene, Case], None]] = {
    "log": Reactions.log,
    "schedule_reindex": Reactions.schedule_reindex,
    "process_media_item": Reactions.wake,
    "process_item_request": Reactions.wake,
    "fan_out_download": Reactions.wake,
    "request_content_services": Reactions.request_content_services,
    "retry_library": Reactions.retry_library,
    "retry_item": Reactions.retry_item,
}
