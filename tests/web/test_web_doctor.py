"""Is everything well, and what is kept for a bad day."""

from __future__ import annotations

import io
import zipfile

from tests.api.home import KEY, Home
from tests.web.visitor import Visitor


def test_what_has_to_be_mended_stands_first_with_what_to_do(home: Home, owner: Visitor) -> None:
    home.use(downloaders={"vault": {"enabled": False}})
    text = owner.open("/doctor").text
    assert "Something has to be mended" in text
    assert text.index("To be mended") < text.index("Worth knowing") < text.index("Well")
    assert "What to do:" in text


def test_services_are_asked_only_when_somebody_says_so(home: Home, owner: Visitor) -> None:
    home.use(downloaders={"vault": {"enabled": True, "per_page": 1}})
    home.registry.validate(home.library.now)
    page = owner.open("/doctor")
    assert "no answer within 20 s" not in page.text
    whole = owner.open(page.seen.links["Ask every service too"])
    assert "no answer within 20 s" in whole.text


def test_the_file_for_helpers_holds_no_key(owner: Visitor) -> None:
    page = owner.open("/doctor")
    answer = owner.open(page.seen.links["Support file"]).answer
    with zipfile.ZipFile(io.BytesIO(answer.content)) as file:
        whole = "".join(file.read(name).decode() for name in file.namelist())
    assert "settings.json" in file.namelist()
    assert KEY not in whole


def test_a_copy_of_the_database_is_made_saved_put_back_and_deleted(home: Home, owner: Visitor) -> None:
    home.library.film()
    page = owner.open("/backups")
    assert "No copy yet" in page.text
    page = owner.send(page, "/backups")
    assert "The database was copied to" in page.text
    (name,) = [value for form in page.seen.forms for field, value in form.fields if field == "filename"]
    saved = owner.open(f"/backups/{name}").answer.content
    assert saved.startswith(b"SQLite format 3")
    token = owner.token()
    put_back = owner.post("/backups", {"csrf": token, "filename": name, "action": "restore"})
    assert "takes the place of the database at the next start" in put_back.text
    gone = owner.post("/backups", {"csrf": token, "filename": name, "action": "delete"})
    assert "No copy yet" in gone.text


def test_a_copy_is_named_by_its_own_name_only(owner: Visitor) -> None:
    assert owner.open("/backups/..%2Fsettings.json").status == 404
    answer = owner.post(
        "/backups", {"csrf": owner.token(), "filename": "../settings.json", "action": "delete"}
    )
    assert answer.status == 404
    assert owner.post("/backups", {"csrf": owner.token(), "action": "restore"}).status == 404
