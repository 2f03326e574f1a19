"""Answers that several Flask stand-ins give."""

import json
from collections.abc import Callable
from typing import Any

from flask import Flask, Response

Route = tuple[str, str, Callable[..., Response]]


def json_reply(payload: Any, status: int = 200, **headers: str) -> Response:
    """Return JSON. Header names are given with underscores: `X_Total_Count="3"`."""
    body = json.dumps(payload, ensure_ascii=False)
    response = Response(body, status=status, content_type="application/json; charset=utf-8")
    for name, value in headers.items():
        response.headers[name.replace("_", "-")] = value
    return response


def empty_reply(status: int = 204) -> Response:
    """Return an answer without a body and without a type."""
    response = Response(status=status)
    del response.headers["Content-Type"]
    return response


def whole(text: str | None, default: int) -> int:
    """Return a query value as a number, the default when it is absent or none."""
    try:
        return default if text is None else int(text)
    except ValueError:
        return default


def routed(app: Flask, *routes: Route) -> Flask:
    """Add routes, given as (method, rule, view), and return the application."""
    for number, (method, rule, view) in enumerate(routes):
        app.add_url_rule(rule, endpoint=f"{view.__name__}-{number}", view_func=view, methods=[method])
    return app
