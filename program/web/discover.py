"""Asking for titles, and who has asked for what."""

import math
from typing import cast

from flask import request

from program.api.payloads import number_in
from program.db import overview
from program.media.metadata import ContentRequest
from program.web import links, pages
from program.web.links import Kind, Named
from program.web.pages import Answer, Page, Web

SOURCE = "web"
WISHES_SHOWN = 50
LAST_PAGE = 1_000_000
UNPROCESSABLE = 422
KINDS = ("movie", "tv")


def discover(_web: Web) -> Answer:
    """Show the form."""
    return _form()


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
    trouble: str = "",
    unread: tuple[str, ...] = (),
    needs_kind: bool = False,
    season_trouble: str = "",
) -> str:
    return pages.render(
        "discover.html",
        form=request.form,
        trouble=trouble,
        unread=unread,
        needs_kind=needs_kind,
        season_trouble=season_trouble,
    )


PAGES = (
    Page(rule="/discover", name="discover", handle=discover),
    Page(rule="/discover", name="add", handle=add, methods=("POST",)),
    Page(rule="/wishes", name="wishes", handle=wishes),
)
