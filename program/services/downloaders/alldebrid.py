"""AllDebrid: holds torrents that somebody has downloaded before and gives addresses of their files (API v4 and v4.1).

Adding a magnet is the only way to ask whether it is held: the answer says `ready`. A miss is deleted again. An answer is judged by
its envelope, whatever its HTTP status.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, Literal, TypeVar

from loguru import logger
from pydantic import BaseModel, Field, HttpUrl, SecretStr

from program.clock import Clock
from program.errors import BadAnswer, Misconfigured, NotFound, Refused, RetryLater, RivuletError, Transient
from program.events import StreamLinkRequested
from program.http import AnyId, AskedToWait, DataSource, Limits, Response
from program.media.entry import AccountTorrent, FetchedTorrent, Link, TorrentFile
from program.services.downloaders import AccountMemory, is_readable, is_video, plain_name, program_among
from program.services.plugin import Account, Downloader, DownloadRefused
from program.settings.provider import ProviderSettings

T = TypeVar("T", bound=BaseModel)

# The lifetime of an address is not documented; a day is what clients keep one for.
LINK_LIFETIME = timedelta(hours=12)
# It is at work on the magnet: ask again then.
PROCESSING = timedelta(minutes=2)
# Folders within folders; more are a mistake or worse.
DEEPEST = 32

READY, FIRST_BROKEN = 4, 5

_KEY_CODES = frozenset(
    (
        *("AUTH_MISSING_APIKEY", "AUTH_BAD_APIKEY", "AUTH_BLOCKED", "AUTH_USER_BANNED", "ACCOUNT_INVALID"),
        *("NO_SERVER", "MAGNET_NO_SERVER", "MUST_BE_PREMIUM", "MAGNET_MUST_BE_PREMIUM"),
        "FREE_TRIAL_LIMIT_REACHED",
    )
)
_BUSY_CODES = frozenset(
    ("MAINTENANCE", "LINK_TOO_MANY_DOWNLOADS", "LINK_HOST_LIMIT_REACHED", "LINK_HOST_FULL")
)
_PASSING_CODES = frozenset(
    (
        *("GENERIC", "LINK_TEMPORARY_UNAVAILABLE", "LINK_HOST_UNAVAILABLE", "LINK_ERROR"),
        *("MAGNET_INTERNAL_ERROR", "MAGNET_UPLOAD_FAILED", "MAGNET_CANT_BOOTSTRAP", "DOWNLOAD_FAILED"),
    )
)
_SLOT_CODES = frozenset({"MAGNET_TOO_MANY_ACTIVE", "MAGNET_TOO_MANY"})
_WORKING_CODES = frozenset({"MAGNET_PROCESSING", "MAGNET_PROCESSING_COOLDOWN"})
_UNKNOWN_CODES = frozenset({"404", "MAGNET_INVALID_ID"})
_TOO_MANY = 429


class AllDebridSettings(ProviderSettings):
    """Settings of AllDebrid."""

    url: HttpUrl = Field(HttpUrl("https://api.alldebrid.com"), description="Address of the API")
    api_key: SecretStr = Field(SecretStr(""), description="API key (alldebrid.com/apikeys)")


class Answer(BaseModel, Generic[T]):
    """What every answer comes in. An error never gets here: `classify` has read it."""

    status: Literal["success"]
    data: T


class Trouble(BaseModel):
    """Why something was refused."""

    code: str = "GENERIC"
    message: str = ""

    @property
    def sentence(self) -> str:
        """Return it for reading."""
        return f"{self.message or 'refused'} ({self.code})"


class User(BaseModel):
    """The account."""

    username: str
    is_premium: bool = Field(False, alias="isPremium")
    premium_until: int = Field(0, alias="premiumUntil")
    points: int | None = Field(None, alias="fidelityPoints")


class Users(BaseModel):
    """Answer of /user."""

    user: User


class Node(BaseModel):
    """A file (with a link) or a folder (with what is in it)."""

    name: str = Field(alias="n")
    size: int = Field(0, alias="s")
    link: str | None = Field(None, alias="l")
    children: list["Node"] | None = Field(None, alias="e")


class Magnet(BaseModel):
    """A torrent on the account."""

    id: AnyId
    hash: str = ""
    name: str = Field("", alias="filename")
    code: int = Field(0, alias="statusCode")
    state: str = Field("", alias="status")
    added: int = Field(0, alias="uploadDate")

    @property
    def is_broken(self) -> bool:
        """Return whether it will never be ready."""
        return self.code >= FIRST_BROKEN


class Magnets(BaseModel):
    """Answer of /magnet/status: a list, or the one that was asked for by its id."""

    magnets: list[Magnet] | Magnet


class Sent(BaseModel):
    """What became of one magnet that was sent."""

    id: AnyId | None = None
    name: str = ""
    ready: bool = False
    error: Trouble | None = None


class Uploaded(BaseModel):
    """Answer of /magnet/upload."""

    magnets: list[Sent] = Field(min_length=1)


class Held(BaseModel):
    """The files of one torrent."""

    files: list[Node] = Field(default_factory=list)
    error: Trouble | None = None


class Contents(BaseModel):
    """Answer of /magnet/files."""

    magnets: list[Held] = Field(min_length=1)


class Unlocked(BaseModel):
    """Answer of /link/unlock. link empty: there is none yet. size 0: not known."""

    link: str = ""
    name: str = Field("", alias="filename")
    size: int = Field(0, alias="filesize")
    delayed: int | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """A torrent that is worked on. is_ours: may be deleted."""

    id: str
    name: str
    is_ours: bool


class AllDebrid(Downloader[AllDebridSettings]):
    """Looks at the account first, adds, and deletes what it added in vain."""

    key = "alldebrid"
    title = "AllDebrid"
    Settings = AllDebridSettings
    # The vendor allows 12 a second and 600 a minute; other programs of the account need some too.
    limits = Limits(requests=10, seconds=1.1)

    def __init__(self, settings: AllDebridSettings, http: DataSource, clock: Clock) -> None:
        super().__init__(settings, http, clock)
        self._memory: AccountMemory[Magnet] = AccountMemory(self.key, clock, self._by_hash)

    @classmethod
    def headers(cls, settings: AllDebridSettings) -> Mapping[str, str]:
        """Return the key."""
        return {"Authorization": f"Bearer {settings.api_key.get_secret_value()}"}

    @classmethod
    def classify(cls, response: Response) -> Exception | None:
        """Return what the envelope says; a 200 that carries an error is a refusal. With 429 the status says all."""
        told = response.data()
        if not isinstance(told, dict) or told.get("status") != "error" or response.status == _TOO_MANY:
            return None
        error = told.get("error")
        code = str(error.get("code", "GENERIC")) if isinstance(error, dict) else "GENERIC"
        message = str(error.get("message", "")) if isinstance(error, dict) else ""
        return cls._meaning(Trouble(code=code, message=message), response.status)

    @classmethod
    def _meaning(cls, trouble: Trouble, status: int = 200) -> RivuletError | AskedToWait:
        """Return what an error code means."""
        said, code = trouble.sentence, trouble.code
        if code in _KEY_CODES:
            return Misconfigured(cls.key, "api_key", f"is refused: {said}")
        if code in _BUSY_CODES:
            return AskedToWait(None, said)
        if code in _PASSING_CODES:
            return Transient(f"{cls.key}: {said}")
        if code in _UNKNOWN_CODES:
            return NotFound(f"{cls.key}: {said}")
        return Refused(cls.key, status, code, said)

    def check(self) -> None:
        """Return when the key is good and the account is paid."""
        if not self.account().is_premium:
            raise Misconfigured(self.key, "api_key", "belongs to an account that is not premium")

    def account(self) -> Account:
        """Return whose account it is."""
        user = self.http.read("/v4/user", Answer[Users], fresh=True).data.user
        until = datetime.fromtimestamp(user.premium_until, UTC).isoformat() if user.premium_until else None
        return Account(user.username, user.is_premium, until, user.points)

    def torrents(self) -> Iterable[AccountTorrent]:
        """Return the account's torrents."""
        return tuple(map(_as_listed, self._magnets()))

    def fetch(
        self, infohash: str, known_torrent_id: str | None, intended_at: datetime | None = None
    ) -> FetchedTorrent:
        """Return the torrent when it is held; raise `DownloadRefused`, `RetryLater`, `Transient`."""
        found = self._on_account(infohash, known_torrent_id, intended_at)
        files = self._read(found) if found else None
        if found is None or files is None:
            found = self._add(infohash)
            files = self._read(found)
        if files is None:
            raise DownloadRefused(self.key, "gone", "the torrent vanished from the account")
        if (program := program_among(file.path for file in files)) is not None:
            reason = f"the torrent holds a program: {program}"
            raise DownloadRefused(self.key, "no_video", reason, self._discard(found))
        usable = tuple(file for file in files if is_readable(file.path) and file.link)
        if not any(is_video(file.path) for file in usable):
            raise DownloadRefused(self.key, "no_video", "the torrent holds no video", self._discard(found))
        return FetchedTorrent(self.key, found.id, infohash, found.name, usable, is_foreign=not found.is_ours)

    def _read(self, found: _Found) -> list[TorrentFile] | None:
        """Return the files of a torrent, None when it has vanished; raise `DownloadRefused`."""
        try:
            return self._files(found.id)
        except NotFound:
            self._memory.forget(found.id)
            return None
        except DownloadRefused as refusal:
            refusal.torrent_id = self._discard(found)
            raise

    def remove(self, torrent_id: str) -> None:
        """Delete a torrent; an unknown id counts as deleted."""
        try:
            self.http.post("/v4/magnet/delete", form={"id": torrent_id})
        except NotFound:
            logger.bind(provider=self.key).debug("torrent {} was deleted before", torrent_id)
        self._memory.forget(torrent_id)

    def link(self, wanted: StreamLinkRequested) -> Link:
        """Return a fresh address of the file: the one whose name and size its link answers with."""
        answer = self._unlock(wanted.link) if wanted.link else None
        if answer is None or not _names(answer, wanted.file_name, wanted.size):
            # No link yet, a dead one, or one that leads to another file: see where the torrent's links lead now.
            answer = self._found_again(wanted)
        return Link(answer.link, self.clock.now() + LINK_LIFETIME, self.key)

    def _found_again(self, wanted: StreamLinkRequested) -> Unlocked:
        try:
            files = self._files(wanted.torrent_id)
        except NotFound as error:
            raise DownloadRefused(self.key, "gone", "the torrent is not on the account any more") from error
        for file in files:
            if file.file_id == wanted.file_id and file.link and file.link != wanted.link:
                answer = self._unlock(file.link)
                if answer is not None and _names(answer, wanted.file_name, wanted.size):
                    return answer
        raise DownloadRefused(
            self.key, "gone", f"no link of the torrent leads to {wanted.file_name} any more"
        )

    def _unlock(self, link: str) -> Unlocked | None:
        """Return what a link leads to, None when it is dead; raise `Transient` when it takes a while."""
        try:
            answer = self.http.parse(
                self.http.post("/v4/link/unlock", form={"link": link}), Answer[Unlocked]
            ).data
        except (NotFound, Refused):
            return None
        if answer.delayed is not None and not answer.link:
            raise Transient(f"{self.key}: the file is being made ready")
        return answer if answer.link else None

    def _on_account(self, infohash: str, known: str | None, intended_at: datetime | None) -> _Found | None:
        """Return the account's torrent of that hash when its files can be read; what is broken or unfinished is gone on without."""
        listed = self._memory.row(infohash)
        if listed is None:
            return None
        is_ours = listed.id == known or self._memory.is_ours(listed.id, infohash)
        is_ours = is_ours or _as_listed(listed).is_added_since(intended_at)
        found = _Found(listed.id, listed.name, is_ours)
        if listed.code == READY:
            return found
        if is_ours and listed.is_broken:
            self._discard(found)
            return None
        reason, code = f"not held there (it is {listed.state or listed.code})", "not_cached"
        if listed.is_broken:
            reason, code = f"the torrent is in the state {listed.state or listed.code}", "dead"
        raise DownloadRefused(self.key, code, reason, self._discard(found))

    def _by_hash(self) -> Mapping[str, Magnet]:
        return {row.hash.lower(): row for row in self._magnets()}

    def _magnets(self) -> list[Magnet]:
        found = self.http.parse(self.http.post("/v4.1/magnet/status"), Answer[Magnets]).data.magnets
        return found if isinstance(found, list) else [found]

    def _add(self, infohash: str) -> _Found:
        """Return a torrent just added, if it is held."""
        with self._memory.adding(infohash):
            sent = self._send(infohash)
        found = _Found(sent.id or "", sent.name, is_ours=True)
        row = {
            "id": found.id,
            "hash": infohash,
            "filename": sent.name,
            "statusCode": READY if sent.ready else 0,
        }
        self._memory.added(infohash, Magnet.model_validate(row))
        if not sent.ready:
            raise DownloadRefused(self.key, "not_cached", "not held there", self._discard(found))
        return found

    def _send(self, infohash: str) -> Sent:
        """Return what became of a magnet; raise what a refusal of it means."""
        form = {"magnets[]": f"magnet:?xt=urn:btih:{infohash}"}
        try:
            answer = self.http.parse(self.http.post("/v4/magnet/upload", form=form), Answer[Uploaded])
        except Refused as refusal:
            trouble = Trouble(code=str(refusal.code), message=refusal.reason)
            raise self._refusal(trouble) from refusal
        sent = answer.data.magnets[0]
        if sent.error is not None:
            raise self._refusal(sent.error)
        if sent.id is None:
            raise BadAnswer(f"{self.key}: a magnet that was taken has no id")
        return sent

    def _refusal(self, trouble: Trouble) -> RivuletError:
        """Return what the refusal of one magnet means."""
        meaning, now = self._meaning(trouble), self.clock.now()
        if isinstance(meaning, AskedToWait):
            return RetryLater(now + PROCESSING, f"{self.key}: {meaning.reason}")
        if not isinstance(meaning, Refused):
            return meaning
        if trouble.code in _SLOT_CODES:
            return self._memory.slots_are_full()
        if trouble.code in _WORKING_CODES:
            return RetryLater(now + PROCESSING, f"{self.key}: is at work on the magnet")
        return DownloadRefused(self.key, "dead", f"refused: {trouble.sentence}")

    def _files(self, torrent_id: str) -> list[TorrentFile]:
        """Return every file of a torrent; raise `NotFound` when it is not on the account."""
        held = self.http.parse(
            self.http.post("/v4/magnet/files", form={"id[]": torrent_id}), Answer[Contents]
        ).data.magnets[0]
        if held.error is not None:
            raise self._refusal(held.error)
        return list(_flat(held.files))

    def _discard(self, found: _Found) -> str | None:
        """Delete a torrent of ours; return its id when it could not be deleted now."""
        if not found.is_ours:
            return None
        try:
            self.remove(found.id)
        except RivuletError as error:
            logger.bind(provider=self.key).warning("torrent {} could not be deleted: {}", found.id, error)
            return found.id
        return None


def _flat(nodes: Iterable[Node], folder: str = "", depth: int = 0) -> Iterator[TorrentFile]:
    """Yield the files of a tree; a node that holds others is a folder, however it is called.

    A file has no id there: its path is one. The torrent's own folder is in the path where the service tells of it.
    """
    if depth > DEEPEST:
        raise BadAnswer(f"{AllDebrid.key}: folders within folders without end")
    for node in nodes:
        path = f"{folder}{node.name.strip('/')}"
        if node.children is not None:
            yield from _flat(node.children, f"{path}/", depth + 1)
        else:
            yield TorrentFile(path, node.size, path, node.link)


def _as_listed(row: Magnet) -> AccountTorrent:
    added = datetime.fromtimestamp(row.added, UTC) if row.added else None
    return AccountTorrent(row.id, row.hash.lower(), row.name, row.code == READY, added)


def _names(answer: Unlocked, name: str, size: int) -> bool:
    """Return whether a link leads to the file of that name, and of that size where both are told."""
    sizes_agree = not answer.size or not size or answer.size == size
    return sizes_agree and plain_name(answer.name) == plain_name(name)
