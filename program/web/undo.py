"""Taking back what was just done: a button beside the sentence that tells of it, until the next page is opened."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from flask import session, url_for

from program.db import items
from program.db.views import ItemDetail
from program.media.item import MediaType
from program.web.pages import BLUEPRINT, Web

OPPOSITES: Mapping[str, str] = {"pause": "unpause", "unpause": "pause"}
KEPT = "undo"
# It travels in a cookie, of which browsers keep four thousand bytes.
MOST = 20


@dataclass(frozen=True, slots=True)
class Undo:
    """A form that takes back.

    endpoint: of the page that it is sent to, item_id: whose page; word: on its button; fields: in their order.
    """

    endpoint: str
    word: str
    fields: tuple[tuple[str, str], ...]
    item_id: int | None = None

    @property
    def address(self) -> str:
        """Return where the form is sent."""
        return url_for(f"{BLUEPRINT}.{self.endpoint}", item_id=self.item_id)


def prepare(web: Web, action: str, ids: Sequence[int]) -> Undo | None:
    """Return what takes an action back, to be asked for before it is done; None when nothing does."""
    if not 0 < len(ids) <= MOST:
        return None
    if action in OPPOSITES:
        fields = [("action", OPPOSITES[action]), *(("ids", str(item_id)) for item_id in ids)]
        return Undo("several", "Undo", tuple(fields))
    return _ask_again(web, ids) if action == "remove" else None


def offer(undo: Undo | None) -> None:
    """Have the next page show the button."""
    if undo is not None:
        session[KEPT] = asdict(undo)


def offered() -> Undo | None:
    """Return what the present page offers, once."""
    kept = session.pop(KEPT, None)
    if kept is None:
        return None
    fields = tuple((name, value) for name, value in kept["fields"])
    return Undo(kept["endpoint"], kept["word"], fields, kept.get("item_id"))


def _ask_again(web: Web, ids: Sequence[int]) -> Undo | None:
    with web.api.db.read() as tx:
        details = [detail for item_id in ids if (detail := items.detail(tx, item_id))]
    names, seasons = [_named(detail) for detail in details], [_seasons(detail) for detail in details]
    # One form has one field for seasons.
    if not all(names) or len(details) != len(ids) or (len(ids) > 1 and any(seasons)):
        return None
    return Undo("add", "Ask for it again", (("what", " ".join(names)), ("seasons", seasons[0])))


def _named(detail: ItemDetail) -> str:
    """Return what names a film or series to whoever asks for it; empty for a part of one, and without an id that tells."""
    item = detail.item
    if item.type is MediaType.MOVIE and item.ids.tmdb:
        return f"https://www.themoviedb.org/movie/{item.ids.tmdb}"
    if item.type is MediaType.SHOW and item.ids.tvdb:
        return f"tvdb:{item.ids.tvdb}"
    return ""


def _seasons(detail: ItemDetail) -> str:
    """Return the seasons that were asked for, as one writes them; empty for all."""
    wished = [wish.seasons for wish in detail.requests]
    if detail.item.type is not MediaType.SHOW or None in wished:
        return ""
    return ", ".join(
        str(number) for number in sorted({number for seasons in wished for number in seasons or ()})
    )
