"""`/dav`: the library over WebDAV, class 1 and read-only (RFC 4918), for hosts and players that cannot use a mount.

Our own rather than a library's: see docs/decisions/0038.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from urllib.parse import quote
from xml.parsers import expat

from flask import Response, request
from werkzeug.http import http_date

from program.api import files
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import Route
from program.vfs.tree import Directory, Node, TreeFile

TAG = "dav"
ROOT = "/dav"
ALLOWED = "OPTIONS, GET, HEAD, PROPFIND"
NAMESPACE = "DAV:"
XML = "application/xml; charset=utf-8"
# Answers to a question about everything beneath are as large as the library; RFC 4918 9.1 lets a server refuse them.
TOO_DEEP = (
    '<?xml version="1.0" encoding="utf-8"?>\n<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>\n'
)

# A property's value as XML, None where a node has no such property.
Value = Callable[[str, Node], str | None]


@dataclass(frozen=True, slots=True)
class Question:
    """What a PROPFIND asks for. names: (namespace, name) pairs, None for all that there are; only_names: without values."""

    names: tuple[tuple[str, str], ...] | None = None
    only_names: bool = False


def options(_context: ApiContext, path: str = "") -> Response:
    """Return what can be done here: reading."""
    del path
    return Response(status=HTTPStatus.OK, headers={"Allow": ALLOWED, "DAV": "1", "MS-Author-Via": "DAV"})


def find(context: ApiContext, path: str = "") -> Response:
    """Return the properties of a file, or of a folder and, at depth 1, of what is in it. Raises ApiError."""
    depth = request.headers.get("Depth", "infinity").strip().lower()
    if depth == "infinity":
        return Response(TOO_DEEP, HTTPStatus.FORBIDDEN, content_type=XML)
    if depth not in ("0", "1"):
        raise ApiError(HTTPStatus.BAD_REQUEST, "Depth: must be 0 or 1")
    node = files.node_at(context, path)
    question = read_question(request.get_data(cache=False))
    href = f"{request.script_root}{ROOT}/{quote(path.strip('/'))}".rstrip("/")
    nodes = _nodes(href, path.strip("/").rpartition("/")[2], node, with_children=depth == "1")
    answers = "".join(_answer(*one, question) for one in nodes)
    body = (
        f'<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">\n{answers}</D:multistatus>\n'
    )
    return Response(body, HTTPStatus.MULTI_STATUS, {"DAV": "1"}, content_type=XML)


def read_question(body: bytes) -> Question:
    """Return what a request body asks; an empty one asks for everything. Raises ApiError 400 for what is no PROPFIND."""
    if not body.strip():
        return Question()
    path: list[str] = []
    found: list[str] = []

    def begin(name: str, _attributes: Mapping[str, str]) -> None:
        path.append(name)
        found.append(" > ".join(path))

    def refuse(*_declared: object) -> None:
        raise ApiError(HTTPStatus.BAD_REQUEST, "body: a document type is not allowed")

    parser = expat.ParserCreate(namespace_separator="|")
    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _name: path.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(body, True)
    except expat.ExpatError as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, f"body: not valid XML: {error}") from None
    return _question(found)


def _question(found: list[str]) -> Question:
    """Return the question that the paths of the elements make."""
    root = f"{NAMESPACE}|propfind"
    if found[0] != root:
        raise ApiError(HTTPStatus.BAD_REQUEST, "body: must be a propfind element of DAV:")
    if f"{root} > {NAMESPACE}|propname" in found:
        return Question(only_names=True)
    if f"{root} > {NAMESPACE}|prop" not in found:
        return Question()
    inside = f"{root} > {NAMESPACE}|prop > "
    named = [one.removeprefix(inside) for one in found if one.startswith(inside)]
    pairs = (one.rpartition("|") for one in dict.fromkeys(named) if " > " not in one)
    return Question(tuple((namespace, name) for namespace, _, name in pairs))


def _nodes(href: str, name: str, node: Node, *, with_children: bool) -> Iterator[tuple[str, str, Node]]:
    """Yield (address, name, node) of a node and of what is in it; a folder's address ends with a slash."""
    is_folder = isinstance(node, Directory)
    yield f"{href}/" if is_folder else href, name, node
    if with_children and isinstance(node, Directory):
        for child_name, child in node.children.items():
            slash = "/" if isinstance(child, Directory) else ""
            yield f"{href}/{quote(child_name)}{slash}", child_name, child


def _answer(href: str, name: str, node: Node, question: Question) -> str:
    """Return one node's part of the answer: what it has with 200, what it has not with 404."""
    wanted = question.names
    if wanted is None:
        wanted = tuple((NAMESPACE, name) for name in VALUES)
    good, lacking = [], []
    for namespace, prop in wanted:
        value = VALUES[prop](name, node) if namespace == NAMESPACE and prop in VALUES else None
        if value is not None:
            good.append(
                f"<D:{prop}/>" if question.only_names or not value else f"<D:{prop}>{value}</D:{prop}>"
            )
        elif question.names is not None:
            lacking.append(f'<P:{prop} xmlns:P="{escape(namespace)}"/>')
    parts = _propstat(good, "200 OK") + _propstat(lacking, "404 Not Found")
    return f"<D:response><D:href>{escape(href)}</D:href>{parts}</D:response>\n"


def _propstat(props: Iterable[str], status: str) -> str:
    inner = "".join(props)
    if not inner:
        return ""
    return f"<D:propstat><D:prop>{inner}</D:prop><D:status>HTTP/1.1 {status}</D:status></D:propstat>"


def _of_file(value: Callable[[str, TreeFile], str]) -> Value:
    return lambda name, node: value(name, node) if isinstance(node, TreeFile) else None


VALUES: Mapping[str, Value] = {
    "creationdate": lambda _, node: node.modified.strftime("%Y-%m-%dT%H:%M:%SZ"),
    "displayname": lambda name, _: escape(name),
    "getcontentlength": _of_file(lambda _, file: str(file.size)),
    "getcontenttype": _of_file(lambda name, _: escape(files.type_of(name))),
    "getetag": _of_file(lambda _, file: f'"{files.content_of(file).etag}"'),
    "getlastmodified": lambda _, node: http_date(node.modified),
    "resourcetype": lambda _, node: "<D:collection/>" if isinstance(node, Directory) else "",
    "supportedlock": lambda *_: "",
}


def _routes(method: str, handle: Callable[..., Response], summary: str) -> tuple[Route, Route]:
    def one(rule: str) -> Route:
        return Route(
            method=method,
            rule=rule,
            handle=handle,
            summary=summary,
            tag=TAG,
            is_bare=True,
            says_options=False,
        )

    return one(ROOT), one(f"{ROOT}/<path:path>")


ROUTES = (
    *_routes("GET", files.browse, "Read a file of the library"),
    *_routes("OPTIONS", options, "Say what can be done"),
    *_routes("PROPFIND", find, "List a folder of the library"),
)
