"""What goes on: jobs that run, what waits and until when, what happened last; how the providers do; the log."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from flask import request
from werkzeug.wrappers import Response

from program.api import status, stream
from program.api.payloads import LogsQuery
from program.db import overview
from program.errors import NotFound
from program.http import interactive
from program.log import redact
from program.plugins import PluginState, PluginStatus
from program.plugins.discovery import AnyPlugin
from program.queues.job import JobState, JobView
from program.services.flows import names
from program.services.plugin import ContentService, Downloader
from program.settings.provider import ProviderSettings
from program.web import pages
from program.web.pages import Answer, Page, Web

# Pages that are told at once; the others notice within seconds by asking.
MOST_PAGES = 3
RUNNING_SHOWN, WAITING_SHOWN, HAPPENED_SHOWN = 50, 12, 30
LINES_READ, LINES_SHOWN = 10_000, 300
# What a queue does, said of one of its jobs.
QUEUES: Mapping[str, str] = {
    names.PROCESS_ITEM_REQUEST: "Looking up",
    names.PROCESS_MEDIA_ITEM: "Moving on",
    names.REQUEST_CONTENT_SERVICES: "Asking for wishes",
    names.SCRAPE_ITEM: "Searching",
    names.PARSE_SCRAPE_RESULTS: "Reading release names",
    names.DOWNLOAD_ITEM: "Fetching",
    names.RANK_STREAMS: "Ranking",
    names.FIND_VALID_TORRENT: "Asking debrid services",
    names.MAP_ITEMS_TO_FILES: "Finding the files",
    names.VALIDATE_TORRENT_FILES: "Checking the files",
    names.REQUEST_STREAM_LINK: "Getting an address to read from",
    names.REQUEST_SUBTITLES: "Looking for subtitles",
    names.POST_PROCESS_MEDIA_ITEM: "Finishing",
    names.TIDY_ACCOUNT: "Tidying up the account",
    names.MEND_ENTRY: "Looking after a file",
    names.SECOND_SOURCES: "Asking for second sources",
    names.SCAN_MOVED_FILES: "Having moved files scanned",
    names.RETRY_LIBRARY: "Trying the library again",
}
STATES: Mapping[PluginState, tuple[str, str, str]] = {
    PluginState.VALID: ("Works", "green", "check"),
    PluginState.PENDING: ("Not asked yet", "grey", "dots"),
    PluginState.UNREACHABLE: ("Not reachable", "amber", "alert"),
    PluginState.TRIPPED: ("Resting", "amber", "pause"),
    PluginState.INVALID: ("Not usable", "red", "cross"),
}
SECTIONS: Mapping[str, str] = {
    "content": "Who asks for titles",
    "indexing": "What titles are",
    "scraping": "Where releases are found",
    "downloaders": "Who holds the files",
    "updaters": "Media servers",
    "subtitles": "Subtitles",
    "notifications": "Who is told",
    "plugins": "Others",
}
LEVELS = ("all", "info", "warning", "error")
SEVERITY: Mapping[str, int] = {
    "TRACE": 0,
    "DEBUG": 0,
    "INFO": 1,
    "SUCCESS": 1,
    "WARNING": 2,
    "ERROR": 3,
    "CRITICAL": 3,
}
LINE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ ([A-Z]+) ")
LONGEST_SEARCH = 100


@dataclass(frozen=True, slots=True)
class Running:
    """A job that runs."""

    word: str
    job: JobView


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider beside its standing. status: None when it is not enabled."""

    kind: type[AnyPlugin]
    status: PluginStatus | None
    mark: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the log with what follows it, such as a traceback."""

    level: str
    text: str


def activity(web: Web) -> Answer:
    """Show what goes on."""
    counts = web.api.engine.counts()
    with web.api.db.read() as tx:
        waiting = overview.waiting(tx, WAITING_SHOWN)
        happened = overview.happenings(tx, HAPPENED_SHOWN)
    busy = {queue: states for queue, states in counts.items() if any(states.get(state) for state in ALIVE)}
    return pages.render(
        "activity.html",
        running=_running(web, busy),
        busy={_word(web, queue): states for queue, states in busy.items()},
        alive=ALIVE,
        waiting=waiting,
        happened=happened,
        now=web.now,
    )


ALIVE = (JobState.ACTIVE, JobState.WAITING, JobState.DELAYED, JobState.WAITING_CHILDREN)


def _running(web: Web, queues: Mapping[str, Mapping[JobState, int]]) -> list[Running]:
    active = frozenset({JobState.ACTIVE})
    found = [
        Running(_word(web, queue), job)
        for queue, states in queues.items()
        if states.get(JobState.ACTIVE)
        for job in web.api.engine.jobs(queue, active, RUNNING_SHOWN)
    ]
    return sorted(found, key=lambda one: one.job.created_at)[:RUNNING_SHOWN]


def _word(web: Web, queue: str) -> str:
    if queue in QUEUES:
        return QUEUES[queue]
    event, _, key = queue.removesuffix("]").partition(".plugin[")
    title = next((kind.title for kind in web.api.registry.classes if kind.key == key), key)
    what = event.removeprefix("riven.").replace(".", " ").replace("-", " ").removesuffix(" requested")
    return f"{title}: {what}"


def live(web: Web) -> Answer:
    """Tell a page, as long as it is open, that something has happened; it then asks for its parts again."""
    if web.api.streams.count() >= MOST_PAGES:
        # Other programs want to listen as well; the page goes on asking now and then.
        return Response(status=HTTPStatus.NO_CONTENT)
    return stream.events(web.api)


def providers(web: Web) -> Answer:
    """Show every provider with its standing."""
    standing = {one.key: one for one in web.api.registry.statuses()}
    groups: dict[str, list[Provider]] = {}
    for kind in web.api.registry.classes:
        one = standing.get(kind.key)
        mark = STATES[one.state] if one else ("Not used", "grey", "dots")
        groups.setdefault(kind.section, []).append(Provider(kind, one, mark))
    ordered = {title: groups[section] for section, title in SECTIONS.items() if section in groups}
    has_accounts = bool(web.api.registry.of(Downloader))
    hooked = {
        plugin.key: status.webhook_path(web.api, plugin.key) for plugin in web.api.registry.of(ContentService)
    }
    return pages.render(
        "providers.html", groups=ordered, redact=redact, has_accounts=has_accounts, webhooks=hooked
    )


def accounts(web: Web) -> Answer:
    """Show the accounts of the debrid services; asks them, so it may take a moment."""
    titles = {kind.key: kind.title for kind in web.api.registry.classes}
    return pages.render("accounts.html", accounts=status.accounts(web.api).services, titles=titles)


def test(web: Web, key: str) -> Response:
    """Ask a provider now whether it works, with the settings in force."""
    kind = next((kind for kind in web.api.registry.classes if kind.key == key), None)
    if kind is None:
        raise NotFound(f"no provider is called {key}")
    section = getattr(getattr(web.api.store.current, kind.section), key)
    found = try_out(web, key, section)
    said = (
        f"{kind.title} works."
        if found.state is PluginState.VALID
        else f"{kind.title}: {redact((found.reason or '').removeprefix(f'{kind.key}: '))}"
    )
    return pages.go("providers", said, tone="good" if found.state is PluginState.VALID else "bad")


def try_out(web: Web, key: str, section: ProviderSettings) -> PluginStatus:
    """Return how a provider stands with some settings, while somebody waits."""
    waiting = interactive.set(True)
    try:
        return web.api.registry.try_out(key, section)
    finally:
        interactive.reset(waiting)


def log(web: Web) -> Answer:
    """Show the end of the log, the newest first."""
    level = request.args.get("level", "all")
    level = level if level in LEVELS else "all"
    search = request.args.get("text", "").strip()[:LONGEST_SEARCH]
    lines = _lines(status.logs(web.api, LogsQuery(limit=LINES_READ)).logs)
    least = LEVELS.index(level)
    shown = [
        line for line in lines if SEVERITY.get(line.level, 1) >= least and search.lower() in line.text.lower()
    ]
    return pages.render(
        "log.html",
        lines=shown[::-1][:LINES_SHOWN],
        level=level,
        levels=LEVELS,
        text=search,
        is_kept=web.api.store.current.log.to_file,
    )


def _lines(raw: list[str]) -> list[Line]:
    found: list[Line] = []
    for text in raw:
        match = LINE.match(text)
        if match or not found:
            found.append(Line(match[1] if match else "INFO", text))
        else:
            found[-1] = Line(found[-1].level, f"{found[-1].text}\n{text}")
    return found


PAGES = (
    Page(rule="/activity", name="activity", handle=activity),
    Page(rule="/live", name="live", handle=live),
    Page(rule="/providers", name="providers", handle=providers),
    Page(rule="/providers/accounts", name="accounts", handle=accounts),
    Page(rule="/providers/<key>/test", name="test", handle=test, methods=("POST",)),
    Page(rule="/log", name="log", handle=log),
)
