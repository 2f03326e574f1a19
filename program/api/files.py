"""`/files`: the library over plain HTTP, for whoever has no mount: folders as pages of links, files by ranges; read-only.

The bytes come through the same readers as those of the mount. Each file that is sent holds one of the server's threads, so only so
many are sent at a time; the next is asked to come back.
"""

import hashlib
import mimetypes
import threading
from collections.abc import Iterator
from datetime import UTC
from html import escape
from http import HTTPStatus
from urllib.parse import quote

from flask import Response, request
from werkzeug.http import http_date

from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.places import RETRY_SECONDS, Places
from program.api.ranges import Content, part_for
from program.api.routes import Route
from program.log import logger
from program.vfs.open_files import FileHandle
from program.vfs.reader import ReadFailed
from program.vfs.tree import Directory, Node, TreeFile

TAG = "files"
ROOT = "/files"
# What is read and sent at a time: small enough for a quick first byte, large enough to be cheap.
PIECE = 256 * 1024
UNKNOWN_TYPE = "application/octet-stream"
# What the system's own list often lacks.
TYPES = {
    ".mkv": "video/x-matroska",
    ".m2ts": "video/mp2t",
    ".ts": "video/mp2t",
    ".srt": "application/x-subrip",
    ".ass": "text/x-ssa",
    ".ssa": "text/x-ssa",
    ".vtt": "text/vtt",
}
# A name in a listing is never run as anything but text.
LISTING_HEADERS = {"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"}
LISTING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body><h1>{title}</h1><ul>
{lines}
</ul></body></html>
"""


class Body:
    """The bytes of a range, piece by piece. The first is there when this is made, so that a failure can still be said."""

    def __init__(self, handle: FileHandle, start: int, stop: int, places: Places) -> None:
        """Read the first piece. Raises ReadFailed; the caller still owns handle and place then."""
        self._handle = handle
        self._places = places
        self._position = start
        self._stop = stop
        self._first = self._read()
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the rest; ends early when it cannot be read, which the client sees by the length it was told."""
        piece, self._first = self._first, b""
        while piece:
            yield piece
            try:
                piece = self._read()
            except (ReadFailed, OSError) as error:
                logger.warning("{} was cut off at {}: {}", self._handle.file.path, self._position, error)
                return

    def close(self) -> None:
        """Close the file and give the place back; called by the server, however the answer ended."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        if not was_closed:
            self._handle.close()
            self._places.give_back()

    def _read(self) -> bytes:
        data = self._handle.read(self._position, min(PIECE, self._stop - self._position))
        self._position += len(data)
        return data


def browse(context: ApiContext, path: str = "") -> Response:
    """Return a folder as a page of links, or a file or the part of it that is asked for."""
    node = node_at(context, path)
    if not isinstance(node, Directory):
        return send(context, path, node)
    if not request.path.endswith("/"):
        # Programs that follow links tell a folder from a file by this.
        address = f"{request.script_root}{quote(request.path)}/"
        return Response(status=HTTPStatus.MOVED_PERMANENTLY, headers={"Location": address})
    return listing(path, node)


def node_at(context: ApiContext, path: str) -> Node:
    """Return what is at a path of the library; raise ApiError 404."""
    node = context.files.lookup(path)
    if node is None:
        raise ApiError(HTTPStatus.NOT_FOUND, f"the library has no {path}")
    return node


def send(context: ApiContext, path: str, file: TreeFile) -> Response:
    """Return a file, or the part of it that the request wants. Raises ApiError."""
    content = content_of(file)
    part = part_for(request.headers, content)
    headers = {
        "ETag": f'"{content.etag}"',
        "Last-Modified": http_date(content.modified),
        "Accept-Ranges": "bytes",
        "X-Content-Type-Options": "nosniff",
    }
    if part.status is HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        raise ApiError(
            part.status, f"{path} has {file.size} bytes", {"Content-Range": f"bytes */{file.size}"}
        )
    if part.status is HTTPStatus.PRECONDITION_FAILED:
        raise ApiError(part.status, f"{path} is another file by now", headers)
    if not part.has_body:
        return Response(status=part.status, headers=headers)
    if part.status is HTTPStatus.PARTIAL_CONTENT:
        headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{file.size}"
    headers["Content-Length"] = str(part.stop - part.start)
    body = () if request.method == "HEAD" else _body(context, path, part.start, part.stop)
    return Response(body, part.status, headers, mimetype=type_of(path))


def _body(context: ApiContext, path: str, start: int, stop: int) -> Body:
    """Return the bytes; raise ApiError 404, or 503 when no place is free or the source does not answer."""
    context.places.take()
    try:
        handle = context.files.open(path)
    except OSError as error:
        context.places.give_back()
        raise ApiError(HTTPStatus.NOT_FOUND, f"{path}: {error.strerror}") from error
    try:
        return Body(handle, start, stop, context.places)
    except (ReadFailed, OSError) as error:
        handle.close()
        context.places.give_back()
        raise ApiError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"{path} cannot be read now: {error}",
            {"Retry-After": str(RETRY_SECONDS)},
        ) from error


def content_of(file: TreeFile) -> Content:
    """Return what conditions and ranges are about; the tag changes with the bytes, not with the name."""
    version = "\n".join(map(str, file.version))
    tag = hashlib.sha256(version.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return Content(file.size, tag, file.modified.astimezone(UTC).replace(microsecond=0))


def type_of(path: str) -> str:
    """Return the media type of a file by its name."""
    extension = path[path.rfind(".") :].lower()
    return TYPES.get(extension) or mimetypes.guess_type(path)[0] or UNKNOWN_TYPE


def listing(path: str, folder: Directory) -> Response:
    """Return a folder as a page of links, which programs that follow links can read as well."""
    above = "/".join(part for part in path.split("/") if part)
    base = f"{request.script_root}{ROOT}/{quote(above)}".rstrip("/")
    lines = ["<li><a href='../'>..</a></li>"] if above else []
    for name, child in sorted(folder.children.items()):
        slash = "/" if isinstance(child, Directory) else ""
        size = f" {child.size}" if isinstance(child, TreeFile) else ""
        lines.append(f'<li><a href="{base}/{quote(name)}{slash}">{escape(name)}{slash}</a>{size}</li>')
    page = LISTING.format(title=escape(f"/{above}"), lines="\n".join(lines))
    return Response(page, headers=LISTING_HEADERS, mimetype="text/html")


def _get(rule: str) -> Route:
    return Route(
        method="GET", rule=rule, handle=browse, summary="Read the library over HTTP", tag=TAG, is_bare=True
    )


ROUTES = (_get(ROOT), _get(f"{ROOT}/<path:path>"))
