"""Choosing instead of waiting, on the pages of the real program against the stand-ins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.stage import Stage
from tests.web.visitor import Visitor

pytestmark = [pytest.mark.fuse, pytest.mark.timeout(180)]
SINTEL, PIONEER_ONE = "45745", "170551"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Stage(tmp_path_factory.mktemp("by hand"), faults="none") as found:
        found.start_program()
        found.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": [SINTEL]})
        found.api("POST", "/items/add", {"media_type": "tv", "tvdb_ids": [PIONEER_ONE]})
        found.wait_for(lambda: state(found, movie=SINTEL) == "Completed", what="Sintel in the library")
        yield found


@pytest.fixture
def owner(stage: Stage) -> Iterator[Visitor]:
    found = Visitor(int(stage.installation.api.rpartition(":")[2]))
    if found.open("/").path.startswith("/welcome"):
        found.arrive()
    else:
        found.send(found.open("/"), "", password="correct horse battery")
    yield found
    found.close()


def item(stage: Stage, **wanted: str) -> dict[str, Any]:
    ((kind, service_id),) = wanted.items()
    body: dict[str, Any] = stage.api("GET", f"/items/{service_id}?media_type={kind}&extended=true").data
    return body


def state(stage: Stage, **wanted: str) -> str:
    return str(item(stage, **wanted).get("state"))


def test_another_release_is_taken_at_the_press_of_a_button(stage: Stage, owner: Visitor) -> None:
    number = item(stage, movie=SINTEL)["id"]
    page = owner.open(f"/items/{number}/releases")
    assert "In use" in page.text
    targets = [form.action for form in page.seen.forms if "/choose/" in form.action]
    said = [owner.send(page, target).text for target in targets]
    # The stand-in holds some of the releases and lacks others.
    assert all("1 file taken" in text or "cannot be had: " in text for text in said)
    assert any("1 file taken" in text for text in said)
    stage.wait_for(lambda: state(stage, movie=SINTEL) == "Completed", what="the other release in the library")
    assert "A person chose" in owner.open(f"/items/{number}").text


def test_a_release_that_was_ruled_out_is_allowed_again(stage: Stage, owner: Visitor) -> None:
    number = item(stage, movie=SINTEL)["id"]
    page = owner.open(f"/items/{number}/releases")
    target = next(form.action for form in page.seen.forms if "/block/" in form.action)
    owner.send(page, target, reason="bad sound")
    page = owner.open(f"/items/{number}/releases")
    assert "Blocked by you: bad sound" in page.text
    after = owner.send(page, target.replace("/block/", "/allow/"))
    assert "the release may be taken again" in after.text
    assert "Blocked by you" not in owner.open(f"/items/{number}/releases").text


def test_a_torrent_of_ones_own_shows_its_files_with_where_they_belong(stage: Stage, owner: Visitor) -> None:
    show = item(stage, tv=PIONEER_ONE)
    found = stage.api("GET", f"/scrape?media_type=tv&tvdb_id={PIONEER_ONE}").data["streams"]
    infohash = next(
        key
        for key, one in found.items()
        if one["parsed_data"]["seasons"] == [1] and "WEB-DL" in one["raw_title"]
    )
    page = owner.open(f"/items/{show['id']}/by-hand")
    assert "That is no magnet link" in owner.send(page, "", magnet="http://example.org/file").text
    files = owner.send(page, "", magnet=infohash)
    assert "Which of these files?" in files.text
    fields = dict(files.seen.form("").fields)
    ticked = [value for name, value in files.seen.form("").fields if name == "files"]
    assert {fields[f"season-{number}"] for number in ticked} == {"1"}
    wrong = owner.send(files, "", button="take", files=ticked, **{f"episodes-{ticked[0]}": "many"})
    assert "write episodes as numbers" in wrong.text
    after = owner.send(owner.open(files.path), "", button="take", files=ticked[:1])
    assert "1 file taken for 1 episodes" in after.text
    assert after.path == f"/items/{show['id']}"


def test_a_torrent_that_is_let_go_is_gone(stage: Stage, owner: Visitor) -> None:
    number = item(stage, movie=SINTEL)["id"]
    found = stage.api("GET", f"/scrape?media_type=movie&tmdb_id={SINTEL}").data["streams"]
    files = owner.send(owner.open(f"/items/{number}/by-hand"), "", magnet=next(iter(found)))
    assert "The torrent was let go" in owner.send(files, "", button="abort").text
    assert "begin it again" in owner.open(files.path).text


def test_a_torrent_that_nobody_holds_is_told_so(stage: Stage, owner: Visitor) -> None:
    number = item(stage, movie=SINTEL)["id"]
    page = owner.send(owner.open(f"/items/{number}/by-hand"), "", magnet="f" * 40)
    assert page.status == 409
    assert "Magnet link or hash" in page.text


def test_a_film_plays_in_the_browser_for_whoever_is_signed_in(stage: Stage, owner: Visitor) -> None:
    number = item(stage, movie=SINTEL)["id"]
    stage.wait_for(lambda: state(stage, movie=SINTEL) == "Completed", what="Sintel in the library")
    page = owner.open(owner.open(f"/items/{number}").seen.links["Play"])
    (source,) = [given["src"] for name, given in page.seen.tags if name == "video"]
    part = owner.open(source, headers={"Range": "bytes=0-99"})
    assert (part.status, len(part.answer.content)) == (206, 100)
    assert "Sign in" in Visitor(int(owner.base.rpartition(":")[2])).open(source).text


def test_titles_are_found_by_their_name_and_asked_for(stage: Stage, owner: Visitor) -> None:
    page = owner.open("/discover?q=big buck")
    assert "Big Buck Bunny (2008) Film" in page.text
    (fields,) = [form.fields for form in page.seen.forms if ("what", "tmdb:10378") in form.fields]
    added = owner.post("/discover", fields)
    assert added.path.startswith("/items/")
    assert "In the library" in owner.open("/discover?q=sintel").text
    assert "Pioneer One (2010) Series" in owner.open("/discover?q=pioneer one").text
    assert "Nothing has this name" in owner.open("/discover?q=no such words").text


def test_a_number_is_searched_as_a_name_and_an_address_is_read_as_one(stage: Stage, owner: Visitor) -> None:
    assert "Nothing has this name" in owner.open("/discover?q=1917").text
    page = owner.open("/discover?q=https://www.themoviedb.org/movie/45745-sintel")
    assert dict(page.seen.form("").fields)["what"] == "https://www.themoviedb.org/movie/45745-sintel"


def test_a_picture_that_was_not_found_by_a_search_is_not_fetched(owner: Visitor) -> None:
    assert owner.open(f"/picture/{'0' * 64}?at=https://example.org/x.jpg").status == 404


def test_a_service_that_cannot_be_asked_is_named_beside_what_the_others_have(
    stage: Stage, owner: Visitor
) -> None:
    stage.fault("tvdb", "status", status=500, path="/v4/search", count=9)
    page = owner.open("/discover?q=elephants")
    assert "TheTVDB: " in page.text
    stage.control("/faults", method="DELETE")
    assert "Elephants Dream (2006) Film" in page.text
