"""Who may call: every route asks for the API key unless it says otherwise."""

import hashlib
import hmac
from collections.abc import Mapping

from flask import Flask, request
from werkzeug.datastructures import Headers

from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import Access, Route
from program.log import hide

# The pages' part of the app: it has a sign-in of its own.
PAGES = "web"
SCHEME = "bearer "
TOKEN_LENGTH = 32


def install(app: Flask, routes: Mapping[str, Route], context: ApiContext) -> None:
    """Refuse calls without the key before anything else is looked at; routes: by endpoint."""

    @app.before_request
    def check() -> None:
        if request.blueprint == PAGES:
            return
        route = routes.get(request.endpoint or "")
        if route is not None and route.access is not Access.KEY and request.method != "OPTIONS":
            return
        if not any(same(given, key_of(context)) for given in given_keys(request.headers)):
            raise ApiError(
                401, "the API key is missing or wrong: send it as X-Api-Key", {"WWW-Authenticate": "Bearer"}
            )


def key_of(context: ApiContext) -> str:
    """Return the key in force."""
    return context.store.current.api_key.get_secret_value()


def given_keys(headers: Headers) -> list[str]:
    """Return what a request offers as its key; request apps can often set the Authorization header only, without a scheme."""
    keys = [headers.get("X-Api-Key", "")]
    authorization = headers.get("Authorization", "").strip()
    if authorization.lower().startswith(SCHEME):
        authorization = authorization[len(SCHEME) :].strip()
    return [key for key in (*keys, authorization) if key]


def same(given: str, key: str) -> bool:
    """Compare in a time that tells nothing; an empty key opens nothing."""
    return bool(key) and hmac.compare_digest(given.encode(), key.encode())


def webhook_token(context: ApiContext, provider: str) -> str:
    """Return the token in the path of a provider's webhook; it follows from the API key and changes with it."""
    made = hmac.new(key_of(context).encode(), f"webhook {provider}".encode(), hashlib.sha256)
    token = made.hexdigest()[:TOKEN_LENGTH]
    hide([token])
    return token
