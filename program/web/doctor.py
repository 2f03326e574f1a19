"""Is everything well, and if not, how is it mended? And what is kept for a bad day: copies of the database, a file for helpers."""

from collections.abc import Mapping
from http import HTTPStatus

from flask import request
from werkzeug.wrappers import Response

from program.api import backups as copies
from program.api import doctor as examination
from program.api import support, uploads
from program.api.errors import ApiError
from program.doctor.check import Finding, Level, worst
from program.errors import NotFound, NotPossible
from program.http import interactive
from program.log import redact
from program.web import pages
from program.web.pages import Answer, Page, Web

# In the order in which they stand on the page: word, colour, mark.
LEVELS: Mapping[Level, tuple[str, str, str]] = {
    Level.WRONG: ("To be mended", "red", "cross"),
    Level.NOTE: ("Worth knowing", "amber", "alert"),
    Level.OK: ("Well", "green", "check"),
}
HEADINGS: Mapping[Level, str] = {
    Level.WRONG: "Something has to be mended",
    Level.NOTE: "All works; some things are worth knowing",
    Level.OK: "Everything is well",
}


def doctor(web: Web) -> Answer:
    """Show what the doctor finds, the worst first; services are asked only when somebody says so."""
    is_whole = request.args.get("services") == "yes"
    found = _findings(web, is_whole=is_whole)
    groups = {level: [one for one in found if one.verdict.level is level] for level in LEVELS}
    text = "\n".join(_line(one) for level in LEVELS for one in groups[level])
    return pages.render(
        "doctor.html",
        groups=groups,
        levels=LEVELS,
        heading=HEADINGS[worst(found)],
        is_whole=is_whole,
        text=text,
        redact=redact,
    )


def bundle(web: Web) -> Response:
    """Send the file for helpers."""
    return support.bundle(web.api, support.BundleQuery(quick=True))


def backups(web: Web) -> Answer:
    """Show the copies of the database."""
    return _backups(web)


def _backups(web: Web, trouble: str = "") -> str:
    known = copies.list_all(web.api)
    return pages.render(
        "backups.html",
        backups=known.backups,
        at_next_start=known.at_next_start,
        trouble=trouble,
        largest=web.api.store.current.api.max_upload_mib,
    )


def upload(web: Web) -> Answer:
    """Take a copy in that was saved elsewhere."""
    file = request.files.get("file")
    if file is None or not file.filename:
        return _backups(web, "Choose a file first."), HTTPStatus.UNPROCESSABLE_ENTITY
    try:
        said = copies.take_in(web.api, file.stream).message
    except NotPossible as error:
        return _backups(web, f"Nothing was taken in: {redact(str(error))}."), HTTPStatus.CONFLICT
    return pages.go("backups", f"{said}. The menu beside it puts it in place.")


def copy(web: Web) -> Answer:
    """Make a copy of the database, delete one, or have one put in place at the next start."""
    action = request.form.get("action", "make")
    name = request.form.get("filename", "")[: copies.LONGEST_NAME]
    if action == "keep":
        return pages.go("backups", f"{copies.keep(web.api).message}.")
    if action != "make" and not name:
        raise NotFound("no copy was named")
    if action == "delete":
        return pages.go("backups", f"{copies.delete(web.api, copies.NameQuery(filename=name)).message}.")
    if action == "restore":
        copies.put_back(web.api, copies.RestorePayload(filename=name))
        # The page says it as long as it is so.
        return pages.go("backups")
    try:
        return pages.go("backups", f"{copies.make(web.api).message}.")
    except ApiError as error:
        return pages.go("backups", error.detail, tone="bad")


def download(web: Web, filename: str) -> Response:
    """Send a copy of the database."""
    return copies.download(web.api, filename)


def _findings(web: Web, *, is_whole: bool) -> list[Finding]:
    waiting = interactive.set(True)
    try:
        return examination.findings(web.api, quick=not is_whole)
    finally:
        interactive.reset(waiting)


def _line(one: Finding) -> str:
    """Return a finding as somebody pastes it into a message."""
    mend = f" → {one.verdict.mend}" if one.verdict.mend else ""
    return redact(f"[{one.verdict.level.value}] {one.name}: {one.verdict.said}{mend}")


PAGES = (
    Page(rule="/doctor", name="doctor", handle=doctor),
    Page(rule="/doctor/support.zip", name="bundle", handle=bundle),
    Page(rule="/backups", name="backups", handle=backups),
    Page(rule="/backups", name="copy", handle=copy, methods=("POST",)),
    Page(rule="/backups/<filename>", name="download", handle=download),
    Page(rule=uploads.PAGE, name="upload", handle=upload, methods=("POST",)),
)
