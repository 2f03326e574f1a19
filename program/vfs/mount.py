"""The mount: one FUSE session at a time, watched, mounted again when it is lost, taken away at the end."""

import threading
from collections.abc import Callable

from loguru import logger

from program.errors import StartupError
from program.settings.vfs import VfsSettings
from program.vfs.attributes import Attributes
from program.vfs.counters import Counters
from program.vfs.kernel import Announcer, answers, detach, mounts_at, numbers, unmount
from program.vfs.open_files import OpenFiles
from program.vfs.operations import Operations
from program.vfs.preflight import KIND, check, may_allow_other, mount_point, prepare, why_unusable
from program.vfs.session import NO_LIBFUSE, Session, is_there

__all__ = ["Mount", "unusable"]

# When the kernel cannot be told of changes it is left to forget by itself, this soon.
FALLBACK_TIMEOUT = 5.0
# It counts from when it took note of our answer, which on a busy machine is a moment after we gave it.
FALLBACK_MARGIN = 0.5

# The kernel reads ahead with at most so many requests over the whole mount. With its own dozen, six files whose provider hangs
# would keep every other file from being read until they have failed.
MAX_BACKGROUND = 256

WATCH_SECONDS = 1.0
START_SECONDS = 10.0
STOP_SECONDS = 10.0
# How long a mount that is still used is asked to go before it is taken.
BUSY_SECONDS = 1.0


def unusable(settings: VfsSettings) -> str | None:
    """Return why the library cannot be mounted, None when it can be; changes nothing."""
    return NO_LIBFUSE if not is_there() else why_unusable(settings)


class Mount:
    """Keeps the library mounted from `start` to `stop`."""

    def __init__(
        self, settings: VfsSettings, files: OpenFiles, counters: Counters, *, can_forget: bool = True
    ) -> None:
        """Take what is handed in; can_forget: whether to tell the kernel of changes or leave it to forget by itself."""
        self._settings = settings
        self._path = mount_point(settings)
        self._files = files
        self._counters = counters
        self._attributes = Attributes(settings)
        self._stopping = threading.Event()
        self._announcer: Announcer | None = None
        self._watchdog: threading.Thread | None = None
        self._session: Session | None = None
        # Sessions that were taken from their path and are still held by a reader.
        self._abandoned: list[Session] = []
        self._device = ""
        self._can_forget = can_forget
        self._is_mounted = False

    def start(self) -> None:
        """Mount and return once the library can be read. Raises StartupError with one sentence."""
        if not is_there():
            raise StartupError(NO_LIBFUSE)
        check(self._settings)
        self._announcer = Announcer()
        try:
            self._mount()
        except BaseException:
            self._announcer.stop(STOP_SECONDS)
            raise
        self._watchdog = threading.Thread(target=self._watch, name="vfs-watchdog", daemon=True)
        self._watchdog.start()
        logger.info("the library is mounted at {}", self._path)

    def stop(self) -> None:
        """Unmount, by force if it is still used after a moment, and end every thread. A second call does nothing."""
        self._stopping.set()
        if self._watchdog is not None:
            self._watchdog.join(STOP_SECONDS)
        self._files.announce_with(None)
        if self._announcer is not None:
            self._announcer.stop(STOP_SECONDS)
        session, self._session = self._session, None
        if session is not None:
            self._take_away(session)
        self._close_abandoned()
        self._is_mounted = False

    def healthy(self) -> bool:
        """Return whether the library can be read at its path."""
        return self._is_mounted and self._session is not None and self._session.is_alive()

    def _mount(self) -> None:
        """Mount, and again with short timeouts if the kernel cannot be told of changes. Raises StartupError."""
        prepare(self._path)
        self._begin_session()
        if self._can_forget and self._session and not self._session.can_forget():
            logger.warning(
                "the kernel cannot be told of changes; it will notice them within {} s", FALLBACK_TIMEOUT
            )
            self._can_forget = False
            self._take_away(self._session)
            self._begin_session()
        self._files.announce_with(self._announce)
        self._is_mounted = True

    def _begin_session(self) -> None:
        """Start one session and wait until it answers. Raises StartupError."""
        operations = Operations(self._files, self._attributes, self._counters, self._report)
        try:
            session = Session(operations, self._path, self._options())
        except OSError as error:
            raise StartupError(f"vfs.mount_path: {self._path} could not be mounted: {error}") from error
        session.start()
        trouble = answers(self._path, START_SECONDS)
        entries = [entry for entry in mounts_at(self._path) if entry.kind == KIND]
        if trouble is not None or not entries:
            self._take_away(session)
            raise StartupError(f"vfs.mount_path: {self._path} was mounted but cannot be read: {trouble}")
        self._device = entries[-1].device
        self._session = session

    def _options(self) -> str:
        settings = self._settings
        attr, entry = (
            (settings.attr_timeout, settings.entry_timeout) if self._can_forget else (FALLBACK_TIMEOUT,) * 2
        )
        options = ["ro", "default_permissions", "fsname=rivulet", "subtype=rivulet"]
        options += [f"attr_timeout={attr:g}", f"entry_timeout={entry:g}", "negative_timeout=0"]
        options += [f"max_background={MAX_BACKGROUND}", f"congestion_threshold={MAX_BACKGROUND}"]
        if self._can_forget:
            # Pages stay while size and time of the file stay, which is asked at every open.
            options += ["auto_cache", "ac_attr_timeout=0"]
        if settings.allow_other if settings.allow_other is not None else may_allow_other():
            options.append("allow_other")
        return ",".join(options)

    def _take_away(self, session: Session) -> None:
        """Unmount a session and end its thread, by force when it must be."""
        pause = threading.Event()
        for _ in range(int(BUSY_SECONDS / 0.1)):
            if not self._is_in_place() or unmount(self._path):
                break
            pause.wait(0.1)
        else:
            logger.warning("{} is still in use and is taken away from its readers", self._path)
            detach(self._path)
        session.join(STOP_SECONDS)
        self._abandoned.append(session)
        self._close_abandoned()
        if self._abandoned:
            logger.warning("the mount at {} is still held by a reader; it ends with this process", self._path)

    def _is_in_place(self) -> bool:
        """Return whether our mount is there, on top or below another."""
        entries = [entry for entry in mounts_at(self._path) if entry.kind == KIND]
        return any(entry.device == self._device or not self._device for entry in entries)

    def _watch(self) -> None:
        """Mount again whenever the mount was lost from outside."""
        wait = WATCH_SECONDS
        while not self._stopping.wait(wait):
            self._close_abandoned()
            session = self._session
            if session is not None and session.is_alive() and self._is_in_place():
                wait = WATCH_SECONDS
                continue
            if self._is_mounted:
                logger.warning("the mount at {} was lost; mounting again", self._path)
            try:
                self._mount_again(session)
            except (StartupError, OSError) as error:
                wait = min(wait * 2, STOP_SECONDS)
                logger.warning("not mounted yet: {}", error)
            else:
                logger.info("the library is mounted at {} again", self._path)

    def _mount_again(self, lost: Session | None) -> None:
        """Clear what is left of the lost session and mount. Raises StartupError or OSError."""
        self._is_mounted = False
        self._files.announce_with(None)
        if lost is not None:
            self._session = None
            lost.join(WATCH_SECONDS)
            self._abandoned.append(lost)
            self._close_abandoned()
        self._mount()

    def _close_abandoned(self) -> None:
        """Give back what sessions held that have ended by now."""
        for session in [session for session in self._abandoned if not session.is_alive()]:
            self._abandoned.remove(session)
            session.close()

    def _announce(self, changed: set[str], done: Callable[[], None]) -> None:
        """Tell the kernel of changed paths on the announcer's thread, then call back."""
        announcer = self._announcer
        if announcer is not None:
            announcer.put(lambda: self._tell_kernel(changed, done))

    def _tell_kernel(self, changed: set[str], done: Callable[[], None]) -> None:
        try:
            session = self._session
            if not self._can_forget:
                self._stopping.wait(FALLBACK_TIMEOUT + FALLBACK_MARGIN)
            elif session is not None:
                self._forget(session, changed - {"/"})
        finally:
            done()

    def _forget(self, session: Session, changed: set[str]) -> None:
        """Make the kernel forget these paths, as far as it knows them."""
        places = {path: self._path / path.lstrip("/") for path in changed}
        known = numbers({*places.values(), *(place.parent for place in places.values())})
        # What is in a folder first: the folder may be gone as well.
        for path in sorted(changed, reverse=True):
            place = places[path]
            parent = known.get(place.parent)
            if parent is not None:
                is_gone = self._files.tree.lookup(path) is None
                session.forget(parent, known.get(place), place.name, is_gone=is_gone)

    def _report(self, name: str, error: BaseException) -> None:
        """Log an unexpected exception, on a thread of ours."""
        announcer = self._announcer
        if announcer is not None:
            announcer.put(lambda: logger.opt(exception=error).error("{} failed", name))
