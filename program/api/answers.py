"""What clients get. Names follow the existing web client, with what the timeline and the states need beside them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, JsonValue, PlainSerializer, RootModel

from program.media.item import States


def _utc(value: datetime) -> str:
    return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")


Instant = Annotated[datetime, PlainSerializer(_utc, return_type=str)]


class Body(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(frozen=True)


class ErrorBody(Body):
    """Every answer that is not a success."""

    detail: str


class MessageBody(Body):
    """What was done, as a sentence."""

    message: str


class ParentIds(Body):
    """Ids of the show a season or episode belongs to."""

    imdb_id: str | None = None
    tmdb_id: str | None = None
    tvdb_id: str | None = None


class ItemBody(Body):
    """One item of a list. state and last_state are the same."""

    id: int
    type: str
    title: str
    parent_title: str | None
    season_number: int | None
    episode_number: int | None
    year: int | None
    imdb_id: str | None
    tmdb_id: str | None
    tvdb_id: str | None
    parent_ids: ParentIds
    poster_path: str | None
    aired_at: Instant | None
    is_anime: bool
    state: States
    last_state: States
    scraped_times: int
    next_attempt_at: Instant | None
    next_reason: str | None
    requested_at: Instant | None


class ItemsBody(Body):
    """A page of the library."""

    success: bool = True
    items: list[ItemBody]
    page: int
    limit: int
    total_items: int
    total_pages: int


class TroubleBody(Body):
    """A time at which a source gave no bytes. code: the provider's word, `dead_link` for that of its CDN."""

    at: Instant
    code: str
    reason: str


class SourceBody(Body):
    """Where a file's bytes come from. troubles: since they last came, the oldest first; empty when all is well."""

    provider: str
    troubles: list[TroubleBody]


class CompanionBody(Body):
    """What stands beside a file: a subtitle, or a further part of a film. language: of a subtitle, None when not known."""

    id: int
    path: str
    file_size: int
    language: str | None


class FileBody(Body):
    """A file in the library folder. path: within the folder that people look at; places: its whole paths, one in each folder.

    beside: what goes with it.

    next_check_at: when its sources are looked at again, because one gave no bytes. given_up_at: since when another release is
    searched in its place; it stays until that is there.
    """

    id: int
    file_size: int
    original_filename: str
    path: str
    version: str
    infohash: str
    provider: str | None
    providers: list[str]
    sources: list[SourceBody]
    available_in_vfs: bool
    registered_at: Instant | None
    next_check_at: Instant | None
    given_up_at: Instant | None
    library_profiles: list[str]
    places: list[str]
    beside: list[CompanionBody]


class ChildBody(Body):
    """A season or an episode. For a season: `season_number` and `episodes`; for an episode: `episode_number` and its file."""

    id: int
    type: str
    title: str
    number: int
    season_number: int | None = None
    episode_number: int | None = None
    aired_at: Instant | None
    is_requested: bool
    state: States
    last_state: States
    scraped_times: int
    next_attempt_at: Instant | None
    next_reason: str | None
    paused_at: Instant | None
    media_metadata: dict[str, JsonValue] | None = None
    filesystem_entry: FileBody | None = None
    episodes: list["ChildBody"] | None = None


class RequestBody(Body):
    """Who asked. seasons null: all, also future ones."""

    source: str
    external_id: str
    requested_by: str | None
    seasons: list[int] | None
    requested_at: Instant


class DetailBody(ItemBody):
    """Everything about one item. seasons, episodes, files, media_metadata and filesystem_entry only when `extended` is true.

    aliases: names that metadata services know; own_titles: those that a person added. wanted_seasons, wants_future: of a show.
    ranking_profile, library_profiles: what a person chose; null: the settings decide; "" is the usual ranking.
    """

    original_title: str | None
    aliases: list[str]
    own_titles: list[str]
    wanted_seasons: list[int]
    wants_future: bool
    ranking_profile: str | None
    library_profiles: list[str] | None
    genres: list[str]
    language: str | None
    country: str | None
    network: str | None
    runtime: int | None
    show_status: str | None
    scraped_at: Instant | None
    paused_at: Instant | None
    failed_at: Instant | None
    failed_reason: str | None
    reindex_at: Instant | None
    active_stream: str | None
    requested_by: str | None
    requests: list[RequestBody]
    seasons: list[ChildBody] | None = None
    episodes: list[ChildBody] | None = None
    files: list[FileBody] | None = None
    media_metadata: dict[str, JsonValue] | None = None
    filesystem_entry: FileBody | None = None


class ItemResultBody(Body):
    """What an action did to one item. done: false when it was left as it is, for the reason in the sentence."""

    id: int | None
    title: str
    sentence: str
    done: bool


class ActionBody(Body):
    """What an action did."""

    message: str
    ids: list[int]
    items: list[ItemResultBody]


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


class YearBody(Body):
    """Titles of one year; null: not known."""

    year: int | None
    count: int


class StatsBody(Body):
    """Counts of what is asked for. activity: titles added, by day of this year."""

    total_items: int
    total_movies: int
    total_shows: int
    total_seasons: int
    total_episodes: int
    total_symlinks: int
    incomplete_items: int
    states: dict[str, int]
    activity: dict[str, int]
    media_year_releases: list[YearBody]


class CalendarEntryBody(Body):
    """A title that comes out. Ids are the film's, or the episode's show's."""

    item_id: int
    imdb_id: str | None
    tmdb_id: str | None
    tvdb_id: str | None
    show_title: str
    title: str
    item_type: str
    aired_at: Instant
    season: int | None
    episode: int | None
    last_state: States


class CalendarBody(Body):
    """By item id."""

    data: dict[str, CalendarEntryBody]


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


class FeedsBody(Body):
    """Paths that need no key: they hold a token."""

    calendar: str
    arrivals: str


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


class BackupBody(Body):
    """A copy of the database. size: bytes."""

    filename: str
    size: int
    made_at: Instant


class BackupsBody(Body):
    """The copies of the database, the newest first. at_next_start: the one that is put in place then."""

    backups: list[BackupBody]
    at_next_start: str | None


class BackupResponse(Body):
    """A copy that was made."""

    success: bool
    message: str
    filename: str


class RestoreResponse(Body):
    """What becomes of a copy."""

    success: bool
    message: str


class CleanSnapshotsResponse(Body):
    """Which copies are gone."""

    success: bool
    message: str
    deleted_files: list[str]


class KeyBody(Body):
    """The API key that is in force now."""

    message: str
    api_key: str


class TriedBody(Body):
    """What a provider said."""

    works: bool
    state: str
    message: str


class WebhookBody(Body):
    """What came of a webhook."""

    success: bool
    message: str


class SampleBody(Body):
    """A made-up file. about: what it shows; path: in the library."""

    about: str
    path: str


class RenamedBody(Body):
    """A file of the library. before, after: its path now and with the templates."""

    id: int
    before: str
    after: str


class NamingPreviewBody(Body):
    """What templates would make of samples and of the newest files."""

    samples: list[SampleBody]
    library: list[RenamedBody]


class SettingsSavedBody(Body):
    """locked: paths that the environment sets, with the variable."""

    message: str
    revision: str
    locked: Mapping[str, str]
