"""The sections of `settings.json` and their defaults. A provider's section is added by its class (`program.plugins`)."""

from ipaddress import ip_network
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from program.media.item import ReleaseKind
from program.network import Network
from program.settings.provider import Section, defaults_of
from program.settings.ranking import RankingSettings
from program.settings.upgrade import VERSION
from program.settings.vfs import VfsSettings

# A caller that waits longer for a plugin has long been given up by whoever waits for it.
LONGEST_DEADLINE = 600
LogLevel = Literal["TRACE", "DEBUG", "INFO", "WARNING", "ERROR"]


def networks_of(texts: list[str]) -> list[str]:
    """Return the texts when each is an address or a network; raise ValueError with the one that is not."""
    for text in texts:
        try:
            ip_network(text, strict=False)
        except ValueError:
            raise ValueError(f"{text!r} is no address and no network") from None
    return texts


class ApiSettings(Section):
    """Where the API and the pages are served."""

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address to listen on: 127.0.0.1 is this machine only, 0.0.0.0 every network (the container image sets that)",
    )
    port: int = Field(default=8484, ge=1, le=65535, description="Port to listen on")
    threads: int = Field(default=16, ge=2, le=256, description="Requests that are answered at the same time")
    file_streams: int = Field(
        default=8,
        ge=1,
        le=64,
        description="Files that are read over HTTP (/files, /dav) at the same time, each on a thread of its own beside those",
    )
    max_body_kib: int = Field(
        default=1024, ge=16, le=65536, description="Largest body that a request may have, in KiB"
    )
    max_upload_mib: int = Field(
        default=1024,
        ge=1,
        le=65536,
        description="Largest backup that may be uploaded, in MiB; it is written to the disk before it is looked at",
    )
    base_path: str = Field(
        default="",
        pattern=r"^(/[A-Za-z0-9._~-]+)*$",
        description="Path at which a reverse proxy shows the pages and the API, e.g. /rivulet; empty: at its root",
    )
    trusted_proxies: list[str] = Field(
        default=[],
        description="Addresses or networks of reverse proxies whose X-Forwarded-For, -Proto and -Host are believed",
    )
    proxy_user_header: str = Field(
        default="",
        pattern=r"^[A-Za-z][A-Za-z0-9-]*$|^$",
        description="Header in which a trusted proxy names who has signed in, e.g. Remote-User; empty: the password is asked for",
    )

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, texts: list[str]) -> list[str]:
        return networks_of(texts)


class NetworkSettings(Section):
    """Where the program may connect to."""

    allowed: list[str] = Field(
        default=[],
        description=(
            "Networks at home that every service may lie in, e.g. 192.168.1.0/24 for a mirror. Media servers, request apps and "
            "search services may be at home without this; metadata and debrid services, posters and links of files may not"
        ),
    )

    @field_validator("allowed")
    @classmethod
    def _are_networks(cls, texts: list[str]) -> list[str]:
        return networks_of(texts)

    def networks(self) -> tuple[Network, ...]:
        """Return them as networks."""
        return tuple(ip_network(text, strict=False) for text in self.allowed)


class DatabaseSettings(Section):
    """Where the library is kept."""

    url: str = Field(
        default="",
        description="Address of the database, e.g. postgresql://user:password@host/name; empty: a SQLite file in the config folder",
    )


class QueueSettings(Section):
    """How much is done at the same time."""

    workers: int = Field(default=16, ge=1, le=256, description="Threads that do jobs")
    reserved: int = Field(
        default=4, ge=1, le=64, description="More threads for what a person or a player waits for, only"
    )
    sandbox_threshold: int = Field(
        default=50,
        ge=0,
        description="From so many release names in one search on they are parsed in a process apart",
    )
    sandbox_processes: int = Field(
        default=0,
        ge=0,
        le=64,
        description="Processes for parsing; 0: one less than there are processors, at least one",
    )
    provider_limits: dict[str, int] = Field(
        default={},
        description='Jobs at a time per provider where it differs from the provider\'s own, by key, e.g. {"name": 4}',
    )

    @field_validator("provider_limits")
    @classmethod
    def _at_least_one(cls, limits: dict[str, int]) -> dict[str, int]:
        if any(limit < 1 for limit in limits.values()):
            raise ValueError("each limit must be at least 1")
        return limits


class StartupSettings(Section):
    """What is thrown away at the next start; switch it off again afterwards."""

    unsafe_wipe_database_on_startup: bool = Field(
        default=False, description="Delete the whole library at start. There is no way back"
    )
    unsafe_wipe_queue_on_startup: bool = Field(
        default=False,
        description="Forget waiting jobs and postponed attempts at start; what is unfinished is due at once",
    )


class ContentSettings(Section):
    """Who asks for titles."""


class IndexingSettings(Section):
    """Where titles are looked up, and from when on they count as released."""

    release_kinds: frozenset[ReleaseKind] = Field(
        default=frozenset({ReleaseKind.DIGITAL, ReleaseKind.PHYSICAL, ReleaseKind.TV}),
        min_length=1,
        description="Kinds of release dates of which the earliest counts",
    )
    schedule_offset_minutes: int = Field(
        default=30,
        ge=0,
        le=10080,
        description="Minutes after its release or air time at which a title is first searched",
    )
    theatrical_wait_days: int = Field(
        default=90,
        ge=0,
        le=3650,
        description="Days after the cinema release when none of the kinds above is known",
    )
    unknown_date_days: int = Field(
        default=7, ge=1, le=365, description="Days until a title without any date is looked up again"
    )


class ScrapingSettings(Section):
    """Where releases are searched, and how often."""

    scrape_cooldown_hours: tuple[int, int, int] = Field(
        default=(2, 6, 24),
        description="Hours between searches that found nothing: from the second, the fifth and the tenth on; ascending",
    )
    max_failed_attempts: int = Field(
        default=20, ge=0, description="Searches that found nothing before a title is given up; 0: never"
    )
    prefer_packs: bool = Field(
        default=False, description="Search a whole ended show before its seasons and episodes"
    )
    flow_deadline_seconds: float = Field(
        default=60,
        ge=1,
        le=600,
        description="A search goes on without a service that did not answer within so many seconds",
    )

    @field_validator("scrape_cooldown_hours")
    @classmethod
    def _ascending(cls, hours: tuple[int, int, int]) -> tuple[int, int, int]:
        if min(hours) <= 0 or sorted(hours) != list(hours):
            raise ValueError("must be three ascending numbers above 0")
        return hours


class DownloadersSettings(Section):
    """Who holds torrents and provides their files."""

    order: tuple[str, ...] = Field(
        default=(),
        description="Keys of the services in the order in which they are asked; the others come after",
    )
    second_sources: bool = Field(
        default=True,
        description="Ask the other services, in the background, whether they hold a title's torrent too, so that one can stand in",
    )
    remove_torrents: bool = Field(
        default=False, description="When a title is removed, remove its torrents from the account as well"
    )


class UpdatersSettings(Section):
    """Media servers that are told about new files."""


class SubtitlesSettings(Section):
    """Where subtitles come from."""


class NotificationsSettings(Section):
    """Who is told about finished titles."""


class PluginsSettings(Section):
    """Plugins that do not come with the program, and plugins of no kind above. A plugin runs with all rights of the program."""

    entry_points: bool = Field(
        default=False,
        description="Load plugins of installed packages (entry points of the group rivulet.plugins)",
    )
    folder: bool = Field(
        default=False,
        description="Load the Python files in the folder plugins of the config folder as plugins",
    )
    deadlines: dict[str, float] = Field(
        default={},
        description='Seconds that one call of a plugin may take where it differs from the plugin\'s own, by key, e.g. {"name": 90}',
    )

    @field_validator("deadlines")
    @classmethod
    def _above_zero(cls, deadlines: dict[str, float]) -> dict[str, float]:
        if any(not 0 < seconds <= LONGEST_DEADLINE for seconds in deadlines.values()):
            raise ValueError(f"each deadline must be above 0 and at most {LONGEST_DEADLINE}")
        return deadlines


class LogSettings(Section):
    """What is written to the log."""

    level: LogLevel = Field(default="INFO", description="Lines of this level and above")
    to_file: bool = Field(
        default=True, description="Write to logs/rivulet.log in the config folder as well as to the console"
    )


class RootSettings(Section):
    """Everything that a person can set."""

    schema_: str = Field(
        default="./settings.schema.json",
        alias="$schema",
        title="Schema",
        description="Lets editors complete keys",
    )
    version: int = Field(default=VERSION, ge=1, description="Version of this file's form; leave it alone")
    api_key: SecretStr = Field(
        default=SecretStr(""),
        title="API key",
        description="Key that the API asks for; made at the first start",
    )
    api: ApiSettings = Field(default_factory=ApiSettings, title="API")
    network: NetworkSettings = Field(default_factory=NetworkSettings)
    database: DatabaseSettings = Field(default_factory=DatabaseSettings)
    queue: QueueSettings = Field(default_factory=QueueSettings)
    startup: StartupSettings = Field(default_factory=StartupSettings)
    content: ContentSettings = Field(default_factory=ContentSettings)
    indexing: IndexingSettings = Field(default_factory=IndexingSettings)
    scraping: ScrapingSettings = Field(default_factory=ScrapingSettings)
    ranking: RankingSettings = Field(default_factory=defaults_of(RankingSettings))
    downloaders: DownloadersSettings = Field(default_factory=DownloadersSettings)
    updaters: UpdatersSettings = Field(default_factory=UpdatersSettings)
    subtitles: SubtitlesSettings = Field(default_factory=SubtitlesSettings)
    notifications: NotificationsSettings = Field(default_factory=NotificationsSettings)
    plugins: PluginsSettings = Field(default_factory=PluginsSettings)
    vfs: VfsSettings = Field(default_factory=defaults_of(VfsSettings))
    log: LogSettings = Field(default_factory=LogSettings)
