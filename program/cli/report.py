"""`check` and `show`: what is wrong and why, and the story of one item."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from program import plugins
from program.clock import Clock
from program.db import check as db_check
from program.db import decisions, items
from program.db.engine import Database, Tx
from program.db.views import ChildView, ItemDetail, StoredDecision
from program.errors import NotFound, RivuletError
from program.media.item import MediaType
from program.media.release import JsonValue
from program.opening import Opened, database_url, open_all
from program.services.plugin import Plugin
from program.settings.models import RootSettings
from program.settings.store import SettingsStore
from program.vfs.kernel import answers, mounts_at
from program.vfs.mount import unusable
from program.vfs.preflight import ANSWER_SECONDS, KIND, mount_point
from program.web import mount_checks

GOOD = "ok"
WRONG = "wrong"
HINT = "note"
OVER_HTTP = "the library is served at /dav and /files of the API"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `check`. level: `ok`, `note` or `wrong`."""

    subject: str
    level: str
    sentence: str

    @property
    def is_wrong(self) -> bool:
        """True when a person has something to mend."""
        return self.level == WRONG

    def as_dict(self) -> dict[str, str]:
        """Return it as JSON values."""
        return {"subject": self.subject, "level": self.level, "sentence": self.sentence}


def check(environ: Mapping[str, str], clock: Clock) -> list[Finding]:
    """Return what was looked at and found; the settings come first, since without them nothing else can be looked at."""
    try:
        opened = open_all(environ)
    except RivuletError as error:
        return [Finding("settings", WRONG, str(error))]
    store = opened.store
    found = [Finding("settings", GOOD, f"{store.file} is good")]
    found.append(_tried("database", lambda: _database(store, clock)))
    found.append(_mount(store.current))
    found.extend(_reach(store.current))
    found.extend(_providers(opened, clock))
    return found


def _tried(subject: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, GOOD, look())
    except RivuletError as error:
        return Finding(subject, WRONG, str(error))


def _database(store: SettingsStore, clock: Clock) -> str:
    database = Database(database_url(store), data_dir=store.folder, clock=clock)
    database.open()
    try:
        with database.read() as tx:
            wrong = db_check.inconsistencies(tx)
    finally:
        database.close()
    if wrong:
        raise RivuletError("; ".join(wrong))
    return "it opens and is consistent"


def _mount(settings: RootSettings) -> Finding:
    if not settings.vfs.is_mounting:
        return Finding("mount", GOOD, f"vfs.mode: no mount is wanted; {OVER_HTTP}")
    path = mount_point(settings.vfs)
    if any(entry.kind == KIND for entry in mounts_at(path)) and answers(path, ANSWER_SECONDS) is None:
        return Finding("mount", GOOD, f"{path} is mounted by the running Rivulet")
    reason = unusable(settings.vfs)
    if reason:
        is_needed = settings.vfs.mode == "fuse"
        return (
            Finding("mount", WRONG, reason) if is_needed else Finding("mount", HINT, f"{reason}; {OVER_HTTP}")
        )
    return Finding("mount", GOOD, f"{settings.vfs.mount_path} can be mounted")


def _reach(settings: RootSettings) -> Iterator[Finding]:
    """Yield what keeps other users and containers from seeing the mount."""
    for check in mount_checks.checks(settings.vfs, is_mounted=True, mountinfo=mount_checks.read_mounts()):
        if not check.is_well:
            yield Finding("who sees the mount", HINT, f"{check.title}: {check.said}. {check.mend}")


def _providers(opened: Opened, clock: Clock) -> Iterator[Finding]:
    for broken in opened.plugins.broken:
        yield Finding(f"plugin {broken.name}", WRONG, broken.reason)
    registry = plugins.Registry(
        opened.store.current,
        opened.plugins.classes,
        partial(plugins.make_source, clock=clock, allowed=opened.store.current.network.networks),
        clock,
    )
    try:
        enabled = registry.of(Plugin)
        if not enabled:
            yield Finding("providers", HINT, "no provider is enabled; see docs/settings.md")
        for plugin in enabled:
            yield _tried(f"{plugin.section}.{plugin.key}", partial(_answers, plugin))
    finally:
        registry.close()


def _answers(plugin: plugins.AnyPlugin) -> str:
    plugin.check()
    return f"{plugin.title} answers"


def render(findings: list[Finding]) -> str:
    """Return the findings as lines, wrong ones first."""
    ranked = sorted(findings, key=lambda finding: (WRONG, HINT, GOOD).index(finding.level))
    return "\n".join(f"{finding.level:<6} {finding.subject}: {finding.sentence}" for finding in ranked)


@dataclass(frozen=True, slots=True)
class Story:
    """An item with what happened to it, oldest first."""

    detail: ItemDetail
    rows: tuple[StoredDecision, ...]

    def text(self) -> str:
        """Return it for reading."""
        item, names = self.detail.item, dict(_names_beneath(self.detail.children))
        head = f"{_name(self.detail)} is {item.last_state.value}"
        schedule = item.schedule
        dates = [at for at in (schedule.next_attempt_at, schedule.reindex_at) if at is not None]
        if dates:
            head += f"; next look {_at(min(dates))}"
        if schedule.next_reason:
            head += f" ({schedule.next_reason})"
        return "\n".join(
            [head, *(line for row in self.rows for line in _lines(row, names.get(row.item_id, "")))]
        )

    def as_dict(self) -> dict[str, JsonValue]:
        """Return it as JSON values."""
        item = self.detail.item
        rows: list[JsonValue] = [
            {
                "item_id": row.item_id,
                "at": row.at.isoformat(),
                "step": row.step,
                "outcome": row.outcome,
                "sentence": row.sentence,
                "next_at": row.next_at.isoformat() if row.next_at else None,
                "data": dict(row.data),
            }
            for row in self.rows
        ]
        return {"id": item.id, "title": _name(self.detail), "state": item.last_state.value, "timeline": rows}


def story(store: SettingsStore, item_id: int, clock: Clock) -> Story:
    """Return the story of an item; raise NotFound for an unknown id."""
    database = Database(database_url(store), data_dir=store.folder, clock=clock)
    database.open()
    try:
        with database.read() as tx:
            return story_of(tx, item_id)
    finally:
        database.close()


def story_of(tx: Tx, item_id: int) -> Story:
    """Return the story of an item and of what is beneath it; raise NotFound for an unknown id."""
    detail = items.detail(tx, item_id)
    if detail is None:
        raise NotFound(f"no item has the id {item_id}")
    return Story(detail, decisions.timeline(tx, item_id, with_descendants=True))


def _names_beneath(children: Iterable[ChildView], above: str = "") -> Iterator[tuple[int, str]]:
    """Yield (id, a short name such as `S01E02`) of everything beneath a show or a season."""
    for child in children:
        letter = "S" if child.type is MediaType.SEASON else "E"
        name = f"{above}{letter}{child.number:02d}"
        yield child.id, name
        yield from _names_beneath(child.children, name)


def _name(detail: ItemDetail) -> str:
    item = detail.item
    year = f" ({item.year})" if item.year else ""
    if detail.show_title is None:
        return f"{item.title or f'item {item.id}'}{year}"
    if item.type is MediaType.SEASON:
        return f"{detail.show_title}, season {item.number}"
    return f"{detail.show_title}, season {detail.season}, episode {item.number} {item.title}".strip()


def _at(instant: datetime) -> str:
    return instant.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _lines(row: StoredDecision, name: str) -> Iterator[str]:
    subject = f"{name} {row.step}" if name else row.step
    later = f" Next look {_at(row.next_at)}." if row.next_at is not None else ""
    yield f"{_at(row.at)}  {subject}: {row.sentence}{later}"
    for key in ("examples", "tried"):
        shown = row.data.get(key)
        for example in shown if isinstance(shown, list) else ():
            if isinstance(example, dict):
                yield f"{'':21}- {example.get('release')}: {example.get('why')}"
