"""Real-Debrid: holds torrents that somebody has downloaded before and gives addresses of their files (REST 1.0).

There is no way to ask whether a torrent is held: it is added, its videos are selected, and a few looks tell.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from loguru import logger
from pydantic import BaseModel, Field, HttpUrl, SecretStr, TypeAdapter

from program.clock import Clock
from program.errors import BadAnswer, Misconfigured, NotFound, Refused, RetryLater, RivuletError, Transient
from program.events import StreamLinkRequested
from program.http import AnyId, AskedToWait, DataSource, Limits, Response
from program.media.entry import AccountTorrent, FetchedTorrent, Link, TorrentFile
from program.services.downloaders import (
    AccountMemory,
    is_archive,
    is_readable,
    is_video,
    plain_name,
    program_among,
)
from program.services.plugin import Account, Downloader, DownloadRefused
from program.settings.provider import ProviderSettings

# Looks at a torrent after its files were selected (or while its magnet is read); what is held is there by the last one.
LOOKS = (0.5, 1.0, 2.0, 4.0)
PAGE = 2500
# The lifetime of an address is not documented; clients see about two days.
LINK_LIFETIME = timedelta(hours=24)
# A refusal as infringing this soon after a 429 is often untrue: it holds only for the second time.
NEAR_LIMIT, DOUBT = timedelta(seconds=30), timedelta(minutes=10)
# The account's traffic is used up; it comes back at an hour that nobody tells.
TRAFFIC_SECONDS = 3600

READY, SELECTING, CONVERTING = "downloaded", "waiting_files_selection", "magnet_conversion"
BROKEN = frozenset({"magnet_error", "error", "virus", "dead"})

_KEY_CODES = frozenset({8, 9, 10, 11, 12, 13, 14, 15, 20, 22})
_SLOW_DOWN_CODES, _TRAFFIC_CODES = frozenset({5, 34}), frozenset({23, 36})
_UNKNOWN_ID, _SLOTS, _INFRINGING = 7, 21, 35
_DEAD_LINK_CODES = frozenset({19, 24, _INFRINGING})
_REFUSALS = frozenset({19, _SLOTS, 24, 26, 28, 29, 30, 33, _INFRINGING, 37})
_CODE_OF_STATUS = {451: _INFRINGING, 509: _SLOTS}
_TOO_MANY = 429


class RealDebridSettings(ProviderSettings):
    """Settings of Real-Debrid."""

    url: HttpUrl = Field(HttpUrl("https://api.real-debrid.com/rest/1.0"), description="Address of the API")
    api_key: SecretStr = Field(SecretStr(""), description="API token (real-debrid.com/apitoken)")
    subtitles: bool = Field(
        False,
        description="Have the subtitle files of a torrent beside its videos; where the service packs both into one archive, the "
        "torrent is added once more without them, which costs a few calls",
    )


class User(BaseModel):
    """Answer of /user."""

    username: str
    type: str = "free"
    expiration: str | None = None
    points: int | None = None


class File(BaseModel):
    """One file of a torrent."""

    id: AnyId
    path: str
    bytes: int = 0
    selected: bool = False


class Row(BaseModel):
    """A torrent as the list shows it."""

    id: AnyId
    hash: str
    filename: str = ""
    status: str
    added: str = ""


class Info(Row):
    """A torrent with its files; links: one per selected file, in their order, once it is downloaded."""

    original_filename: str | None = None
    files: list[File] = Field(default_factory=list)
    links: list[str] = Field(default_factory=list)

    @property
    def selected(self) -> list[File]:
        """Return the files that links are for."""
        return [file for file in self.files if file.selected]

    @property
    def videos(self) -> list[File]:
        """Return the files that are videos by their name."""
        return [file for file in self.files if is_video(file.path)]

    @property
    def readable(self) -> list[File]:
        """Return the videos and what may be a subtitle of one."""
        return [file for file in self.files if is_readable(file.path)]

    @property
    def is_packed(self) -> bool:
        """Return whether the files that were selected came as one archive."""
        return self.status == READY and len(self.links) == 1 < len(self.selected)


class Added(BaseModel):
    """Answer of /torrents/addMagnet."""

    id: AnyId


class Unrestricted(BaseModel):
    """Answer of /unrestrict/link. filesize 0: not known."""

    filename: str
    filesize: int = 0
    download: str
    mime: str = Field("", alias="mimeType")


_ROWS = TypeAdapter(list[Row])


@dataclass(frozen=True, slots=True)
class _Held:
    """A torrent that is worked on. is_ours: may be deleted."""

    info: Info
    is_ours: bool


class RealDebrid(Downloader[RealDebridSettings]):
    """Looks at the account first, adds, selects the videos, looks again; deletes what it added in vain."""

    key = "realdebrid"
    title = "Real-Debrid"
    Settings = RealDebridSettings
    # The vendor allows 250 a minute; other programs of the account need some too.
    limits = Limits(requests=230, seconds=60)

    def __init__(self, settings: RealDebridSettings, http: DataSource, clock: Clock) -> None:
        super().__init__(settings, http, clock)
        self._memory: AccountMemory[Row] = AccountMemory(self.key, clock, self._by_hash)
        # Torrents that came as an archive when subtitles were selected.
        self._packed: set[str] = set()

    @classmethod
    def headers(cls, settings: RealDebridSettings) -> Mapping[str, str]:
        """Return the key."""
        return {"Authorization": f"Bearer {settings.api_key.get_secret_value()}"}

    @classmethod
    def classify(cls, response: Response) -> Exception | None:
        """Return what `error_code` says; a 503 that carries one is an answer."""
        data = response.data() if response.status >= 400 else None  # noqa: PLR2004 - errors
        told = data if isinstance(data, dict) else {}
        code = told.get("error_code", _CODE_OF_STATUS.get(response.status))
        said = f"{told.get('error', response.status)} (code {code})"
        if code in _KEY_CODES:
            return Misconfigured(cls.key, "api_key", f"is refused: {said}")
        if code in _TRAFFIC_CODES:
            return AskedToWait(TRAFFIC_SECONDS, f"the account's traffic is used up: {said}")
        if code in _SLOW_DOWN_CODES and response.status != _TOO_MANY:
            return AskedToWait(None, f"asks to slow down: {said}")
        if code == _UNKNOWN_ID:
            return NotFound(f"{cls.key}: {said}")
        return Refused(cls.key, response.status, code, said) if code in _REFUSALS else None

    def check(self) -> None:
        """Return when the key is good and the account is paid."""
        if not self.account().is_premium:
            raise Misconfigured(self.key, "api_key", "belongs to an account that is not premium")

    def account(self) -> Account:
        """Return whose account it is."""
        user = self.http.read("/user", User, fresh=True)
        return Account(user.username, user.type == "premium", user.expiration, user.points)

    def torrents(self) -> Iterable[AccountTorrent]:
        """Return the account's torrents, newest first."""
        return tuple(_as_listed(row) for row in self._rows())

    def fetch(
        self, infohash: str, known_torrent_id: str | None, intended_at: datetime | None = None
    ) -> FetchedTorrent:
        """Return the torrent once its videos can be read; raise `DownloadRefused`, `RetryLater`, `Transient`."""
        held = self._on_account(infohash, known_torrent_id, intended_at) or self._add(infohash)
        try:
            info = self._until_ready(held.info)
            if held.is_ours and info.is_packed and len(info.videos) < len(info.selected):
                self._packed.add(infohash)
                self._discard(held)
                held = self._add(infohash)
                info = self._until_ready(held.info)
            files = self._files(info)
        except NotFound as error:
            self._memory.forget(held.info.id)
            raise DownloadRefused(self.key, "gone", "the torrent vanished from the account") from error
        except DownloadRefused as refusal:
            refusal.torrent_id = self._discard(held)
            raise
        name = info.original_filename or info.filename
        return FetchedTorrent(self.key, info.id, infohash, name, files, is_foreign=not held.is_ours)

    def remove(self, torrent_id: str) -> None:
        """Delete a torrent; an unknown id counts as deleted."""
        self.http.delete(f"/torrents/delete/{torrent_id}", ok=(404,))
        self._memory.forget(torrent_id)

    def link(self, wanted: StreamLinkRequested) -> Link:
        """Return a fresh address of the file: the one whose name and size its link answers with."""
        answer = self._unrestrict(wanted.link) if wanted.link else None
        if not isinstance(answer, Unrestricted) or not _names(answer, wanted.file_name, wanted.size):
            if isinstance(answer, Refused) and answer.code == _INFRINGING:
                raise DownloadRefused(self.key, "infringing", f"refused: {answer.reason}") from answer
            # No link yet, a dead one, or one that leads to another file: see where the torrent's links lead now.
            answer = self._found_again(wanted)
        return Link(answer.download, self.clock.now() + LINK_LIFETIME, self.key)

    def _found_again(self, wanted: StreamLinkRequested) -> Unrestricted:
        try:
            info = self._info(wanted.torrent_id)
        except NotFound as error:
            raise DownloadRefused(self.key, "gone", "the torrent is not on the account any more") from error
        for file, _, answer in self._joined(info):
            if file.id == wanted.file_id:
                return answer
        raise DownloadRefused(
            self.key, "gone", f"no link of the torrent leads to {wanted.file_name} any more"
        )

    def _on_account(self, infohash: str, known: str | None, intended_at: datetime | None) -> _Held | None:
        """Return the account's torrent of that hash when it can be gone on with."""
        held = self._held(known, is_ours=True) if known else None
        row = None if held else self._memory.row(infohash)
        if row is None or row.id == known or row.status in BROKEN:
            return held
        is_ours = self._memory.is_ours(row.id, infohash) or _as_listed(row).is_added_since(intended_at)
        return self._held(row.id, is_ours=is_ours)

    def _held(self, torrent_id: str, *, is_ours: bool) -> _Held | None:
        """Return a torrent that can be gone on with; one of ours that cannot is deleted."""
        try:
            held = _Held(self._info(torrent_id), is_ours)
        except NotFound:
            return None
        info = held.info
        # Files can be selected once only: where videos were left out, a torrent of our own is needed.
        has_videos = info.status != READY or all(file.selected for file in info.videos)
        if has_videos and info.status not in BROKEN:
            return held
        self._discard(held)
        return None

    def _by_hash(self) -> Mapping[str, Row]:
        listed: dict[str, Row] = {}
        for row in self._rows():
            # Of several copies the newest that is not broken; the list comes newest first.
            kept = listed.setdefault(row.hash.lower(), row)
            if kept.status in BROKEN and row.status not in BROKEN:
                listed[row.hash.lower()] = row
        return listed

    def _rows(self) -> Iterator[Row]:
        seen: set[str] = set()
        page = 1
        while True:
            answer = self.http.get("/torrents", params={"page": page, "limit": PAGE}, fresh=True)
            told = answer.data()
            if answer.body.strip() and told is None:
                raise BadAnswer(f"{self.key}: the list of torrents is not JSON")
            # 204: there is none (any more); a 200 that is no list was seen as well.
            rows = self.http.parse(answer, _ROWS) if isinstance(told, list) else []
            new = [row for row in rows if row.id not in seen]
            seen.update(row.id for row in new)
            yield from new
            if len(rows) < PAGE or not new:
                return
            page += 1

    def _add(self, infohash: str) -> _Held:
        """Return a torrent just added; when the answer is lost, the next attempt looks at the account first."""
        form = {"magnet": f"magnet:?xt=urn:btih:{infohash}"}
        with self._memory.adding(infohash):
            answer = self._ask(lambda: self.http.post("/torrents/addMagnet", form=form))
            added = self.http.parse(answer, Added)
        self._memory.added(infohash, Row(id=added.id, hash=infohash, status=CONVERTING))
        try:
            return _Held(self._info(added.id), is_ours=True)
        except NotFound as error:
            raise Transient(f"{self.key}: the torrent just added is not known yet") from error

    def _until_ready(self, info: Info) -> Info:
        """Return the torrent once it is downloaded, its videos selected; else raise `DownloadRefused`."""
        if info.status == CONVERTING:
            info = self._look(info, lambda seen: seen.status != CONVERTING)
        if (program := program_among(file.path for file in info.files)) is not None:
            raise DownloadRefused(self.key, "no_video", f"the torrent holds a program: {program}")
        if info.status == SELECTING:
            if not info.videos:
                raise DownloadRefused(self.key, "no_video", "the torrent holds no video")
            wants_subtitles = self.settings.subtitles and info.hash.lower() not in self._packed
            chosen = info.readable if wants_subtitles else info.videos
            path, files = f"/torrents/selectFiles/{info.id}", ",".join(file.id for file in chosen)
            self._ask(lambda: self.http.post(path, form={"files": files}))
            info = self._look(info, lambda seen: seen.status == READY or seen.status in BROKEN)
        if info.status in BROKEN:
            raise DownloadRefused(self.key, "dead", f"the torrent is in the state {info.status}")
        if info.status != READY:
            raise DownloadRefused(
                self.key, "not_cached", f"not held there (it is {info.status.replace('_', ' ')})"
            )
        return info

    def _look(self, info: Info, is_enough: Callable[[Info], bool]) -> Info:
        # These waits are bounded (7.5 s in all) and hold the worker: giving it back would start the job anew.
        for seconds in LOOKS:
            self.http.wait(seconds)
            info = self._info(info.id)
            if is_enough(info):
                break
        return info

    def _info(self, torrent_id: str) -> Info:
        return self.http.read(f"/torrents/info/{torrent_id}", Info, fresh=True)

    def _files(self, info: Info) -> tuple[TorrentFile, ...]:
        """Return the videos and subtitles with their links; raise `DownloadRefused` when they cannot be read in place."""
        if len(info.selected) == len(info.links):
            pairs = list(zip(info.selected, info.links, strict=True))
        else:
            pairs = [(file, link) for file, link, _ in self._joined(info)]
        files = tuple(
            TorrentFile(file.path.lstrip("/"), file.bytes, file.id, link)
            for file, link in pairs
            if is_readable(file.path)
        )
        if not any(is_video(file.path) for file in files):
            raise DownloadRefused(self.key, "no_video", "none of its links leads to a video")
        return files

    def _joined(self, info: Info) -> list[tuple[File, str, Unrestricted]]:
        """Return the selected files with the links that really lead to them, told by name, else by a size that is unique."""
        told = [(link, self._unrestrict(link)) for link in info.links]
        answers = [(link, answer) for link, answer in told if isinstance(answer, Unrestricted)]
        if any(_is_packed(answer) for _, answer in answers):
            raise DownloadRefused(self.key, "no_video", "its files come packed as an archive")
        files, joined = list(info.selected), []
        for fits in (_names_file, _is_of_size):
            for link, answer in tuple(answers):
                fitting = [file for file in files if fits(answer, file)]
                if len(fitting) == 1:
                    joined.append((fitting[0], link, answer))
                    files.remove(fitting[0])
                    answers.remove((link, answer))
        return joined

    def _unrestrict(self, link: str) -> Unrestricted | NotFound | Refused:
        """Return what a link leads to, or what the service said when it is dead."""
        try:
            return self.http.parse(self.http.post("/unrestrict/link", form={"link": link}), Unrestricted)
        except NotFound as unknown:
            return unknown
        except Refused as refusal:
            if refusal.code == _INFRINGING and self._is_near_limit():
                at = self.clock.now() + DOUBT
                raise RetryLater(at, f"{self.key}: refused as infringing right after a limit") from refusal
            if refusal.code in _DEAD_LINK_CODES:
                return refusal
            raise

    def _ask(self, send: Callable[[], Response]) -> Response:
        """Return the answer to adding or selecting; raise what a refusal of it means."""
        try:
            return send()
        except Refused as refusal:
            now = self.clock.now()
            if refusal.code == _SLOTS:
                raise self._memory.slots_are_full() from refusal
            if refusal.code not in _REFUSALS:
                raise
            is_infringing = refusal.code == _INFRINGING
            retry_at = now + DOUBT if is_infringing and self._is_near_limit() else None
            code = "infringing" if is_infringing else "dead"
            raise DownloadRefused(
                self.key, code, f"refused: {refusal.reason}", retry_at=retry_at
            ) from refusal

    def _is_near_limit(self) -> bool:
        limited_at = self.http.statistics().limited_at
        return limited_at is not None and self.clock.now() - limited_at < NEAR_LIMIT

    def _discard(self, held: _Held) -> str | None:
        """Delete a torrent of ours; return its id when it could not be deleted now."""
        if not held.is_ours:
            return None
        try:
            self.remove(held.info.id)
        except RivuletError as error:
            logger.bind(provider=self.key).warning("torrent {} could not be deleted: {}", held.info.id, error)
            return held.info.id
        return None


def _as_listed(row: Row) -> AccountTorrent:
    return AccountTorrent(row.id, row.hash.lower(), row.filename, row.status == READY, _instant(row.added))


def _instant(text: str) -> datetime | None:
    """Return a date as the API writes it, None when it cannot be read.

    It is marked as UTC; where it is the time of their servers in truth, it reads up to two hours late.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _is_packed(answer: Unrestricted) -> bool:
    return is_archive(answer.filename) or any(word in answer.mime for word in ("rar", "zip", "7z"))


def _names(answer: Unrestricted, name: str, size: int) -> bool:
    """Return whether a link leads to the file of that name, and of that size where both are told."""
    sizes_agree = not answer.filesize or not size or answer.filesize == size
    return sizes_agree and plain_name(answer.filename) == plain_name(name)


def _names_file(answer: Unrestricted, file: File) -> bool:
    return _names(answer, file.path, file.bytes)


def _is_of_size(answer: Unrestricted, file: File) -> bool:
    return bool(answer.filesize) and answer.filesize == file.bytes
