"""Errors that say what the caller must do.

RivuletError
├── StartupError          one sentence for the user; the program ends with a code other than 0
├── SettingsError         a settings value is wrong: path, reason
├── RetryLater            try again at a given time; costs no attempt
│   └── Unavailable       a provider is paused or down until then
├── Transient             try again with the queue's back-off; costs an attempt
├── Cancelled             the work is no longer wanted; nothing is to be reported
└── Final                 do not try again
    ├── Misconfigured     a person must change a setting (a wrong key, a missing address)
    ├── NotFound          the other side does not know this id
    ├── BadAnswer         the other side sent something that is not what its protocol says
    ├── NotPossible       what a person asked for cannot be done as things stand
    └── Refused           the other side understood and said no; carries its own code
"""

from datetime import datetime


class RivuletError(Exception):
    """Base of all our errors; `str()` is a sentence fit for the user and free of secrets."""


class StartupError(RivuletError):
    """The program cannot start; the sentence says what to mend."""


class SettingsError(RivuletError):
    """A settings value is not usable.

    path: where it stands in the file, e.g. `downloaders.realdebrid.api_key`; reason: a sentence without the value of a secret.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"settings: {path}: {reason}" if path else f"settings: {reason}")
        self.path = path
        self.reason = reason


class RetryLater(RivuletError):
    """The work cannot be done now; it is due again `at` (aware UTC). Costs no attempt."""

    def __init__(self, at: datetime, reason: str) -> None:
        super().__init__(reason)
        self.at = at
        self.reason = reason


class Unavailable(RetryLater):
    """A provider is paused or down until `at`."""

    def __init__(self, provider: str, at: datetime, reason: str) -> None:
        super().__init__(at, f"{provider}: {reason}")
        self.provider = provider


class Transient(RivuletError):
    """A failure that a repetition may heal: a connection, a 5xx, a busy database, a killed worker."""


class Cancelled(RivuletError):
    """The work was called off while it ran."""


class Final(RivuletError):
    """Repeating the same call cannot help."""


class Misconfigured(Final):
    """A person must change a setting. `field` is its path within the provider's section."""

    def __init__(self, provider: str, field: str, reason: str) -> None:
        super().__init__(f"{provider}: {field}: {reason}")
        self.provider = provider
        self.field = field


class NotFound(Final):
    """The other side does not know what was asked for."""


class BadAnswer(Final):
    """The answer is not what the protocol says: HTML in place of JSON, cut JSON, a missing field."""


class NotPossible(Final):
    """What a person asked for cannot be done as things stand; the sentence says why."""


class Refused(Final):
    """The other side said no with a code of its own. status: HTTP status; code: the provider's number or slug, if any."""

    def __init__(self, provider: str, status: int, code: str | int | None, reason: str) -> None:
        super().__init__(f"{provider}: {reason}")
        self.provider = provider
        self.status = status
        self.code = code
        self.reason = reason


def sentence_of(error: BaseException) -> str:
    """Return what is told of an error: our own as they are, any other with its kind, since few say much by themselves."""
    said, kind = str(error), type(error).__name__
    if isinstance(error, RivuletError):
        return said or kind
    return f"{kind}: {said}" if said else kind
