"""The log as a file: to be saved, or to be shown to somebody by an address that ends after a day."""

from datetime import UTC, datetime, timedelta

from flask import Response, request

from program.api.answers.state import UploadLogsResponse
from program.api.auth import address_token, same
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.payloads import LogsQuery, number_in
from program.api.routes import PREFIX, Access, Route
from program.api.status import log_lines

TAG = "status"
MEDIA = "text/plain"
SHARED_FOR = timedelta(hours=24)
# Addresses that are made within the same hour are the same.
ROUNDED = 3600
MOST_LINES = 10_000


def download(context: ApiContext, query: LogsQuery) -> Response:
    """Send the last lines of the log as a file, secrets masked."""
    return _text(context, query.limit)


def upload(context: ApiContext) -> UploadLogsResponse:
    """Give the log an address that whoever knows it can open for a day. It stays on this machine; nothing is sent to anybody."""
    until = int((context.clock.now() + SHARED_FOR).timestamp()) // ROUNDED * ROUNDED
    path = f"{PREFIX}/logs/shared/{until}/{address_token(context, f'log {until}')}"
    return UploadLogsResponse(success=True, url=f"{request.url_root.rstrip('/')}{path}")


def shared(context: ApiContext, until: str, token: str) -> Response:
    """Send the log to whoever knows its address, as long as that holds."""
    end = number_in(until) or 0
    if not same(token, address_token(context, f"log {end}")):
        raise ApiError(401, "this is not the address of a log")
    if context.clock.now() >= datetime.fromtimestamp(end, UTC):
        raise ApiError(410, "this address of the log has ended")
    return _text(context, MOST_LINES)


def _text(context: ApiContext, limit: int) -> Response:
    text = "".join(f"{line}\n" for line in log_lines(context, limit))
    headers = {
        "Content-Disposition": 'attachment; filename="rivulet.log"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(text, mimetype=MEDIA, headers=headers)


ROUTES = (
    Route(
        method="GET",
        rule="/logs/download",
        handle=download,
        summary="Save the last lines of the log",
        tag=TAG,
        query=LogsQuery,
        media=MEDIA,
    ),
    Route(
        method="POST",
        rule="/upload_logs",
        handle=upload,
        summary="Give the log an address for a day",
        tag=TAG,
        answer=UploadLogsResponse,
    ),
    Route(
        method="GET",
        rule="/logs/shared/<until>/<token>",
        handle=shared,
        summary="Show the log to whoever knows its address",
        tag=TAG,
        media=MEDIA,
        access=Access.ADDRESS,
    ),
)
