"""The wall of posters: what is there, what is on its way, what needs somebody."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from flask import request, url_for
from werkzeug.wrappers import Response

from program.api.payloads import LARGEST_ID, MOST_IDS, number_in
from program.db import items, overview
from program.db.engine import Tx
from program.db.views import CalendarRow, ItemFilter, ItemRow, Sort
from program.media.item import MediaType, States
from program.web import actions, pages, undo, words
from program.web.pages import Answer, Page, Web

PAGE_SIZE = 48
LAST_PAGE = 1_000_000
LONGEST_SEARCH = 200
# How far ahead "next" looks.
AHEAD = timedelta(days=30)
ROOTS = frozenset({MediaType.MOVIE, MediaType.SHOW})
KINDS: Mapping[str, tuple[str, frozenset[MediaType]]] = {
    "all": ("All kinds", ROOTS),
    "films": ("Films", frozenset({MediaType.MOVIE})),
    "series": ("Series", frozenset({MediaType.SHOW})),
    "anime": ("Anime", ROOTS),
}
SORTS: Mapping[str, tuple[str, Sort]] = {
    "newest": ("Newest", Sort.DATE_DESC),
    "oldest": ("Oldest", Sort.DATE_ASC),
    "title": ("A to Z", Sort.TITLE_ASC),
    "title-back": ("Z to A", Sort.TITLE_DESC),
}


@dataclass(frozen=True, slots=True)
class View:
    """What the address asks for; whatever it does not know is left at its default."""

    show: str
    kind: str
    sort: str
    search: str
    page: int

    @property
    def is_filtered(self) -> bool:
        """Return whether something is left out."""
        return bool(self.search) or self.show != "all" or self.kind != "all"

    def address(self, **changes: object) -> str:
        """Return the address of this view with some of it changed; a change other than of the page begins at page 1."""
        now = {"show": self.show, "kind": self.kind, "sort": self.sort, "search": self.search, "page": 1}
        wanted = {**now, **changes}
        usual = {"show": "all", "kind": "all", "sort": "newest", "search": "", "page": 1}
        parts = {name: value for name, value in wanted.items() if value != usual[name]}
        return url_for("web.library", **parts)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Card:
    """One poster."""

    row: ItemRow
    chip: words.Chip
    progress: words.Progress | None


@dataclass(frozen=True, slots=True)
class Strip:
    """What the whole library is about just now, in numbers."""

    titles: int
    arriving: int
    searching: int
    needs_you: int
    groups: Mapping[str, int]
    coming: CalendarRow | None


def library(web: Web) -> Answer:
    """Show a page of the library."""
    view = _view()
    with web.api.db.read() as tx:
        found = items.page(tx, _filter(view))
        parts = overview.parts(tx, [row.id for row in found.rows if row.type is MediaType.SHOW])
        strip = _strip(web, tx)
    cards = [_card(web, row, parts.get(row.id)) for row in found.rows]
    last = max(1, math.ceil(found.total / PAGE_SIZE))
    return pages.render(
        "library.html",
        view=view,
        cards=cards,
        total=found.total,
        last=last,
        strip=strip,
        groups=words.GROUPS,
        kinds=KINDS,
        sorts=SORTS,
    )


def several(web: Web) -> Response:
    """Do something with the titles that are ticked."""
    given = [number_in(text) or 0 for text in request.form.getlist("ids")[:MOST_IDS]]
    ids = list(dict.fromkeys(number for number in given if 0 < number <= LARGEST_ID))
    back = request.form.get("back", "")
    if not ids:
        return pages.go_to(back, "Tick some titles first.", tone="bad")
    action = request.form.get("action", "")
    way_back = undo.prepare(web, action, ids)
    said = actions.perform(web, action, ids)
    undo.offer(way_back)
    return pages.go_to(back, said)


def _view() -> View:
    given = request.args
    page = number_in(given.get("page", "1")) or 1
    show, kind, sort = given.get("show", "all"), given.get("kind", "all"), given.get("sort", "newest")
    return View(
        show=show if show in {group.key for group in words.GROUPS} else "all",
        kind=kind if kind in KINDS else "all",
        sort=sort if sort in SORTS else "newest",
        search=given.get("search", "").strip()[:LONGEST_SEARCH],
        page=min(max(page, 1), LAST_PAGE),
    )


def _filter(view: View) -> ItemFilter:
    states = next((group.states for group in words.GROUPS if group.key == view.show), frozenset[States]())
    return ItemFilter(
        states=states,
        types=KINDS[view.kind][1],
        anime=view.kind == "anime",
        search=view.search,
        sort=SORTS[view.sort][1],
        page=view.page,
        limit=PAGE_SIZE,
    )


def _card(web: Web, row: ItemRow, parts: overview.Parts | None) -> Card:
    progress = words.Progress(parts.ready, parts.out) if parts else None
    chip = words.chip(
        row.last_state, progress=progress, released=row.aired_at, now=web.now, zone=pages.zone()
    )
    return Card(row, chip, progress)


def _strip(web: Web, tx: Tx) -> Strip:
    counts = overview.title_counts(tx)

    def titles(states: frozenset[States]) -> int:
        return sum(number for (_, state), number in counts.items() if state in states)

    coming = items.calendar(tx, web.now, web.now + AHEAD, limit=1)
    return Strip(
        titles=sum(counts.values()),
        arriving=titles(words.ARRIVING),
        searching=titles(frozenset({States.Indexed})),
        needs_you=titles(words.NEEDS_YOU),
        groups={group.key: titles(group.states) for group in words.GROUPS},
        coming=coming[0] if coming else None,
    )


PAGES = (
    Page(rule="/", name="library", handle=library),
    Page(rule="/several", name="several", handle=several, methods=("POST",)),
)
