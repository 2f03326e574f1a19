"""Asking for titles, and who has asked for what."""

import hashlib
import hmac
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from flask import Response, request, url_for

from program.api import titles
from program.api.auth import same
from program.api.payloads import number_in
from program.api.titles import TitleBody
from program.db import overview
from program.errors import NotFound
from program.media.metadata import ContentRequest
from program.web import links, pages, pictures
from program.web.links import Kind, Named
from program.web.pages import Answer, Page, Web

SOURCE = "web"
WISHES_SHOWN = 50
LAST_PAGE = 1_000_000
UNPROCESSABLE = 422
KINDS = ("movie", "tv")


@dataclass(frozen=True, slots=True)
class Result:
    """A title that was found. picture: address of its poster, through us; empty when it has none."""

    title: TitleBody
    picture: str


def discover(web: Web) -> Answer:
    """Show what the metadata services have under the words that were typed; an address or an id goes into the other form."""
    words = request.args.get("q", "").strip()[: titles.LONGEST]
    if not words:
        return _form()
    # A number alone may well be a name: there are films that are called so.
    if not links.read(words, None).unread and not words.isdecimal():
        return _form(what=words)
    found = titles.search(web.api, titles.TitlesQuery(query=words))
    return _form(
        words=words,
        found=[Result(title, _picture(web, title)) for title in found.titles],
        troubles=found.troubles,
    )


def picture(web: Web, mark: str) -> Answer:
    """Give the poster of a title that was found; only addresses that we wrote ourselves carry the right mark."""
    address = request.args.get("at", "")
    if not same(mark, _mark(web, address)):
        raise NotFound("there is no such picture")
    found = web.posters.get(address)
    if found is None:
        return Response(pictures.drawing(request.args.get("of", "")).encode(), mimetype="image/svg+xml")
    return pictures.answer(found.body, found.kind, pictures.KEPT_SECONDS)


def add(web: Web) -> Answer:
    """Ask for what was named."""
    text, kind = request.form.get("what", ""), _kind()
    reading = links.read(text, kind)
    if not text.strip():
        return _form(trouble="Paste the address of a film or series, or its id."), UNPROCESSABLE
    if reading.unread:
        return _form(unread=reading.unread), UNPROCESSABLE
    if any(named.kind is None for named in reading.named):
        return _form(needs_kind=True), UNPROCESSABLE
    try:
        wanted = links.seasons(request.form.get("seasons", ""))
    except ValueError as error:
        return _form(season_trouble=str(error)), UNPROCESSABLE
    wishes = [_wish(named, wanted) for named in reading.named]
    results = web.api.actions.add(wishes, by_person=True)
    if len(results) == 1 and results[0].item_id is not None:
        tone = "good" if results[0].done else "plain"
        return pages.go("item", f"{results[0].sentence}.", tone=tone, item_id=results[0].item_id)
    return pages.go("library", f"{'; '.join(result.sentence for result in results[:5])}.")


def wishes(web: Web) -> Answer:
    """Show who asked for what."""
    page = min(max(number_in(request.args.get("page", "1")) or 1, 1), LAST_PAGE)
    with web.api.db.read() as tx:
        found, total = overview.wishes(tx, WISHES_SHOWN, (page - 1) * WISHES_SHOWN)
    titles = {kind.key: kind.title for kind in web.api.registry.classes} | {
        "web": "These pages",
        "api": "The API",
    }
    last = max(1, math.ceil(total / WISHES_SHOWN))
    return pages.render("wishes.html", wishes=found, total=total, page=page, last=last, titles=titles)


def _picture(web: Web, title: TitleBody) -> str:
    if not title.poster:
        return ""
    return url_for("web.picture", mark=_mark(web, title.poster), at=title.poster, of=title.title)


def _mark(web: Web, address: str) -> str:
    return hmac.new(str(web.admin.secret).encode(), address.encode(), hashlib.sha256).hexdigest()


def _kind() -> Kind | None:
    kind = request.form.get("kind", "")
    return cast("Kind", kind) if kind in KINDS else None


def _wish(named: Named, seasons: tuple[int, ...] | None) -> ContentRequest:
    is_movie = named.kind == "movie"
    return ContentRequest(
        source=SOURCE, is_movie=is_movie, ids=named.ids, seasons=None if is_movie else seasons
    )


def _form(
    *,
    what: str = "",
    words: str = "",
    found: Sequence[Result] = (),
    troubles: Sequence[str] = (),
    trouble: str = "",
    unread: tuple[str, ...] = (),
    needs_kind: bool = False,
    season_trouble: str = "",
) -> str:
    return pages.render(
        "discover.html",
        form=request.form or {"what": what},
        words_typed=words,
        found=found,
        troubles=troubles,
        trouble=trouble,
        unread=unread,
        needs_kind=needs_kind,
        season_trouble=season_trouble,
    )


PAGES = (
    Page(rule="/discover", name="discover", handle=discover),
    Page(rule="/discover", name="add", handle=add, methods=("POST",)),
    Page(rule="/picture/<mark>", name="picture", handle=picture),
    Page(rule="/wishes", name="wishes", handle=wishes),
)
