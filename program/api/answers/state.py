"""How the program and its services are."""

from pydantic import JsonValue, RootModel

from program.api.answers.base import Body, Instant


class HealthBody(Body):
    """live: the process answers; ready: it works, with its database and its mount."""

    status: str
    live: bool
    ready: bool
    state: str
    database: bool
    vfs: bool
    version: str


class ServicesBody(RootModel[dict[str, bool | None]]):
    """Whether each service works; null: not checked yet."""


class AccountBody(Body):
    """A debrid account. premium_status: `premium`, `free`, or `unknown` with the reason in `error`."""

    service: str
    username: str | None = None
    email: str | None = None
    user_id: str | int | None = None
    premium_status: str
    premium_expires_at: str | None = None
    premium_days_left: int | None = None
    points: int | None = None
    total_downloaded_bytes: int | None = None
    cooldown_until: Instant | None = None
    error: str | None = None


class AccountsBody(Body):
    """The accounts of all debrid services in use."""

    services: list[AccountBody]


class ProviderBody(Body):
    """An enabled provider. state: `pending`, `valid`, `unreachable`, `invalid`; webhook: where it can send events."""

    key: str
    title: str
    section: str
    state: str
    reason: str | None
    next_check_at: Instant | None
    webhook: str | None


class ProvidersBody(Body):
    """All enabled providers."""

    providers: list[ProviderBody]


class MoveBody(Body):
    """A state and when it was entered."""

    state: str
    at: Instant


class MachineBody(Body):
    """One machine of the lifecycle."""

    name: str
    state: str
    history: list[MoveBody]


class LifecycleBody(Body):
    """Where the program stands. vfs: counters of the file system."""

    machines: list[MachineBody]
    vfs: dict[str, JsonValue]


class LogsBody(Body):
    """The last lines of the log, the oldest first."""

    logs: list[str]


class UploadLogsResponse(Body):
    """url: where the log can be opened."""

    success: bool
    url: str


class FindingBody(Body):
    """One answer of the doctor. level: `ok`, `note` or `wrong`."""

    name: str
    group: str
    level: str
    what: str
    said: str
    why: str
    fix: str


class DoctorBody(Body):
    """What the doctor found. worst: the worst level of all."""

    worst: str
    checks: list[FindingBody]


class WebhookBody(Body):
    """What came of a webhook."""

    success: bool
    message: str
