"""The base of every provider's settings section."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class Section(BaseModel):
    """A part of `settings.json`: unknown keys are errors, values do not change once loaded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def secret_values(self) -> tuple[str, ...]:
        """Return every secret in this section, for redaction; empty ones are left out."""
        found = [value.get_secret_value() for value in self.__dict__.values() if isinstance(value, SecretStr)]
        return tuple(secret for secret in found if secret)


class ProviderSettings(Section):
    """What every provider's section has."""

    enabled: bool = Field(default=False, description="Whether this service is used")
