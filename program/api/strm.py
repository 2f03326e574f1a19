"""`/strm`: the addresses that stand in STRM files. A player sends no header with them, so a token is part of the address."""

from http import HTTPStatus

from flask import Response

from program.api import files
from program.api.auth import address_token, same
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import Access, Route
from program.vfs.tree import Directory

TAG = "files"
ROOT = "/strm"


def token(context: ApiContext) -> str:
    """Return the token of all these addresses: whoever knows it may read the library. It changes with the API key."""
    return address_token(context, "strm")


def watch(context: ApiContext, given: str, entry: str, name: str) -> Response:
    """Return the file of an entry, or the part of it that is asked for, wherever it is now. name: for the player only."""
    del name
    if not same(given, token(context)):
        raise ApiError(HTTPStatus.UNAUTHORIZED, "this is not the address of a file")
    path = context.files.path_of(int(entry)) if entry.isdecimal() else None
    node = context.files.lookup(path) if path is not None else None
    if path is None or node is None or isinstance(node, Directory):
        raise ApiError(HTTPStatus.NOT_FOUND, "the library has this file no longer")
    return files.send(context, path, node)


ROUTES = (
    Route(
        method="GET",
        rule=f"{ROOT}/<given>/<entry>/<name>",
        handle=watch,
        summary="Read a file of the library by the address in its STRM file",
        tag=TAG,
        access=Access.ADDRESS,
        is_bare=True,
    ),
)
