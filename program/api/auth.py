"""Who may call: every route asks for the API key unless it says otherwise."""

import hashlib
import hmac
from collections.abc import Mapping
from typing import NoReturn

from flask import Flask, request
from werkzeug.datastructures import Headers

from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import Access, Route
from program.log import hide

# The pages' part of the app: it has a sign-in of its own.
PAGES = "web"
SCHEME = "bearer "
# Where the library is read over HTTP. Players and file managers know basic auth only: the key is its password, whatever the name.
# Nowhere else, since a browser sends it along with requests that another site makes.
SHARES = frozenset({"files", "dav"})
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
        is_share = request.path.split("/")[1] in SHARES
        given = [*given_keys(request.headers), *(given_passwords() if is_share else ())]
        if not any(same(one, key_of(context)) for one in given):
            _refuse(is_share=is_share)


def _refuse(*, is_share: bool) -> NoReturn:
    """Raise ApiError 401 with how to ask."""
    said, scheme = "send it as X-Api-Key", "Bearer"
    if is_share:
        said, scheme = (
            f"{said}, or as the password",
            'Basic realm="Rivulet, password: API key", charset="UTF-8"',
        )
    raise ApiError(401, f"the API key is missing or wrong: {said}", {"WWW-Authenticate": scheme})


def given_passwords() -> list[str]:
    """Return the password of the request's basic auth, as a list of at most one."""
    given = request.authorization
    return [given.password] if given is not None and given.type == "basic" and given.password else []


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
    """Return the token in the path of a provider's webhook."""
    return address_token(context, f"webhook {provider}")


def address_token(context: ApiContext, purpose: str) -> str:
    """Return the token in a path that is open to whoever knows it; it follows from the API key and changes with it."""
    made = hmac.new(key_of(context).encode(), purpose.encode(), hashlib.sha256)
    token = made.hexdigest()[:TOKEN_LENGTH]
    hide([token])
    return token
