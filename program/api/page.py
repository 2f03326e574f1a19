"""The page `docs/api.md`, made from the routes."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import groupby

from pydantic import BaseModel, RootModel

from program.api import openapi, reference
from program.api.routes import Access, Route, lists_in
from program.api.server import ROUTES
from program.settings.fields import fields

INTRODUCTION = """# The API

This page is generated from the routes (`make docs`); the running program gives the same as OpenAPI 3.1 at `/openapi.json`.

Every call but those marked open needs the API key of `settings.json`, as `X-Api-Key: …` or `Authorization: Bearer …`. Bodies are
JSON, and so is every answer; whatever goes wrong is `{"detail": "a sentence"}`, with the place of what is wrong in a body or query.
`ids` are numbers or their digits in quotes. A name in a query may be repeated where it says "several".
"""
WHO = {Access.KEY: "", Access.ADDRESS: " (open to whoever knows the token)", Access.EVERYBODY: " (open)"}


def api_page() -> str:
    """Return `docs/api.md`."""
    return (
        "\n".join([INTRODUCTION, *_lines((*ROUTES, reference.route(ROUTES), openapi.route(ROUTES)))]).rstrip(
            "\n"
        )
        + "\n"
    )


def _lines(routes: Iterable[Route]) -> Iterator[str]:
    for tag, group in groupby(routes, key=lambda route: route.tag):
        yield f"## {tag.capitalize()}\n"
        yield "| call | what it does | takes |"
        yield "|---|---|---|"
        for route in group:
            yield f"| `{route.method} {_path(route)}`{WHO[route.access]} | {route.summary} | {_takes(route)} |"
        yield ""


def _path(route: Route) -> str:
    return openapi.PART.sub(r"{\1}", route.path)


def _takes(route: Route) -> str:
    parts = [f"query: {_names(route.query, repeated=lists_in(route.query))}"] if route.query else []
    parts += [f"body: {_names(route.body)}"] if route.body else []
    return "; ".join(parts)


def _names(model: type[BaseModel], repeated: AbstractSet[str] = frozenset()) -> str:
    if issubclass(model, RootModel):
        return "an object"
    return ", ".join(f"`{name}`{' (several)' if name in repeated else ''}" for name in fields(model))
