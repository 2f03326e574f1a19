"""What a person chooses instead of waiting: one of the known releases, or a torrent of their own with its files."""

from dataclasses import dataclass

from flask import request

from program.api.payloads import number_in
from program.api.scrape import release_of
from program.api.scrape_shapes import magnet_parts
from program.errors import NotPossible, Transient
from program.http import interactive
from program.manual.sessions import Place, Session
from program.manual.titles import Asked
from program.media.entry import TorrentFile
from program.web import item, links, pages
from program.web.pages import Answer, Page, Web

UNPROCESSABLE, CONFLICT = 422, 409
LONGEST_LINK = 20_000
LAST_NUMBER = 9999


@dataclass(frozen=True, slots=True)
class File:
    """A video of the torrent as the form shows it. season, episodes: as one writes them, empty when not told."""

    number: int
    file: TorrentFile
    is_ticked: bool
    season: str
    episodes: str


def choose(web: Web, item_id: int, stream_id: int) -> Answer:
    """Have a known release in place of what is there."""
    infohash, name = release_of(web.api, item_id, stream_id)
    waiting = interactive.set(True)
    try:
        result = web.api.manual.choose(item_id, infohash, name)
    except (NotPossible, Transient) as error:
        return pages.go("item", f"“{name}” cannot be had: {error}", tone="bad", item_id=item_id)
    finally:
        interactive.reset(waiting)
    return pages.go("item", f"{result.title}: {result.sentence}.", item_id=item_id)


def allow(web: Web, item_id: int, infohash: str) -> Answer:
    """Allow a release again that a person ruled out."""
    item.known(web, item_id)
    result = web.api.actions.unblacklist(item_id, infohash)
    return pages.go("item", f"{result.title}: the release may be taken again.", item_id=item_id)


def begin(web: Web, item_id: int) -> Answer:
    """Ask for a torrent, then have a debrid service hold it."""
    detail = item.known(web, item_id)
    if request.method == "GET":
        return pages.render("by_hand.html", detail=detail, item=detail.item, given="", trouble="")
    given = request.form.get("magnet", "").strip()[:LONGEST_LINK]
    parts = magnet_parts(given)
    if parts is None:
        said = "That is no magnet link and no hash of 40 digits. Copy it from the page of the torrent."
        return _again(web, item_id, given, said), UNPROCESSABLE
    waiting = interactive.set(True)
    try:
        session = web.api.manual.start(Asked(item_id=item_id), *parts)
    except (NotPossible, Transient) as error:
        return _again(web, item_id, given, str(error)), CONFLICT
    finally:
        interactive.reset(waiting)
    return pages.go("files", item_id=item_id, session_id=session.id)


def files(web: Web, item_id: int, session_id: str) -> Answer:
    """Show the videos of a torrent with where they seem to belong."""
    detail = item.known(web, item_id)
    session = web.api.manual.session(session_id)
    return pages.render(
        "by_hand_files.html",
        detail=detail,
        item=detail.item,
        session=session,
        files=_files(web, session),
        trouble="",
    )


def take(web: Web, item_id: int, session_id: str) -> Answer:
    """Put the ticked files into the library, or let the torrent go."""
    manual = web.api.manual
    if request.form.get("action") == "abort":
        manual.abort(session_id)
        return pages.go("item", "The torrent was let go.", item_id=item_id)
    try:
        session = manual.session(session_id)
        ticked = [number for text in request.form.getlist("files") if (number := number_in(text))]
        manual.select(session_id, ticked, _places(session, ticked))
        result = manual.complete(session_id)
    except (NotPossible, Transient, ValueError) as error:
        detail, session = item.known(web, item_id), manual.session(session_id)
        shown = _files(web, session)
        page = pages.render(
            "by_hand_files.html",
            detail=detail,
            item=detail.item,
            session=session,
            files=shown,
            trouble=str(error),
        )
        return page, CONFLICT
    return pages.go("item", f"{result.title}: {result.sentence}.", item_id=item_id)


def _again(web: Web, item_id: int, given: str, trouble: str) -> str:
    detail = item.known(web, item_id)
    return pages.render("by_hand.html", detail=detail, item=detail.item, given=given, trouble=trouble)


def _files(web: Web, session: Session) -> list[File]:
    """Return the videos; ticked are those that are told to belong to the title, of a film the largest."""
    guesses = {**web.api.manual.guesses(session), **session.places}
    largest = max(session.files, key=lambda number: session.files[number].size, default=0)
    found = []
    for number, file in session.files.items():
        place = guesses.get(number)
        is_told = number == largest if session.target.wanted.is_movie else place is not None
        is_ticked = is_told if session.selected is None else number in session.selected
        numbers = ", ".join(map(str, place.episodes)) if place else ""
        found.append(File(number, file, is_ticked, str(place.season) if place else "", numbers))
    return found


def _places(session: Session, ticked: list[int]) -> dict[int, Place]:
    """Return where the form says that files belong; raise ValueError for what is no number."""
    found = {}
    for number in ticked:
        season, episodes = (
            request.form.get(f"season-{number}", ""),
            request.form.get(f"episodes-{number}", ""),
        )
        if session.target.wanted.is_movie or not (season.strip() and episodes.strip()):
            continue
        name = session.files[number].path if number in session.files else str(number)
        told = number_in(season.strip())
        if told is None or not 0 <= told <= LAST_NUMBER:
            raise ValueError(f"{name}: “{season}” is no season")
        try:
            numbers = links.seasons(episodes) or ()
        except ValueError:
            raise ValueError(f"{name}: write episodes as numbers, e.g. 1, 2 or 1-2") from None
        found[number] = Place(told, numbers)
    return found


PAGES = (
    Page(rule="/items/<int:item_id>/choose/<int:stream_id>", name="choose", handle=choose, methods=("POST",)),
    Page(rule="/items/<int:item_id>/allow/<infohash>", name="allow", handle=allow, methods=("POST",)),
    Page(rule="/items/<int:item_id>/by-hand", name="by_hand", handle=begin, methods=("GET", "POST")),
    Page(rule="/items/<int:item_id>/by-hand/<session_id>", name="files", handle=files),
    Page(rule="/items/<int:item_id>/by-hand/<session_id>", name="take", handle=take, methods=("POST",)),
)
