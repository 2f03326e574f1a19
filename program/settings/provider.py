"""The base of every section of the settings, and of every provider's."""

import re
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic.config import JsonDict

M = TypeVar("M", bound=BaseModel)

# Marks a field that few people need; forms and documents show it after the others.
RARE: JsonDict = {"rare": True}


def defaults_of(model: type[M]) -> Callable[[], M]:
    """Return a function that makes a section with its defaults."""
    return lambda: model.model_validate({})


def heading(model: type) -> str:
    """Return a section's title for forms: `RealDebridSettings` gives `Real Debrid`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", model.__name__.removesuffix("Settings"))


class Section(BaseModel):
    """A part of `settings.json`: unknown keys are errors, values do not change once loaded."""

    model_config = ConfigDict(extra="forbid", frozen=True, model_title_generator=heading)

    def secret_values(self) -> tuple[str, ...]:
        """Return every secret in this section, for redaction; empty ones are left out."""
        found = [value.get_secret_value() for value in self.__dict__.values() if isinstance(value, SecretStr)]
        return tuple(secret for secret in found if secret)


class ProviderSettings(Section):
    """What every provider's section has."""

    enabled: bool = Field(default=False, description="Whether this service is used")
    proxy: SecretStr = Field(
        default=SecretStr(""),
        description="Address of an HTTP proxy that its calls go through, such as http://name:password@192.168.1.2:3128",
        json_schema_extra=RARE,
    )

    @field_validator("proxy")
    @classmethod
    def _is_a_proxy(cls, proxy: SecretStr) -> SecretStr:
        # The value is not repeated: it may hold a password.
        parts = urlsplit(proxy.get_secret_value())
        if proxy.get_secret_value() and not (parts.scheme in ("http", "https") and parts.hostname):
            raise ValueError("is not the address of an HTTP proxy, such as http://192.168.1.2:3128")
        return proxy
