"""What no page does: run what strangers wrote, show itself to strangers, show its insides."""

from __future__ import annotations

import re

import pytest

from program.db.views import Decision
from program.errors import Transient
from program.media.item import Ids
from program.web import app
from tests.api.home import Home
from tests.db.library import film_metadata, release, season, wish
from tests.support.lines import log_lines
from tests.web.visitor import Visitor

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}"
PAGES = (
    "/",
    "/?search=sint",
    "/items/1",
    "/items/1/edit",
    "/items/1/releases",
    "/items/1/by-hand",
    "/items/1/by-hand/1",
    "/items/1/watch",
    "/items/1/file",
    "/items/1/remove",
    "/items/2",
    "/discover",
    "/discover?q=sintel",
    "/picture/1",
    "/wishes",
    "/calendar",
    "/statistics",
    "/doctor",
    "/doctor?services=yes",
    "/doctor/support.zip",
    "/backups",
    "/backups/1",
    "/calendar?month=2029-03",
    "/activity",
    "/providers",
    "/providers/accounts",
    "/log",
    "/settings/ranking",
    "/settings?search=key",
    "/setup/files",
    "/setup/provider",
    "/password",
    "/nothing",
)


@pytest.fixture
def evil(home: Home, owner: Visitor) -> Visitor:
    """A home in which everything that strangers can write is an attack."""
    home.library.ask(wish(requested_by=EVIL, source="letterbox", external_id=EVIL), by_person=False)
    home.library.index(1, film_metadata(title=EVIL, genres=(EVIL,), network=EVIL, poster=f"https://x/{EVIL}"))
    home.library.show(season(1))
    home.library.find_releases(
        1,
        release("a" * 40, raw_title=EVIL, score={EVIL: 5}),
        release("b" * 40, refused="size", raw_title=EVIL),
    )
    data = {
        "considered": 1,
        "refused": {EVIL: 1},
        "examples": [{"release": EVIL, "why": EVIL}],
        "troubles": [EVIL],
    }
    home.library.commit(1, {1: {"hold_until": None}}, Decision(1, "scrape", "nothing_fits", EVIL, data=data))
    home.library.add_file(1, name=f"{EVIL}.mkv")
    folder = home.store.folder / "logs"
    folder.mkdir()
    (folder / "rivulet.log").write_text(f"2031-05-01 12:00:00.000 ERROR   web {EVIL}\n")
    return owner


@pytest.mark.parametrize("path", PAGES)
def test_names_from_outside_are_text_and_nothing_else(evil: Visitor, path: str) -> None:
    page = evil.open(path)
    names = {name for name, _ in page.seen.tags}
    scripts = [tag for name, tag in page.seen.tags if name == "script"]
    assert all(set(tag) == {"src", "defer"} and tag["src"].startswith("/static/") for tag in scripts)
    assert not [tag for _, tag in page.seen.tags if any(name.startswith("on") for name in tag)]
    assert not names & {"iframe", "object", "embed", "base"}
    assert "49" not in page.seen.title
    if path in ("/", "/items/1", "/log", "/wishes"):
        assert EVIL in page.answer.text.replace("&lt;", "<").replace("&gt;", ">").replace(
            "&#34;", '"'
        ).replace("&#39;", "'")


@pytest.mark.parametrize("search", [EVIL, '"><b>x', "%27%3Balert(1)"])
def test_what_is_searched_for_comes_back_as_text(owner: Visitor, search: str) -> None:
    for path in ("/", "/settings", "/log"):
        page = owner.open(path, params={"search": search, "text": search})
        assert not [tag for name, tag in page.seen.tags if name in ("b", "img") and "src" not in tag]
        assert "<script>alert" not in page.answer.text


@pytest.mark.parametrize("path", [*PAGES, "/sign-in", "/static/style.css", "/poster/1"])
def test_every_answer_forbids_what_a_page_does_not_need(home: Home, owner: Visitor, path: str) -> None:
    home.library.film()
    headers = owner.open(path).answer.headers
    if path == "/nothing":
        return
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    if not path.startswith(("/static", "/poster")):
        assert headers["Cache-Control"] == "no-store"


def test_pages_stay_small(home: Home, owner: Visitor) -> None:
    for number in range(48):
        home.library.ask(wish(external_id=str(number), source="letterbox", ids=Ids(tmdb=str(number + 1))))
    sizes = {
        path: len(owner.open(path).answer.content)
        for path in ("/", "/activity", "/settings/indexing", "/setup/files")
    }
    assert max(sizes.values()) < 100_000, sizes


def test_a_script_that_asks_for_a_part_after_the_session_ended_is_sent_to_the_sign_in(
    home: Home, owner: Visitor
) -> None:
    stranger = Visitor(home.server.port)
    answer = stranger.session.get(
        f"{stranger.base}/activity", headers={"HX-Request": "true"}, timeout=20, allow_redirects=False
    )
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (401, "/sign-in")
    stranger.close()


@pytest.mark.parametrize("path", ["/nothing", "/items", "/items/1/remove/now", "/favicon"])
def test_a_browser_that_is_lost_gets_a_page(owner: Visitor, path: str) -> None:
    page = owner.open(path)
    assert (page.status, "Nothing is here" in page.text) == (404, True)


def test_a_stranger_who_is_lost_learns_nothing(visitor: Visitor, home: Home) -> None:
    assert visitor.open("/nothing").path == "/welcome"
    # Programs are answered as ever.
    assert home.call("GET", "//nothing", key=None).json() == {
        "detail": "the API key is missing or wrong: send it as X-Api-Key"
    }


def test_a_fault_inside_is_a_page_and_its_cause_stands_in_the_log_only(home: Home, owner: Visitor) -> None:
    home.context.engine.counts = lambda: 1 / 0  # type: ignore[method-assign,return-value,assignment]
    with log_lines("ERROR") as lines:
        page = owner.open("/activity")
    assert (page.status, "Something went wrong inside" in page.text) == (500, True)
    assert "ZeroDivisionError" not in page.answer.text
    assert any("ZeroDivisionError" in line for line in lines)


def test_a_busy_database_is_not_now(home: Home, owner: Visitor) -> None:
    def busy() -> None:
        raise Transient("the database is busy")

    home.context.engine.counts = busy  # type: ignore[method-assign,assignment]
    page = owner.open("/activity")
    assert (page.status, "the database is busy" in page.text) == (503, True)


def test_while_the_program_stops_reading_works_and_doing_is_refused_on_a_page(
    home: Home, owner: Visitor
) -> None:
    token = owner.token()
    home.machine.send("stop")
    assert owner.open("/").status == 200
    page = owner.post("/discover", {"csrf": token, "what": "tmdb:1"})
    assert (page.status, "the program is stopping" in page.text) == (503, True)


def test_health_is_told_at_the_top(home: Home, owner: Visitor) -> None:
    assert "Health: Everything works" in owner.open("/").text
    home.mounted = False
    home.clock.advance(11)
    assert "Health: The library folder cannot be read" in owner.open("/").text


def test_the_viewers_zone_and_theme_are_kept(home: Home, owner: Visitor) -> None:
    home.library.film()
    owner.session.cookies.set("zone", "Asia/Tokyo")
    assert "21:00:00 JST" in owner.open("/items/1").answer.text
    owner.session.cookies.set("zone", "../../etc/passwd")
    assert owner.open("/items/1").status == 200
    page = owner.open("/calendar")
    after = owner.send(page, "/theme", button="light")
    assert after.path == "/calendar"
    assert 'data-theme="light"' in after.answer.text


def test_every_page_is_known_to_these_tests() -> None:
    listed = {re.sub(r"<[^>]+>", "1", page.rule) for page in app.PAGES if "GET" in page.methods}
    tried = {path.partition("?")[0] for path in PAGES} | {"/sign-in", "/welcome", "/poster/1", "/live"}
    shapes = {re.sub(r"(?<=/setup/)\w+|(?<=/settings/)\w+", "1", path) for path in tried}
    assert {path for path in listed if not path.endswith("/1/1")} <= shapes
