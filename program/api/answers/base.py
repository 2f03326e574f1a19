"""What every answer of the API is made from."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer


def _utc(value: datetime) -> str:
    return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")


Instant = Annotated[datetime, PlainSerializer(_utc, return_type=str)]


class Body(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(frozen=True)


class ErrorBody(Body):
    """Every answer that is not a success."""

    detail: str


class MessageBody(Body):
    """What was done, as a sentence."""

    message: str
