"""The first visit sets the password; every later one asks for it."""

from datetime import timedelta

from flask import redirect, request, session, url_for

from program.log import logger
from program.web import pages, times
from program.web.admin import SHORTEST_PASSWORD, trouble_with
from program.web.pages import Answer, Page, Web

THEME_SECONDS = 365 * 24 * 3600
UNAUTHORIZED, TOO_MANY, UNPROCESSABLE = 401, 429, 422


def _address() -> str:
    return request.remote_addr or ""


def sign_in(web: Web) -> Answer:
    """Show the form, or take the password."""
    if not web.admin.has_password:
        return pages.go("welcome")
    target = request.values.get("next", "")
    if request.method == "GET":
        if pages.is_signed_in():
            return redirect(pages.safe_next(target))
        return pages.render("sign_in.html", target=target, trouble=None)
    wait = web.throttle.admit(_address(), web.now)
    if wait:
        said = (
            f"Too many tries. The next one is possible in {times.duration(max(wait, timedelta(minutes=1)))}."
        )
        return pages.render("sign_in.html", target=target, trouble=said), TOO_MANY
    if not web.admin.check(request.form.get("password", "")):
        logger.warning("a wrong password was given at the sign-in page by {}", _address())
        return pages.render("sign_in.html", target=target, trouble="That is not the password."), UNAUTHORIZED
    web.throttle.worked(_address())
    pages.sign_in()
    return redirect(pages.safe_next(target), 303)


def welcome(web: Web) -> Answer:
    """Let the first visitor set the password."""
    if web.admin.has_password:
        return redirect(url_for("web.library"), 303)
    if request.method == "GET":
        return pages.render("welcome.html", trouble=None, shortest=SHORTEST_PASSWORD)
    password = request.form.get("password", "")
    trouble = trouble_with(password, request.form.get("again", ""))
    if trouble:
        return pages.render("welcome.html", trouble=trouble, shortest=SHORTEST_PASSWORD), UNPROCESSABLE
    if not web.admin.set_first(password):
        return pages.go("sign_in", "Somebody has just set the password.", tone="bad")
    logger.info("the administrator's password was set from {}", _address())
    pages.use_secret(web)
    pages.sign_in()
    return pages.go("setup", step="files")


def sign_out(_web: Web) -> Answer:
    """End the session."""
    session.clear()
    return pages.go("sign_in", "You are signed out.")


def password(web: Web) -> Answer:
    """Change the password; every other session ends."""
    if request.method == "GET":
        return pages.render("password.html", trouble=None, shortest=SHORTEST_PASSWORD)
    wait = web.throttle.admit(_address(), web.now)
    new = request.form.get("password", "")
    trouble = trouble_with(new, request.form.get("again", ""))
    if wait:
        trouble = "Too many tries. Wait some minutes."
    elif not trouble and not web.admin.change(request.form.get("old", ""), new):
        trouble = "The present password is not right."
    if trouble:
        return pages.render("password.html", trouble=trouble, shortest=SHORTEST_PASSWORD), UNPROCESSABLE
    web.throttle.worked(_address())
    pages.use_secret(web)
    pages.sign_in()
    return pages.go("settings", "The password is changed. Every other session has ended.")


def choose_theme(_web: Web) -> Answer:
    """Remember the viewer's choice of light and dark."""
    answer = pages.go_to(request.form.get("back", ""))
    chosen = request.form.get("theme", "")
    if chosen in pages.THEMES:
        answer.set_cookie("theme", chosen, max_age=THEME_SECONDS, samesite="Lax", httponly=True)
    return answer


PAGES = (
    Page(rule="/sign-in", name="sign_in", handle=sign_in, methods=("GET", "POST"), is_open=True),
    Page(rule="/welcome", name="welcome", handle=welcome, methods=("GET", "POST"), is_open=True),
    Page(rule="/sign-out", name="sign_out", handle=sign_out, methods=("POST",)),
    Page(rule="/theme", name="choose_theme", handle=choose_theme, methods=("POST",)),
    Page(rule="/password", name="password", handle=password, methods=("GET", "POST")),
)
