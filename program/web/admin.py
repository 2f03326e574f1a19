"""The administrator: one password, and the key that sessions are signed with, in a file of their own in the config folder."""

import json
import secrets
import threading
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError
from werkzeug.security import check_password_hash, generate_password_hash

from program.errors import StartupError
from program.settings.store import replace_file

FILE_NAME = "admin.json"
SHORTEST_PASSWORD = 8
# Beyond this a "password" is an attempt to keep the machine busy.
LONGEST_PASSWORD = 256
METHOD = "scrypt:32768:8:1"
SECRET_BYTES = 32


class Stored(BaseModel):
    """The file. password: scrypt hash, empty until the first visit has set one; secret: signs sessions."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    secret: str
    password: str = ""


class Admin:
    """Checks and sets the password. Thread-safe. Deleting the file lets the next visitor set a new one."""

    def __init__(self, folder: Path) -> None:
        """Read the file, or make it; raise StartupError when that is not possible."""
        self._file = folder / FILE_NAME
        # Checking takes memory and a core on purpose, so one at a time; guards what is stored as well.
        self._lock = threading.Lock()
        try:
            self._stored = self._read() if self._file.exists() else self._write(_fresh(""))
        except (OSError, ValidationError) as error:
            reason = getattr(error, "strerror", None) or "it does not hold what was written there"
            raise StartupError(f"{self._file} cannot be used: {reason}; mend or delete it") from error

    @property
    def has_password(self) -> bool:
        """Return whether somebody has set a password."""
        return bool(self._stored.password)

    @property
    def secret(self) -> str:
        """Return the key that sessions are signed with; it changes with the password."""
        return self._stored.secret

    def set_first(self, password: str) -> bool:
        """Set the password; False when there is one already. Raises OSError when it cannot be written."""
        with self._lock:
            if self._stored.password:
                return False
            self._stored = self._write(_fresh(password))
            return True

    def change(self, old: str, new: str) -> bool:
        """Replace the password, which ends every session; False when `old` is wrong. Raises OSError."""
        with self._lock:
            if not self._is_right(old):
                return False
            self._stored = self._write(_fresh(new))
            return True

    def check(self, password: str) -> bool:
        """Return whether this is the password; before one is set, nothing is."""
        with self._lock:
            return self._is_right(password)

    def _is_right(self, password: str) -> bool:
        # Call with the lock held.
        stored = self._stored.password
        return bool(stored) and len(password) <= LONGEST_PASSWORD and check_password_hash(stored, password)

    def _read(self) -> Stored:
        return Stored.model_validate_json(self._file.read_bytes())

    def _write(self, stored: Stored) -> Stored:
        replace_file(self._file, json.dumps(stored.model_dump(), indent=2).encode() + b"\n")
        return stored


def _fresh(password: str) -> Stored:
    hashed = generate_password_hash(password, METHOD) if password else ""
    return Stored(secret=secrets.token_hex(SECRET_BYTES), password=hashed)


def trouble_with(password: str, again: str) -> str | None:
    """Return what speaks against a new password, None when nothing does."""
    if len(password) < SHORTEST_PASSWORD:
        return f"Use {SHORTEST_PASSWORD} characters or more."
    if len(password) > LONGEST_PASSWORD:
        return f"Use {LONGEST_PASSWORD} characters or fewer."
    if password != again:
        return "The two passwords differ."
    return None
