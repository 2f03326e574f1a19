"""A page as data: where it stands, what makes it, who may see it; and what every page has."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from urllib.parse import urlsplit

from flask import current_app, flash, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from program.api.auth import same
from program.api.context import ApiContext
from program.api.proxy import USER
from program.web.admin import Admin
from program.web.posters import Posters
from program.web.throttle import Throttle
from program.web.times import zone_named

BLUEPRINT = "web"
# Kept in the session cookie.
SIGNED_IN, TOKEN = "in", "csrf"
TOKEN_BYTES = 16
THEMES = ("system", "light", "dark")
Answer = str | Response | tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """What pages are made from."""

    api: ApiContext
    admin: Admin
    throttle: Throttle
    posters: Posters

    @property
    def now(self) -> datetime:
        """Return the present instant."""
        return self.api.clock.now()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page. rule: its address, also: others; handle: takes what pages are made from and the parts of the address by name.

    is_open: needs no sign-in.
    """

    rule: str
    name: str
    handle: Callable[..., Answer]
    methods: tuple[str, ...] = ("GET",)
    is_open: bool = False
    also: tuple[str, ...] = ()


def zone() -> tzinfo | None:
    """Return the viewer's zone, which the browser tells in a cookie; None for this machine's own."""
    return zone_named(request.cookies.get("zone", ""))


def theme() -> str:
    """Return the viewer's choice of light and dark."""
    chosen = request.cookies.get("theme", "")
    return chosen if chosen in THEMES else THEMES[0]


def is_signed_in() -> bool:
    """Return whether the request comes from somebody who gave the password, or whom a trusted proxy vouches for."""
    return session.get(SIGNED_IN) is True or bool(request.environ.get(USER))


def use_secret(web: Web) -> None:
    """Sign sessions with the key that came with a new password; those signed with the old one are void."""
    current_app.secret_key = web.admin.secret


def sign_in() -> None:
    """Begin a new session."""
    session.clear()
    session[SIGNED_IN] = True
    session.permanent = True


def token() -> str:
    """Return the mark that forms of this session carry."""
    if TOKEN not in session:
        session[TOKEN] = secrets.token_urlsafe(TOKEN_BYTES)
    return str(session[TOKEN])


def has_token() -> bool:
    """Return whether a form comes from one of our own pages."""
    given = request.form.get("csrf") or request.headers.get("X-CSRF-Token", "")
    return same(given, str(session.get(TOKEN, "")))


def is_fragment() -> bool:
    """Return whether a script on our page asks, which swaps in a part of the answer."""
    return request.headers.get("HX-Request") == "true"


def here() -> str:
    """Return the address of the request, with its query and without the server."""
    query = request.query_string.decode("ascii", "replace")
    return f"{request.script_root}{request.path}" + (f"?{query}" if query else "")


def safe_next(target: str) -> str:
    """Return where to go after signing in: only ever a place on this server."""
    parts = urlsplit(target)
    is_ours = target.startswith("/") and not target.startswith("//") and not parts.netloc
    if not is_ours or "\\" in target or any(ord(letter) < ord(" ") for letter in target):
        return url_for("web.library")
    return target


def go(endpoint: str, said: str = "", *, tone: str = "good", **parts: object) -> Response:
    """Return a redirect to a page after something was done, with a sentence for its top."""
    if said:
        flash(said, tone)
    return redirect(url_for(f"{BLUEPRINT}.{endpoint}", **parts), 303)  # type: ignore[arg-type]


def go_to(address: str, said: str = "", *, tone: str = "good") -> Response:
    """Return a redirect to an address of ours, with a sentence for its top."""
    if said:
        flash(said, tone)
    return redirect(safe_next(address), 303)


def render(template: str, **values: object) -> str:
    """Return a page."""
    return render_template(template, **values)
