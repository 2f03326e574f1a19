"""The pages in a real browser, against the real program and the stand-ins: from nothing to a film that can be watched.

A picture of each page, as it is on a desk in light and dark and on a phone, is kept in PICTURES to be looked at.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.support.stage import Stage
from tests.web.visitor import PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.fuse, pytest.mark.timeout(300)]

SINTEL = "https://www.themoviedb.org/movie/45745-sintel"
PLACES = (
    *(
        "/",
        "/items/1",
        "/items/2",
        "/items/1/remove",
        "/items/1/edit",
        "/items/2/edit",
        "/items/1/releases",
        "/items/1/by-hand",
        "/discover",
        "/wishes",
        "/calendar",
        "/activity",
        "/providers",
        "/statistics",
        "/doctor",
        "/backups",
        "/discover?q=sintel",
        "/calendar?month=2026-12",
    ),
    *(
        "/log",
        "/settings/indexing",
        "/settings/ranking",
        "/settings/general",
        "/setup/files",
        "/setup/metadata",
    ),
)
PICTURES = Path(__file__).parents[2] / ".pictures"
# A film is asked for, searched, fetched, mounted and listed by a media server; machines are busy.
ARRIVAL_MS = 60_000


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as found:
        found.start_program()
        yield found


@pytest.fixture
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, "tools/setup all-tests installs chromium"
    with sync_playwright() as playwright:
        # Tests run as root in containers, where Chromium's own sandbox cannot.
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


class Watched:
    """A browser's page whose every complaint is kept."""

    def __init__(self, browser: Browser, stage: Stage, **options: object) -> None:
        self.context = browser.new_context(base_url=stage.installation.api, **options)  # type: ignore[arg-type]
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def keep_picture(self, kind: str) -> None:
        """Keep what the page looks like from top to bottom."""
        name = (
            re.sub(r"\W+", "-", self.page.url.partition("://")[2].partition("/")[2]).strip("-") or "library"
        )
        self.page.screenshot(path=PICTURES / kind / f"{name}.png", full_page=True)

    def arrive(self) -> Page:
        """Set the password."""
        self.page.goto("/")
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_label("The same again").fill(PASSWORD)
        self.page.get_by_role("button", name="Set the password").click()
        expect(self.page).to_have_url(re.compile("/setup/files$"))
        return self.page


def test_from_the_first_visit_to_a_film_that_can_be_watched(browser: Browser, stage: Stage) -> None:
    watched = Watched(browser, stage)
    page = watched.arrive()
    expect(page.get_by_text("The folder is there")).to_be_visible()
    page.get_by_role("link", name="Go on").click()
    page.get_by_role("region", name="TMDB").get_by_role("button", name="Test it").click()
    expect(page.get_by_text("It works.")).to_be_visible()
    for heading in ("Where releases are found", "Which media server", "Add a first title"):
        page.get_by_role("link", name="Skip", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
    page.get_by_label("The address of a film").fill(SINTEL)
    page.get_by_role("button", name="Add it").click()
    # The page follows by itself; nobody loads it again.
    expect(page.locator(".state")).to_contain_text("Ready to watch", timeout=ARRIVAL_MS)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Sintel")
    film = Path(page.locator("section[aria-labelledby=files] code").first.inner_text())
    assert film.stat().st_size > 100_000
    assert not watched.complaints


def test_a_release_that_is_blocked_gives_way_to_the_next(browser: Browser, stage: Stage) -> None:
    watched = Watched(browser, stage)
    page = watched.arrive()
    page.goto("/discover")
    page.get_by_label("Address or id").fill(SINTEL)
    page.get_by_role("button", name="Add it").click()
    expect(page.locator(".state")).to_contain_text("Ready to watch", timeout=ARRIVAL_MS)
    page.get_by_text("What was found").first.click()
    used = page.locator(".releases li").filter(has_text="In use")
    first = used.locator(".code").inner_text()
    used.get_by_text("Block it…").click()
    used.get_by_label("Why").fill("bad sound")
    used.get_by_role("button", name="Never take it again").click()
    expect(page.get_by_role("status").filter(has_text="is ruled out")).to_be_visible()
    page.get_by_text("What was found").first.click()
    expect(page.locator(".releases li").filter(has_text="Blocked by you: bad sound")).to_contain_text(first)
    expect(page.locator(".releases li").filter(has_text="In use")).not_to_contain_text(
        first, timeout=ARRIVAL_MS
    )
    assert not watched.complaints


def test_a_setting_is_refused_with_its_reason_and_applied_when_it_is_good(
    browser: Browser, stage: Stage
) -> None:
    watched = Watched(browser, stage)
    page = watched.arrive()
    page.goto("/settings/scraping")
    page.get_by_label("Scrape cooldown").fill("24, 6, 2")
    page.get_by_role("button", name="See what changes").click()
    expect(page.get_by_text("must be three ascending numbers above 0")).to_be_visible()
    page.get_by_label("Scrape cooldown").fill("1, 2, 3")
    page.get_by_role("button", name="See what changes").click()
    expect(page.locator("tr", has_text="scraping.scrape_cooldown_hours")).to_contain_text("1, 2, 3")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved, and in force.")).to_be_visible()
    saved = stage.api("GET", "/settings/get/all").data["scraping"]
    assert saved["scrape_cooldown_hours"] == [1, 2, 3]
    # The refusal is answered with a status that the browser notes.
    assert all("422" in complaint for complaint in watched.complaints)


def test_keys_lead_everywhere_and_nothing_is_wider_than_a_phone(browser: Browser, stage: Stage) -> None:
    watched = Watched(browser, stage, viewport={"width": 390, "height": 844}, has_touch=True)
    page = watched.arrive()
    stage.api("POST", "/items/add", {"media_type": "tv", "tvdb_ids": ["170551"]})
    places = {"l": "/", "d": "/discover", "c": "/calendar", "a": "/activity", "s": "/settings"}
    for key, path in places.items():
        page.locator("h1").click()
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_url(f"{stage.installation.api}{path}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Search the library")
    page.keyboard.press("Escape")
    for path in (
        *places.values(),
        "/items/1",
        "/items/1/edit",
        "/items/1/releases",
        "/providers",
        "/statistics",
        "/doctor",
        "/backups",
        "/calendar?month=2026-12",
        "/wishes",
        "/settings/ranking",
        "/setup/files",
        "/setup/metadata",
        "/log",
    ):
        page.goto(path)
        watched.keep_picture("phone")
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, path
    assert not watched.complaints


def test_a_series_is_edited_by_keys_alone_on_a_phone(browser: Browser, stage: Stage) -> None:
    watched = Watched(browser, stage, viewport={"width": 390, "height": 844}, has_touch=True)
    page = watched.arrive()
    stage.api("POST", "/items/add", {"media_type": "tv", "tvdb_ids": ["170551"]})
    stage.wait_for(lambda: stage.api("GET", "/items/1").data["wanted_seasons"] == [1, 2], 60, "its seasons")
    page.goto("/items/1")
    page.get_by_role("link", name="Edit").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Season 1").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Pioneer One: season 1 is not wanted any more.")
    assert stage.api("GET", "/items/1").data["wanted_seasons"] == [2]
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Pioneer One: season 1 is wanted now.")
    assert stage.api("GET", "/items/1").data["wanted_seasons"] == [1, 2]
    assert not watched.complaints


def test_reading_and_adding_work_without_scripts(browser: Browser, stage: Stage) -> None:
    watched = Watched(browser, stage, java_script_enabled=False)
    page = watched.arrive()
    page.goto("/discover")
    page.get_by_label("Address or id").fill(SINTEL)
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_text("TMDB 45745 is added.")).to_be_visible()
    stage.wait_for(lambda: stage.api("GET", "/items/1").data["state"] == "Completed", 60, "the film")
    page.goto("/")
    expect(page.get_by_role("link", name="Sintel")).to_contain_text("Ready")
    page.get_by_role("link", name="Sintel").click()
    page.get_by_text("What was found").click()
    expect(page.locator(".releases")).to_contain_text("In use")


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_no_page_keeps_anybody_out(browser: Browser, stage: Stage, scheme: str) -> None:
    watched = Watched(browser, stage, color_scheme=scheme)
    axe, troubles = Axe(), []
    watched.page.goto("/")
    watched.keep_picture(f"{scheme}/welcome")
    troubles += [("/welcome", one["id"]) for one in axe.run(watched.page).response["violations"]]
    page = watched.arrive()
    stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": ["45745"]})
    stage.api("POST", "/items/add", {"media_type": "tv", "tvdb_ids": ["170551"]})
    stage.wait_for(lambda: stage.api("GET", "/items/1").data["state"] == "Completed", 60, "the film")
    for path in PLACES:
        page.goto(path)
        watched.keep_picture(scheme)
        page.evaluate("document.querySelectorAll('details:not(.menu)').forEach(one => one.open = true)")
        troubles += [(path, one["id"]) for one in axe.run(page).response["violations"]]
    assert not troubles
