"""The settings file: found, created, loaded, saved whole or not at all, watched. The last good settings stay in force."""

import errno
import hashlib
import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue, ValidationError

from program.errors import StartupError
from program.log import hide, logger
from program.settings import document as documents
from program.settings import environment
from program.settings.models import RootSettings
from program.settings.page import schema_text
from program.settings.problems import (
    FILE_NAME,
    InvalidSettings,
    Problem,
    SettingsConflict,
    SettingsNotWritten,
    explain,
)
from program.settings.upgrade import UPGRADES, VERSION, Document, Upgrade, upgrade

SCHEMA_NAME = "settings.schema.json"
# Used when RIVULET_CONFIG is not set; the container image sets it to /config.
DEFAULT_FOLDER = "data"
API_KEY_BYTES = 24
Listener = Callable[[RootSettings], None]


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings in force.

    document: the file's own values; revision: of the file's content; locked: path to the variable that sets it.
    """

    settings: RootSettings
    document: Document
    revision: str
    locked: Mapping[str, str]


def config_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder that holds the settings file and the program's data."""
    return Path(environ.get(environment.CONFIG) or DEFAULT_FOLDER).expanduser().resolve()


def revision_of(content: bytes) -> str:
    """Return what tells one content of the file from another."""
    return hashlib.sha256(content).hexdigest()[:16]


class SettingsStore:
    """The settings of one config folder, for one model and one environment. Safe to use from several threads."""

    def __init__(
        self,
        folder: Path,
        model: type[RootSettings],
        environ: Mapping[str, str],
        *,
        upgrades: Mapping[int, Upgrade] = UPGRADES,
        version: int = VERSION,
        ignore: Callable[[Document], Document] = dict,
    ) -> None:
        """Take where to look; ignore: returns a document without what is not to be judged, though it stays in the file."""
        self.folder = folder
        self.file = folder / FILE_NAME
        self._model = model
        self._environ = dict(environ)
        self._upgrades = upgrades
        self._version = version
        self._ignore = ignore
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()
        # Guarded by the lock when written.
        self._loaded: Loaded | None = None

    def open(self) -> RootSettings:
        """Load the file and return the settings; at the first start it is made, with defaults and a new API key.

        Raises InvalidSettings with every problem, StartupError when the folder cannot be used.
        """
        with self._lock:
            try:
                self._create_if_missing()
                loaded = self._load(self.file.read_bytes(), needs_key=False)
                if not loaded.settings.api_key.get_secret_value():
                    loaded = self._load(self._write(self._with_new_key(loaded.document)))
                self._put_schema()
            except (OSError, SettingsNotWritten) as error:
                raise StartupError(f"cannot use the config folder {self.folder}: {error}") from error
            self._loaded = loaded
        return loaded.settings

    @property
    def loaded(self) -> Loaded:
        """Return what is in force; `open` comes first."""
        if self._loaded is None:
            raise RuntimeError("the settings were not opened")
        return self._loaded

    @property
    def current(self) -> RootSettings:
        """Return the settings in force."""
        return self.loaded.settings

    def masked(self) -> Document:
        """Return the settings in force, environment included, with every secret masked."""
        return documents.masked(self.current)

    def schema(self) -> dict[str, JsonValue]:
        """Return the JSON Schema of the file."""
        return self._model.model_json_schema(by_alias=True)

    def on_change(self, listener: Listener) -> None:
        """Have `listener` called with the new settings after each save, in the thread that saved."""
        self._listeners.append(listener)

    def save(self, change: Document, expected_revision: str | None = None) -> Loaded:
        """Merge `change` into the file and return what is then in force; a masked value keeps what is there.

        expected_revision: of the content that `change` was made from; None means the settings in force. Raises InvalidSettings,
        SettingsConflict when the file has another content by now, SettingsNotWritten; then nothing has changed.
        """
        with self._lock:
            content = self.file.read_bytes() if self.file.exists() else b""
            if revision_of(content) != (expected_revision or self.loaded.revision):
                raise SettingsConflict(f"{FILE_NAME} was changed meanwhile: load the settings again")
            document = documents.merge(self._model, self.loaded.document, self._kept(change))
            self._build(document)
            self._loaded = loaded = self._load(self._write(document))
        for listener in self._listeners:
            listener(loaded.settings)
        return loaded

    def preview(self, change: Document) -> RootSettings:
        """Return what would be in force after `save(change)`; nothing is saved. Raises InvalidSettings."""
        with self._lock:
            return self._build(documents.merge(self._model, self.loaded.document, self._kept(change)))[0]

    def reload(self) -> RootSettings | None:
        """Read the file again; return the settings when its content is new and good, None when it is the same.

        Raises InvalidSettings or OSError; the settings in force stay then.
        """
        with self._lock:
            content = self.file.read_bytes()
            if revision_of(content) == self.loaded.revision:
                return None
            self._loaded = loaded = self._load(content)
        return loaded.settings

    def _create_if_missing(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.file.exists():
            self._write(documents.starter(self._model))
            logger.info("{} was made with the defaults", self.file)

    def _with_new_key(self, document: Document) -> Document:
        logger.info("a new API key was made; it stands in {}", self.file)
        return {**document, "api_key": secrets.token_hex(API_KEY_BYTES)}

    def _load(self, content: bytes, *, needs_key: bool = True) -> Loaded:
        document = upgrade(documents.parse(content), self._upgrades, self._version)
        settings, locked = self._build(document, needs_key=needs_key)
        hide(documents.secrets_in(settings))
        return Loaded(settings, document, revision_of(content), locked)

    def _build(self, document: Document, *, needs_key: bool = True) -> tuple[RootSettings, Mapping[str, str]]:
        """Return the settings of a document under this environment, and what the environment sets."""
        overrides = environment.read(self._environ, self._model)
        full = self._ignore(document)
        for override in overrides:
            full = documents.write_at(full, override.path, override.value)
        locked = {override.path: override.variable for override in overrides}
        try:
            settings = self._model.model_validate_json(documents.to_text(full), strict=True)
        except ValidationError as error:
            raise InvalidSettings(explain(error, self._model, locked)) from None
        if needs_key and not settings.api_key.get_secret_value():
            raise InvalidSettings([Problem("api_key", "must not be empty")])
        return settings, locked

    def _kept(self, change: Document) -> Document:
        """Return a change with masks replaced by what they hide and without the values that the environment sets."""
        in_force = documents.plain(self.current)
        change = documents.unmasked(change, in_force)
        problems = [
            Problem(path, "is masked, but nothing is known to stand behind it; send the value itself")
            for path in documents.masks_left(change)
        ]
        for path, variable in self.loaded.locked.items():
            sent = documents.read_at(change, path)
            if sent is not None and sent != documents.read_at(in_force, path):
                problems.append(Problem(path, f"is set by the environment variable {variable}"))
            change = documents.remove_at(change, path)
        if problems:
            raise InvalidSettings(problems)
        return change

    def _put_schema(self) -> None:
        """Keep the schema beside the file, so that editors find it."""
        file, text = self.folder / SCHEMA_NAME, schema_text(self._model)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            replace_file(file, text.encode())

    def _write(self, document: Document) -> bytes:
        content = documents.to_text({"$schema": f"./{SCHEMA_NAME}", **document}).encode()
        try:
            replace_file(self.file, content)
        except OSError as error:
            raise SettingsNotWritten(f"cannot write {self.file}: {error.strerror}{_advice(error)}") from error
        return content


def _advice(error: OSError) -> str:
    return "; mount its folder, not the single file" if error.errno == errno.EBUSY else ""


def replace_file(file: Path, content: bytes) -> None:
    """Give a file a new content, readable by its owner only; after a crash it has the old or the new content, never a part."""
    file = file.resolve()
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
