"""TorBox: holds torrents that somebody has downloaded before and gives addresses of their files (API v1).

What it holds can be asked for without adding anything; only what it holds is added. An answer is judged by its `success`, whatever
its HTTP status.
"""

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Generic, Literal, TypeVar

from loguru import logger
from pydantic import BaseModel, Field, HttpUrl, SecretStr

from program.clock import Clock
from program.errors import Misconfigured, NotFound, Refused, RetryLater, RivuletError, Transient
from program.events import StreamLinkRequested
from program.http import AnyId, DataSource, Limits, Response
from program.media.entry import AccountTorrent, FetchedTorrent, Link, TorrentFile
from program.services.downloaders import AccountMemory, is_archive, is_readable, is_video, program_among
from program.services.plugin import Account, Downloader, DownloadRefused
from program.settings.provider import ProviderSettings

T = TypeVar("T")

# A download must be begun within an hour by some of the vendor's pages, within three by others; a running one is not cut.
LINK_LIFETIME = timedelta(hours=1)
# Looks at a torrent that was just added; what is held is there by the last one.
LOOKS = (0.5, 1.0, 2.0, 4.0)
# The vendor allows 60 additions an hour; other programs of the account need some too.
ADDED_PER_HOUR, HOUR = 50, 3600.0
PAGE = 1000
HASHES_PER_QUESTION = 100
# The month's additions are used up; the day on which they come back is not told.
MONTH_USED_UP = timedelta(hours=12)
# A cool-down that does not say when it ends.
COOL_DOWN = timedelta(hours=1)

_KEY_CODES = frozenset(
    {"NO_AUTH", "BAD_TOKEN", "AUTH_ERROR", "PLAN_RESTRICTED_FEATURE", "OAUTH_VERIFICATION_ERROR"}
)
_ACTIVE, _MONTHLY, _COOLDOWN, _DIFFERENT = "ACTIVE_LIMIT", "MONTHLY_LIMIT", "COOLDOWN_LIMIT", "DIFF_ISSUE"
_UNKNOWN_CODES = frozenset({"ITEM_NOT_FOUND"})
_TOO_MANY, _SERVER_ERROR = 429, 500


class TorBoxSettings(ProviderSettings):
    """Settings of TorBox."""

    url: HttpUrl = Field(HttpUrl("https://api.torbox.app/v1/api"), description="Address of the API")
    api_key: SecretStr = Field(SecretStr(""), description="API key (torbox.app/settings)")


class Answer(BaseModel, Generic[T]):
    """What every answer comes in. A refusal never gets here: `classify` has read it."""

    success: Literal[True]
    data: T


class User(BaseModel):
    """Answer of /user/me. plan: 0 is free."""

    email: str = ""
    plan: int = 0
    expires: str | None = Field(None, alias="premium_expires_at")


class File(BaseModel):
    """One file. id: may be 0. name: its path, with the torrent's own folder."""

    id: AnyId = ""
    name: str
    size: int = 0
    zipped: bool = False


class Torrent(BaseModel):
    """A torrent on the account."""

    id: AnyId
    hash: str = ""
    name: str = ""
    state: str = Field("", alias="download_state")
    is_finished: bool = Field(False, alias="download_finished")
    is_present: bool = Field(False, alias="download_present")
    is_active: bool = Field(False, alias="active")
    created: str | None = Field(None, alias="created_at")
    files: list[File] | None = None

    @property
    def is_ready(self) -> bool:
        """Return whether its files can be read."""
        return self.is_finished and self.is_present


class Created(BaseModel):
    """Answer of /torrents/createtorrent. torrent_id None: it was queued."""

    torrent_id: AnyId | None = None
    queued_id: AnyId | None = None


class Cached(BaseModel):
    """A torrent that is held."""

    files: list[File] | None = None


class TorBox(Downloader[TorBoxSettings]):
    """Looks at the account, asks what is held, adds that alone."""

    key = "torbox"
    title = "TorBox"
    Settings = TorBoxSettings
    has_cache_check = True
    # The vendor allows 300 a minute; other programs of the account need some too.
    limits = Limits(requests=270, seconds=60)

    def __init__(self, settings: TorBoxSettings, http: DataSource, clock: Clock) -> None:
        super().__init__(settings, http, clock)
        self._memory: AccountMemory[Torrent] = AccountMemory(self.key, clock, self._by_hash)
        # Guarded by the lock.
        self._lock = threading.Lock()
        self._added: deque[float] = deque()

    @classmethod
    def headers(cls, settings: TorBoxSettings) -> Mapping[str, str]:
        """Return the key."""
        return {"Authorization": f"Bearer {settings.api_key.get_secret_value()}"}

    @classmethod
    def classify(cls, response: Response) -> Exception | None:
        """Return what the envelope says; a 200 without success is a refusal."""
        told = response.data()
        if not isinstance(told, dict) or told.get("success") is not False or response.status == _TOO_MANY:
            return None
        data = told.get("data")
        error = told.get("error")
        code = error if isinstance(error, str) else _code_of(data if isinstance(data, dict) else {})
        said = f"{told.get('detail') or 'refused'} ({code or response.status})"
        if code in _KEY_CODES:
            return Misconfigured(cls.key, "api_key", f"is refused: {said}")
        if code in _UNKNOWN_CODES:
            return NotFound(f"{cls.key}: {said}")
        if (code or "").endswith("ERROR") or response.status >= _SERVER_ERROR:
            return Transient(f"{cls.key}: {said}")
        return Refused(cls.key, response.status, code, said)

    def check(self) -> None:
        """Return when the key is good and the account is paid."""
        if not self.account().is_premium:
            raise Misconfigured(self.key, "api_key", "belongs to an account without a plan")

    def account(self) -> Account:
        """Return whose account it is."""
        user = self.http.read("/user/me", Answer[User], fresh=True).data
        return Account(user.email, user.plan > 0, user.expires)

    def torrents(self) -> Iterable[AccountTorrent]:
        """Return the account's torrents."""
        return tuple(map(_as_listed, self._rows()))

    def cached(self, infohashes: tuple[str, ...]) -> Mapping[str, tuple[TorrentFile, ...]]:
        """Return the videos, with their subtitles, of the torrents it holds; nothing is added for it."""
        found: dict[str, tuple[TorrentFile, ...]] = {}
        for first in range(0, len(infohashes), HASHES_PER_QUESTION):
            some = infohashes[first : first + HASHES_PER_QUESTION]
            params = {"hash": ",".join(some), "format": "object", "list_files": "true"}
            answer = self.http.read(
                "/torrents/checkcached", Answer[dict[str, Cached] | list[object] | None], params=params
            )
            held = answer.data if isinstance(answer.data, dict) else {}
            found |= {
                infohash.lower(): tuple(_usable(torrent.files or ())) for infohash, torrent in held.items()
            }
        return found

    def fetch(
        self, infohash: str, known_torrent_id: str | None, intended_at: datetime | None = None
    ) -> FetchedTorrent:
        """Return the torrent when it is held; raise `DownloadRefused`, `RetryLater`, `Transient`."""
        row = self._memory.row(infohash)
        torrent = self._find(row.id) if row else None
        is_ours = True
        if torrent is not None:
            is_ours = torrent.id == known_torrent_id or self._memory.is_ours(torrent.id, infohash)
            is_ours = is_ours or _as_listed(torrent).is_added_since(intended_at)
        elif row is not None:
            self._memory.forget(row.id)
        torrent = torrent or self._add(infohash)
        try:
            files = self._files(self._until_ready(torrent))
        except DownloadRefused as refusal:
            refusal.torrent_id = self._discard(torrent.id) if is_ours else None
            raise
        return FetchedTorrent(self.key, torrent.id, infohash, torrent.name, files, is_foreign=not is_ours)

    def remove(self, torrent_id: str) -> None:
        """Delete a torrent; an unknown id counts as deleted."""
        body = {"torrent_id": int(torrent_id), "operation": "delete", "all": False}
        try:
            self.http.post("/torrents/controltorrent", json=body)
        except NotFound:
            logger.bind(provider=self.key).debug("torrent {} was deleted before", torrent_id)
        self._memory.forget(torrent_id)

    def link(self, wanted: StreamLinkRequested) -> Link:
        """Return a fresh address of the file."""
        params = {
            "token": self.settings.api_key.get_secret_value(),
            "torrent_id": wanted.torrent_id,
            "file_id": wanted.file_id,
            "redirect": "false",
        }
        try:
            url = self.http.read("/torrents/requestdl", Answer[str], params=params, fresh=True).data
        except NotFound as error:
            raise DownloadRefused(self.key, "gone", "the torrent is not on the account any more") from error
        except Refused as refusal:
            raise DownloadRefused(self.key, "gone", refusal.reason) from refusal
        return Link(url, self.clock.now() + LINK_LIFETIME, self.key)

    def _by_hash(self) -> Mapping[str, Torrent]:
        return {row.hash.lower(): row for row in self._rows()}

    def _rows(self) -> Iterator[Torrent]:
        seen: set[str] = set()
        while True:
            rows = self._page(len(seen))
            new = [row for row in rows if row.id not in seen]
            seen.update(row.id for row in new)
            yield from new
            if len(rows) < PAGE or not new:
                return

    def _page(self, offset: int) -> Sequence[Torrent]:
        params: dict[str, str | int | None] = {"offset": offset, "limit": PAGE, "bypass_cache": "true"}
        try:
            return (
                self.http.read(
                    "/torrents/mylist", Answer[list[Torrent] | None], params=params, fresh=True
                ).data
                or ()
            )
        except NotFound:
            # An account without torrents.
            return ()

    def _find(self, torrent_id: str) -> Torrent | None:
        params = {"id": torrent_id, "bypass_cache": "true"}
        try:
            return self.http.read("/torrents/mylist", Answer[Torrent | None], params=params, fresh=True).data
        except NotFound:
            return None

    def _add(self, infohash: str) -> Torrent:
        """Return a torrent just added, if it is held."""
        if infohash not in self.cached((infohash,)):
            raise DownloadRefused(self.key, "not_cached", "not held there")
        with self._memory.adding(infohash):
            created = self._create(infohash)
        if created.torrent_id is None:
            raise self._memory.slots_are_full()
        torrent = Torrent.model_validate({"id": created.torrent_id, "hash": infohash})
        self._memory.added(infohash, torrent)
        return torrent

    def _create(self, infohash: str) -> Created:
        self._count_addition()
        form = {
            "magnet": f"magnet:?xt=urn:btih:{infohash}",
            "seed": "3",
            "allow_zip": "false",
            "add_only_if_cached": "true",
        }
        try:
            return self.http.parse(self.http.post("/torrents/createtorrent", form=form), Answer[Created]).data
        except Refused as refusal:
            raise self._refusal(refusal) from refusal

    def _count_addition(self) -> None:
        """Count an addition; raise RetryLater when there were enough within the hour."""
        now = self.clock.monotonic()
        with self._lock:
            while self._added and now - self._added[0] >= HOUR:
                self._added.popleft()
            if len(self._added) >= ADDED_PER_HOUR:
                at = self.clock.now() + timedelta(seconds=HOUR - (now - self._added[0]))
                raise RetryLater(at, f"{self.key}: enough was added within an hour")
            self._added.append(now)

    def _refusal(self, refusal: Refused) -> RivuletError:
        """Return what a refusal to add means."""
        now, code = self.clock.now(), refusal.code
        if code == _ACTIVE or (code == _DIFFERENT and "maximum" in refusal.reason):
            return self._memory.slots_are_full()
        if code in (_MONTHLY, _COOLDOWN):
            wait = MONTH_USED_UP if code == _MONTHLY else COOL_DOWN
            return RetryLater(now + wait, f"{self.key}: {refusal.reason}")
        return DownloadRefused(self.key, "not_cached", f"refused: {refusal.reason}")

    def _until_ready(self, torrent: Torrent) -> Torrent:
        """Return the torrent once its files can be read; else raise `DownloadRefused`."""
        found: Torrent | None = torrent
        for seconds in (0.0, *LOOKS):
            self.http.wait(seconds)
            found = torrent if torrent.is_ready and torrent.files else self._find(torrent.id)
            if found is None:
                break
            if found.is_ready and found.files:
                return found
        if found is None:
            self._memory.forget(torrent.id)
            raise DownloadRefused(self.key, "gone", "the torrent vanished from the account")
        raise DownloadRefused(
            self.key, "not_cached", f"not held there (it is {found.state or 'not finished'})"
        )

    def _files(self, torrent: Torrent) -> tuple[TorrentFile, ...]:
        files = torrent.files or []
        if (program := program_among(file.name for file in files)) is not None:
            raise DownloadRefused(self.key, "no_video", f"the torrent holds a program: {program}")
        usable = tuple(_usable(files))
        if not any(is_video(file.path) for file in usable):
            raise DownloadRefused(self.key, "no_video", "the torrent holds no video")
        return usable

    def _discard(self, torrent_id: str) -> str | None:
        """Delete a torrent of ours; return its id when it could not be deleted now."""
        try:
            self.remove(torrent_id)
        except RivuletError as error:
            logger.bind(provider=self.key).warning("torrent {} could not be deleted: {}", torrent_id, error)
            return torrent_id
        return None


def _code_of(data: Mapping[str, object]) -> str | None:
    """Return what a refusal without a code means, by what it tells beside."""
    told = {"active_limit": _ACTIVE, "monthly_limit": _MONTHLY, "cooldown_until": _COOLDOWN}
    return next((code for name, code in told.items() if name in data), None)


def _usable(files: Iterable[File]) -> Iterator[TorrentFile]:
    for file in files:
        if is_readable(file.name) and not (file.zipped or is_archive(file.name)):
            yield TorrentFile(file.name.lstrip("/"), file.size, file.id)


def _as_listed(row: Torrent) -> AccountTorrent:
    try:
        added = datetime.fromisoformat(row.created) if row.created else None
    except ValueError:
        added = None
    if added is not None and added.tzinfo is None:
        added = None
    return AccountTorrent(row.id, row.hash.lower(), row.name, row.is_ready, added)
