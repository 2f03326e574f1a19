"""Posters: through us, small, pictures only, from the internet only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from program.clock import ManualClock
from program.network import LOOPBACK, is_public
from program.web.pictures import drawing
from program.web.posters import LARGEST, Posters, kind_of
from tests.api.home import Home
from tests.db.library import NOW, film_metadata, season
from tests.web.visitor import Visitor

JPEG = b"\xff\xd8\xff\xe0" + b"picture" * 10


@pytest.fixture
def posters(tmp_path: Path) -> Iterator[Posters]:
    """Posters that may come from this machine."""
    found = Posters(tmp_path / "posters", ManualClock(NOW), lambda: LOOPBACK)
    yield found
    found.close()


def test_a_poster_is_fetched_once_and_kept(posters: Posters, httpserver: HTTPServer) -> None:
    httpserver.expect_oneshot_request("/t/p/w500/x.jpg").respond_with_data(JPEG, content_type="image/jpeg")
    for _ in range(3):
        picture = posters.get(httpserver.url_for("/t/p/w500/x.jpg"))
        assert picture is not None
        assert (picture.kind, picture.body) == ("image/jpeg", JPEG)
    assert len(httpserver.log) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"<html>sign in to the hotel</html>",
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        JPEG + b"x" * LARGEST,
    ],
)
def test_what_is_no_small_picture_is_not_passed_on(
    posters: Posters, httpserver: HTTPServer, body: bytes
) -> None:
    httpserver.expect_request("/x.jpg").respond_with_data(body, content_type="image/jpeg")
    assert posters.get(httpserver.url_for("/x.jpg")) is None


def test_a_picture_that_was_missing_is_asked_for_again(posters: Posters, httpserver: HTTPServer) -> None:
    answers = iter([Response("not yet", 404), Response(JPEG, 200)])
    httpserver.expect_request("/x.jpg").respond_with_handler(lambda _request: next(answers))
    assert posters.get(httpserver.url_for("/x.jpg")) is None
    assert posters.get(httpserver.url_for("/x.jpg")) is not None


@pytest.mark.parametrize(
    "address",
    [
        "",
        "x.jpg",
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "http://",
        "http://user:word@127.0.0.1/x.jpg",
        "http://[::1",
    ],
)
def test_only_plain_web_addresses_are_asked(posters: Posters, address: str) -> None:
    assert posters.get(address) is None


def test_a_private_network_is_never_asked_also_when_a_redirect_leads_there(
    tmp_path: Path, httpserver: HTTPServer
) -> None:
    asked: list[str] = []

    def note(request: Request) -> Response:
        asked.append(request.path)
        return Response(JPEG)

    httpserver.expect_request("/x.jpg").respond_with_handler(note)
    careful = Posters(tmp_path / "posters", ManualClock(NOW))
    for host in ("127.0.0.1", "localhost", "0.0.0.0"):
        assert careful.get(f"http://{host}:{httpserver.port}/x.jpg") is None
    careful.close()
    assert not asked


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("1.1.1.1", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("172.17.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::ffff:127.0.0.1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_which_addresses_are_of_the_internet(address: str, public: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_public(address) is public


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (JPEG, "image/jpeg"),
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"GIF89a...", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x00\x00\x00\x20ftypavif....", "image/avif"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", None),
        (b"%PDF-1.7", None),
    ],
)
def test_a_picture_is_known_by_its_first_bytes(body: bytes, kind: str | None) -> None:
    assert kind_of(body) == kind


def test_a_title_without_a_poster_gets_a_drawn_one(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    answer = owner.open(f"/poster/{film}").answer
    assert answer.headers["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert ">S</text>" in answer.text
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert owner.open("/poster/999").status == 404


def test_a_poster_in_a_private_network_is_drawn_instead(
    home: Home, owner: Visitor, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/x.jpg").respond_with_data(JPEG)
    film = home.library.film()
    home.library.index(film, film_metadata(poster=httpserver.url_for("/x.jpg")))
    assert ">S</text>" in owner.open(f"/poster/{film}").answer.text
    assert not httpserver.log


def test_an_episode_has_the_picture_of_its_show(home: Home, owner: Visitor) -> None:
    show = home.library.show(season(1))
    part = home.library.item(show, 1, 1).id
    assert ">PO</text>" in owner.open(f"/poster/{part}").answer.text


@pytest.mark.parametrize("title", ["", "  ", "<script>alert(1)</script>", "&&&", "…", "日本"])
def test_any_title_can_be_drawn(title: str) -> None:
    drawn = drawing(title)
    assert "<script" not in drawn
    assert drawn.count("</text>") == 1
