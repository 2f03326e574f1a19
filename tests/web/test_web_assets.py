"""What is sent along with every page."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from tests.web.visitor import Visitor

WEB = Path(__file__).parents[2] / "program" / "web"
HTMX = WEB / "static" / "htmx-4.0.1.min.js"
# Of dist/htmx.min.js in the npm package htmx.org 4.0.1.
HTMX_SHA256 = "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"
TEMPLATES = sorted((WEB / "templates").glob("*.html"))


def test_the_one_script_that_is_not_ours_is_the_published_one() -> None:
    assert hashlib.sha256(HTMX.read_bytes()).hexdigest() == HTMX_SHA256
    assert HTMX.name in (WEB.parents[1] / "NOTICE").read_text()


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_a_template_is_short_and_holds_no_script_or_style(template: Path) -> None:
    text = template.read_text()
    assert len(text.splitlines()) < 120
    assert not re.search(r"<script(?! src)|<style|\son[a-z]+=|\sstyle=|javascript:|hx-on|\bjs:", text)
    # What comes from outside is always escaped.
    assert "|safe" not in text.replace(" ", "")
    assert "autoescape false" not in text


def test_files_of_ours_may_be_kept_for_ever_since_their_address_changes(visitor: Visitor) -> None:
    page = visitor.open("/welcome")
    (sheet,) = [tag["href"] for name, tag in page.seen.tags if tag.get("rel") == "stylesheet"]
    assert re.search(r"\?v=[0-9a-f]{10}$", sheet)
    answer = visitor.open(sheet).answer
    assert answer.headers["Content-Type"].startswith("text/css")
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/none.css"]
)
def test_only_those_files_are_given(visitor: Visitor, path: str) -> None:
    answer = visitor.session.get(f"{visitor.base}{path}", timeout=20, allow_redirects=False)
    assert answer.status_code in (303, 404)
    assert "def install" not in answer.text
