"""Who may see the pages."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from program.clock import ManualClock
from program.errors import StartupError
from program.web.admin import Admin, trouble_with
from program.web.throttle import FREE_TRIES, Throttle
from tests.api.home import KEY, Home
from tests.db.library import NOW
from tests.web.visitor import PASSWORD, Visitor


def test_the_first_visit_sets_the_password_and_goes_on_to_the_first_steps(visitor: Visitor) -> None:
    first = visitor.open("/")
    assert first.path == "/welcome"
    assert "Welcome to Rivulet" in first.text
    after = visitor.send(first, "", password=PASSWORD, again=PASSWORD)
    assert after.path == "/setup/files"
    assert "Library" in visitor.open("/").text


@pytest.mark.parametrize(
    ("password", "again", "said"),
    [
        ("short", "short", "Use 8 characters or more."),
        ("long enough", "long enougj", "The two passwords differ."),
        ("x" * 257, "x" * 257, "Use 256 characters or fewer."),
    ],
)
def test_a_password_that_is_too_short_or_mistyped_is_named(
    visitor: Visitor, password: str, again: str, said: str
) -> None:
    page = visitor.send(visitor.open("/welcome"), "", password=password, again=again)
    assert (page.status, said in page.text) == (422, True)
    assert visitor.open("/").path == "/welcome"


def test_the_password_is_kept_as_a_hash_in_a_file_for_the_owner_only(home: Home, owner: Visitor) -> None:
    file = home.store.folder / "admin.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert PASSWORD not in file.read_text()
    assert json.loads(file.read_text())["password"].startswith("scrypt:")
    assert PASSWORD not in home.store.file.read_text()


def test_a_second_visitor_cannot_set_the_password_again(home: Home, owner: Visitor) -> None:
    other = Visitor(home.server.port)
    assert other.open("/welcome").path.startswith("/sign-in")
    page = other.open("/sign-in")
    token = dict(page.seen.forms[0].fields)["csrf"]
    other.post("/welcome", {"csrf": token, "password": "another one", "again": "another one"})
    assert "That is not the password" in other.send(page, "", password="another one").text
    other.close()


def test_whoever_signs_in_comes_to_the_page_that_was_asked_for(home: Home, owner: Visitor) -> None:
    other = Visitor(home.server.port)
    asked = other.open("/calendar?month=2031-06")
    assert asked.path.startswith("/sign-in")
    assert other.send(asked, "", password=PASSWORD).path == "/calendar?month=2031-06"
    other.close()


@pytest.mark.parametrize(
    "target", ["https://elsewhere.invalid/", "//elsewhere.invalid", "/\\elsewhere", "javascript:alert(1)"]
)
def test_after_signing_in_nobody_is_sent_elsewhere(home: Home, owner: Visitor, target: str) -> None:
    other = Visitor(home.server.port)
    page = other.open("/sign-in")
    assert other.send(page, "", password=PASSWORD, next=target).path == "/"
    other.close()


def test_a_wrong_password_is_refused_and_soon_has_to_wait(home: Home, owner: Visitor) -> None:
    other = Visitor(home.server.port)
    for _ in range(FREE_TRIES):
        page = other.send(other.open("/sign-in"), "", password="wrong guess")
        assert (page.status, "That is not the password." in page.text) == (401, True)
    waiting = other.send(other.open("/sign-in"), "", password=PASSWORD)
    assert (waiting.status, "Too many tries" in waiting.text) == (429, True)
    home.clock.advance(60)
    assert other.send(other.open("/sign-in"), "", password=PASSWORD).path == "/"
    other.close()


def test_a_form_without_its_mark_does_nothing(owner: Visitor) -> None:
    for given in ("", "guessed"):
        page = owner.post("/sign-out", {"csrf": given})
        assert (page.status, "The form had expired" in page.text) == (400, True)
    assert owner.open("/").path == "/"


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(home: Home, visitor: Visitor) -> None:
    page = visitor.open("/welcome")
    answer = visitor.session.post(
        f"{visitor.base}/welcome",
        data={**dict(page.seen.forms[0].fields), "password": PASSWORD, "again": PASSWORD},
        allow_redirects=False,
        timeout=20,
    )
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert cookie.startswith(f"rivulet_{home.store.current.api.port}=")


def test_signing_out_ends_the_session(owner: Visitor) -> None:
    assert owner.send(owner.open("/"), "/sign-out").path.startswith("/sign-in")
    assert owner.open("/activity").path.startswith("/sign-in")


def test_a_new_password_ends_every_other_session(home: Home, owner: Visitor) -> None:
    other = Visitor(home.server.port)
    other.send(other.open("/sign-in"), "", password=PASSWORD)
    page = owner.open("/password")
    wrong = owner.send(page, "", old="not it at all", password="a new password", again="a new password")
    assert "The present password is not right." in wrong.text
    owner.send(page, "", old=PASSWORD, password="a new password", again="a new password")
    assert owner.open("/").path == "/"
    assert other.open("/").path.startswith("/sign-in")
    other.close()


def test_a_forged_or_old_cookie_opens_nothing(home: Home, visitor: Visitor) -> None:
    Visitor(home.server.port).arrive()
    visitor.session.cookies.set(f"rivulet_{home.store.current.api.port}", "eyJpbiI6dHJ1ZX0.aaaaaa.forged")
    assert visitor.open("/").path.startswith("/sign-in")


def test_the_api_key_opens_the_api_and_no_page_and_the_password_no_call(home: Home, owner: Visitor) -> None:
    stranger = Visitor(home.server.port)
    assert stranger.open("/", headers={"X-Api-Key": KEY}).path.startswith("/sign-in")
    assert owner.session.post(f"{owner.base}/api/v1/items/retry_library", timeout=20).status_code == 401
    stranger.close()


def test_sessions_outlive_a_restart_of_the_program(tmp_path: Path) -> None:
    admin = Admin(tmp_path)
    assert admin.set_first(PASSWORD)
    again = Admin(tmp_path)
    assert (again.secret, again.check(PASSWORD), again.check("wrong guess")) == (admin.secret, True, False)
    assert not again.set_first("somebody else's")


def test_before_a_password_is_set_nothing_is_one(tmp_path: Path) -> None:
    assert not Admin(tmp_path).check("")


def test_a_broken_file_is_one_sentence_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "admin.json").write_text("{")
    with pytest.raises(StartupError, match="mend or delete it"):
        Admin(tmp_path)


def test_guessing_gets_slower_and_a_pause_is_forgiven() -> None:
    throttle, clock = Throttle(), ManualClock(NOW)
    waits = [throttle.admit("192.0.2.1", clock.now()).total_seconds() for _ in range(FREE_TRIES + 1)]
    assert waits == [0] * FREE_TRIES + [15]
    clock.advance(15)
    assert not throttle.admit("192.0.2.1", clock.now())
    assert throttle.admit("192.0.2.1", clock.now()).total_seconds() == 30
    assert not throttle.admit("192.0.2.2", clock.now())
    clock.advance(3700)
    assert not throttle.admit("192.0.2.1", clock.now())


def test_neighbouring_ipv6_addresses_are_one_guesser() -> None:
    throttle = Throttle()
    for number in range(FREE_TRIES):
        throttle.admit(f"2001:db8::{number}", NOW)
    assert throttle.admit("2001:db8::ffff", NOW)
    assert not throttle.admit("2001:db8:0:1::1", NOW)


def test_a_good_password_has_no_trouble() -> None:
    assert trouble_with(PASSWORD, PASSWORD) is None
