"""The picture of a title: its poster through us, or a drawn one in its place, so that a wall of posters never jumps."""

import hashlib
from xml.sax.saxutils import escape

from werkzeug.wrappers import Response

from program.api.payloads import LARGEST_ID
from program.db import items
from program.db.views import ItemFilter, ItemRow
from program.errors import NotFound
from program.web.pages import Answer, Page, Web

KEPT_SECONDS = 7 * 24 * 3600
# A drawn picture gives way to the real one soon after that can be had.
DRAWN_SECONDS = 600
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 300" width="200" height="300">
<defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop stop-color="hsl({hue} 38% 34%)"/>
<stop offset="1" stop-color="hsl({other} 42% 16%)"/></linearGradient></defs>
<rect width="200" height="300" fill="url(#g)"/>
<path d="M0 236c33-28 67-28 100 0s67 28 100 0v64H0z" fill="#fff" opacity=".07"/>
<path d="M0 262c33-28 67-28 100 0s67 28 100 0v38H0z" fill="#fff" opacity=".07"/>
<text x="100" y="150" text-anchor="middle" font-family="system-ui,sans-serif" font-size="64" font-weight="600" fill="#fff"
 opacity=".82">{letters}</text></svg>"""
MOST_LETTERS = 2
# Words that are no part of a title's initials.
SMALL = frozenset({"the", "a", "an", "of", "and", "in", "on", "to", "der", "die", "das", "le", "la", "el"})
CIRCLE, APART = 360, 40


def poster(web: Web, item_id: int) -> Answer:
    """Give the picture of an item; a season or an episode has its show's."""
    row = _row(web, item_id)
    picture = web.posters.get(row.poster) if row.poster else None
    if picture is None:
        drawn = drawing(row.show_title or row.title).encode()
        return answer(drawn, "image/svg+xml", DRAWN_SECONDS)
    return answer(picture.body, picture.kind, KEPT_SECONDS)


def drawing(title: str) -> str:
    """Return a poster for a title that has none: its initials on a colour of its own."""
    words = [word for word in title.split() if word[0].isalnum()]
    telling = [word for word in words if word.lower() not in SMALL] or words
    letters = "".join(word[0] for word in telling[:MOST_LETTERS]).upper() or "?"
    hue = int.from_bytes(hashlib.sha256(title.encode()).digest()[:4]) % CIRCLE
    return DRAWING.format(hue=hue, other=(hue + APART) % CIRCLE, letters=escape(letters))


def _row(web: Web, item_id: int) -> ItemRow:
    rows: tuple[ItemRow, ...] = ()
    if 0 < item_id <= LARGEST_ID:
        with web.api.db.read() as tx:
            rows = items.page(tx, ItemFilter(ids=(item_id,), only_requested=False, limit=1)).rows
    if not rows:
        raise NotFound(f"no title has the number {item_id}")
    return rows[0]


def answer(body: bytes, kind: str, seconds: int) -> Response:
    """Return a picture that a browser keeps for a while."""
    return Response(body, mimetype=kind, headers={"Cache-Control": f"private, max-age={seconds}"})


PAGES = (Page(rule="/poster/<int:item_id>", name="poster", handle=poster),)
