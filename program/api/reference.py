"""The description of the API as a page, made here from the routes: no script, and nothing from elsewhere."""

from collections.abc import Callable, Iterable
from html import escape
from itertools import groupby

from flask import Response

from program import __version__
from program.api.context import ApiContext
from program.api.openapi import PART
from program.api.routes import Access, Route, lists_in
from program.settings.fields import fields

TAG = "documentation"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
}
STYLE = (
    ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{font-size:.95em}summary{cursor:pointer;padding:.3rem 0}dl{margin:.3rem 0 1rem 1.5rem}dt{font-weight:600}"
)
WHO = {Access.KEY: "", Access.ADDRESS: " · open to whoever knows the token", Access.EVERYBODY: " · open"}
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Rivulet {version}: the API</title><style>{style}</style></head><body><main>
<h1>The API of Rivulet {version}</h1>
<p>Calls that are not open need the API key, as <code>X-Api-Key</code> or <code>Authorization: Bearer</code>. Whatever goes wrong is
answered with JSON: an object with a sentence in <code>detail</code>. Programs read <code>openapi.json</code>.</p>
{groups}
</main></body></html>
"""


def page(routes: Iterable[Route]) -> str:
    """Return the page about some routes."""
    ordered = sorted(routes, key=lambda route: route.tag)
    groups = [
        f"<h2>{escape(tag.capitalize())}</h2>{''.join(_route(route) for route in group)}"
        for tag, group in groupby(ordered, key=lambda route: route.tag)
    ]
    return PAGE.format(version=escape(__version__), style=STYLE, groups="\n".join(groups))


def _route(route: Route) -> str:
    path = PART.sub(r"{\1}", route.path)
    said = escape((route.handle.__doc__ or "").strip())
    head = f"<code>{route.method} {escape(path)}</code> {escape(route.summary)}{WHO[route.access]}"
    return f"<details><summary>{head}</summary><p>{said}</p><dl>{_takes(route)}</dl></details>"


def _takes(route: Route) -> str:
    parts = []
    for where, model in (("query", route.query), ("body", route.body)):
        for name, (_, info) in fields(model).items() if model is not None else ():
            several = (
                " (several)" if where == "query" and route.query and name in lists_in(route.query) else ""
            )
            parts.append(
                f"<dt><code>{escape(name)}</code> in the {where}{several}</dt><dd>{escape(info.description or '')}</dd>"
            )
    return "".join(parts)


def route(routes: tuple[Route, ...]) -> Route:
    """Return the open route of the page about `routes` and itself."""

    def show(_context: ApiContext) -> Response:
        """Show every call with what it takes."""
        return Response(page((*routes, made)), mimetype="text/html", headers=HEADERS)

    handle: Callable[..., Response] = show
    made = Route(
        method="GET",
        rule="/docs",
        handle=handle,
        summary="Show this description as a page",
        tag=TAG,
        access=Access.EVERYBODY,
        media="text/html",
    )
    return made
