"""The pages as a part of the API's app: who may see them, what stands in every answer, and what a fault looks like."""

import traceback
from collections.abc import Callable, Mapping
from datetime import timedelta
from http import HTTPStatus

from flask import Blueprint, Flask, redirect, request, url_for
from flask.sessions import SecureCookieSessionInterface
from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.wrappers import Response

from program.api import errors
from program.api.context import ApiContext
from program.api.errors import ApiError
from program.api.routes import PREFIX
from program.errors import RivuletError
from program.log import logger, redact
from program.web import (
    activity,
    agenda,
    by_hand,
    discover,
    doctor,
    edit,
    frame,
    item,
    library,
    pages,
    pictures,
    settings,
    setup,
    sign_in,
    statistics,
)
from program.web.admin import Admin
from program.web.pages import BLUEPRINT, Answer, Page, Web
from program.web.posters import Posters
from program.web.throttle import Throttle

PAGES: tuple[Page, ...] = (
    *sign_in.PAGES,
    *library.PAGES,
    *by_hand.PAGES,
    *edit.PAGES,
    *item.PAGES,
    *pictures.PAGES,
    *discover.PAGES,
    *agenda.PAGES,
    *activity.PAGES,
    *statistics.PAGES,
    *doctor.PAGES,
    *settings.PAGES,
    *setup.PAGES,
)
SESSION_LIFETIME = timedelta(days=30)
STATIC_SECONDS = 365 * 24 * 3600
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "media-src 'self'; "
        "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
HEADINGS: Mapping[int, str] = {
    400: "That did not come from this page",
    404: "Nothing is here",
    405: "That is not possible here",
    409: "Somebody was quicker",
    413: "That is too large",
    422: "That cannot be done so",
    500: "Something went wrong inside",
    502: "A service gave no useful answer",
    503: "Not now",
}


class Sessions(SecureCookieSessionInterface):
    """Signed cookies; over https they never go another way."""

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 - Flask hands it over
        """Return whether the cookie is for https only."""
        return request.is_secure


def install(app: Flask, context: ApiContext) -> None:
    """Make the pages part of the app. Raises StartupError when the administrator's file cannot be used."""
    admin = Admin(context.store.folder)
    posters = Posters(
        context.store.folder / "cache" / "posters",
        context.clock,
        lambda: context.store.current.network.networks(),  # noqa: PLW0108 - the settings in force change
    )
    web = Web(api=context, admin=admin, throttle=Throttle(), posters=posters)
    app.secret_key = admin.secret
    app.session_interface = Sessions()
    app.config.update(
        # Cookies know no ports: two programs on one machine must not sign each other out.
        SESSION_COOKIE_NAME=f"rivulet_{context.store.current.api.port}",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_HTTPONLY=True,
        PERMANENT_SESSION_LIFETIME=SESSION_LIFETIME,
        SESSION_REFRESH_EACH_REQUEST=False,
    )
    blueprint = _blueprint(web)
    app.register_blueprint(blueprint)
    frame.install(app, web)

    @app.before_request
    def stray() -> Response | tuple[str, int] | None:
        return _stray(web)


def _blueprint(web: Web) -> Blueprint:
    blueprint = Blueprint(
        BLUEPRINT, __name__, template_folder="templates", static_folder="static", static_url_path="/static"
    )
    open_names = {"static", *(page.name for page in PAGES if page.is_open)}

    @blueprint.before_request
    def guard() -> Response | tuple[str, int] | None:
        name = (request.endpoint or "").removeprefix(f"{BLUEPRINT}.")
        if name not in open_names and not pages.is_signed_in():
            return _to_sign_in(web)
        if request.method not in SAFE_METHODS and not pages.has_token():
            raise ApiError(
                400, "The form had expired, or came from another page. Go back, load it again and repeat."
            )
        return None

    blueprint.after_request(_finish)
    _explain_errors(blueprint)
    for page in PAGES:
        view = _view(page, web)
        for rule in (page.rule, *page.also):
            blueprint.add_url_rule(rule, page.name, view, methods=list(page.methods))
    return blueprint


def _view(page: Page, web: Web) -> Callable[..., Answer]:
    def view(**parts: object) -> Answer:
        return page.handle(web, **parts)

    return view


def _to_sign_in(web: Web) -> Response:
    target = pages.here() if request.method == "GET" and not pages.is_fragment() else None
    address = url_for("web.sign_in", next=target) if web.admin.has_password else url_for("web.welcome")
    answer = redirect(address, 303)
    if pages.is_fragment():
        # A redirect would be followed by the script and the form put into the page.
        answer.status_code = HTTPStatus.UNAUTHORIZED
        answer.headers["HX-Redirect"] = address
    return answer


def _stray(web: Web) -> Response | tuple[str, int] | None:
    """Answer a browser that asks for what does not exist with a page; programs get the API's answer."""
    wants_page = request.accept_mimetypes.quality("text/html") > request.accept_mimetypes.quality(
        "application/json"
    )
    if request.endpoint is not None or request.path.startswith(PREFIX) or not wants_page:
        return None
    if not pages.is_signed_in():
        return _to_sign_in(web)
    return _error_page(HTTPStatus.NOT_FOUND, f"There is no {request.path}.")


def _finish(answer: Response) -> Response:
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    if request.endpoint == f"{BLUEPRINT}.static":
        answer.headers["Cache-Control"] = f"public, max-age={STATIC_SECONDS}, immutable"
    else:
        answer.headers.setdefault("Cache-Control", "no-store")
    return answer


def _explain_errors(blueprint: Blueprint) -> None:
    def known(error: RivuletError) -> tuple[str, int]:
        status = next((status for kind, status in errors.STATUSES if isinstance(error, kind)), None)
        return _error_page(status or HTTPStatus.INTERNAL_SERVER_ERROR, redact(str(error)))

    def unknown(_error: Exception) -> tuple[str, int]:
        logger.error("{} {} failed:\n{}", request.method, redact(request.path), traceback.format_exc())
        return _error_page(
            HTTPStatus.INTERNAL_SERVER_ERROR, "The log says what. Nothing was changed half-way."
        )

    def refused(error: HTTPException) -> tuple[str, int]:
        status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
        said = (
            f"There is no {request.path}." if isinstance(error, NotFound) else error.description or error.name
        )
        return _error_page(status, said)

    blueprint.register_error_handler(ApiError, lambda error: _error_page(error.status, redact(error.detail)))
    blueprint.register_error_handler(RivuletError, known)
    blueprint.register_error_handler(HTTPException, refused)
    blueprint.register_error_handler(Exception, unknown)


def _error_page(status: int, said: str) -> tuple[str, int]:
    heading = HEADINGS.get(status, "That did not work")
    return pages.render("error.html", heading=heading, said=said, status=int(status)), int(status)
