"""Copies of the database: made, listed, saved, deleted, and put in place at the next start."""

from collections.abc import Iterator
from typing import IO

from flask import Response, request
from pydantic import Field

from program.api.answers.care import (
    BackupBody,
    BackupResponse,
    BackupsBody,
    CleanSnapshotsResponse,
    RestoreResponse,
)
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import Payload, Route
from program.db import backup, restore

TAG = "database"
MEDIA = "application/octet-stream"
PIECE = 256 * 1024
MIB = 1024 * 1024
UPLOAD = "/database/backup/upload"
LONGEST_NAME = 100


class NameQuery(Payload):
    """Which copy."""

    filename: str = Field(min_length=1, max_length=LONGEST_NAME)


class RestorePayload(Payload):
    """Which copy."""

    filename: str = Field(min_length=1, max_length=LONGEST_NAME)


def list_all(context: ApiContext) -> BackupsBody:
    """Return the copies, the newest first."""
    found = backup.all_in(backup.folder_in(context.store.folder))
    return BackupsBody(
        backups=[BackupBody(filename=one.name, size=one.size, made_at=one.made_at) for one in found],
        at_next_start=restore.asked_for(context.store.folder),
    )


def make(context: ApiContext) -> BackupResponse:
    """Copy the database now; the ten newest copies are kept."""
    made = context.db.backup()
    if made is None:
        raise ApiError(503, "the copy could not be made; the log says why", {"Retry-After": "60"})
    return BackupResponse(success=True, message=f"The database was copied to {made.name}", filename=made.name)


def download(context: ApiContext, filename: str) -> Response:
    """Send a copy."""
    found = backup.named(backup.folder_in(context.store.folder), filename)
    opened = found.file.open("rb")
    answer = Response(iter(lambda: opened.read(PIECE), b""), mimetype=MEDIA)
    answer.content_length = found.size
    answer.headers["Content-Disposition"] = f'attachment; filename="{found.name}"'
    answer.call_on_close(opened.close)
    return answer


def delete(context: ApiContext, query: NameQuery) -> CleanSnapshotsResponse:
    """Delete a copy."""
    found = backup.named(backup.folder_in(context.store.folder), query.filename)
    found.file.unlink(missing_ok=True)
    return CleanSnapshotsResponse(
        success=True, message=f"{found.name} is deleted", deleted_files=[found.name]
    )


def upload(context: ApiContext) -> BackupResponse:
    """Take a copy in that was saved elsewhere; 409 when it is damaged, of another database, or of a newer version."""
    if not request.content_length and "Transfer-Encoding" not in request.headers:
        raise ApiError(400, "body: it is empty; send the file itself")
    return take_in(context, request.stream)


def take_in(context: ApiContext, file: IO[bytes]) -> BackupResponse:
    """Put a file among the copies once it has passed every check; nothing else changes."""
    most = context.store.current.api.max_upload_mib * MIB
    kept = context.db.take_in(_pieces(file), most)
    return BackupResponse(
        success=True,
        message=f"The file is sound and is among the copies now, as {kept.name}",
        filename=kept.name,
    )


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(PIECE), b"")


def keep(context: ApiContext) -> RestoreResponse:
    """Leave the database as it is at the next start."""
    was_asked = restore.call_off(context.store.folder)
    said = "The database stays as it is" if was_asked else "No copy was to be put in place"
    return RestoreResponse(success=was_asked, message=said)


def put_back(context: ApiContext, body: RestorePayload) -> RestoreResponse:
    """Have a copy put in place at the next start; 409 when it is damaged, of another database, or of a newer version."""
    found = context.db.check_backup(body.filename)
    restore.ask_for(context.store.folder, found)
    return RestoreResponse(
        success=True,
        message=f"{found.name} takes the place of the database at the next start; what is there is copied first",
    )


ROUTES = (
    Route(
        method="GET",
        rule="/database/backups",
        handle=list_all,
        summary="List the copies of the database",
        tag=TAG,
        answer=BackupsBody,
    ),
    Route(
        method="POST",
        rule="/database/backup",
        handle=make,
        summary="Copy the database",
        tag=TAG,
        answer=BackupResponse,
    ),
    Route(
        method="GET",
        rule="/database/backup/download/<filename>",
        handle=download,
        summary="Save a copy of the database",
        tag=TAG,
        media=MEDIA,
    ),
    Route(
        method="DELETE",
        rule="/database/backup/clean",
        handle=delete,
        summary="Delete a copy of the database",
        tag=TAG,
        query=NameQuery,
        answer=CleanSnapshotsResponse,
    ),
    Route(
        method="POST",
        rule=UPLOAD,
        handle=upload,
        summary="Take a copy of the database in that was saved elsewhere",
        tag=TAG,
        answer=BackupResponse,
        takes=MEDIA,
    ),
    Route(
        method="DELETE",
        rule="/database/restore",
        handle=keep,
        summary="Leave the database as it is at the next start",
        tag=TAG,
        answer=RestoreResponse,
    ),
    Route(
        method="POST",
        rule="/database/restore",
        handle=put_back,
        summary="Put a copy of the database in place at the next start",
        tag=TAG,
        body=RestorePayload,
        answer=RestoreResponse,
    ),
)
