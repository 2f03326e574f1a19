"""What keeps an installation well, over the API: the doctor, backups, the support bundle, the key."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from program.doctor.checks import CHECKS
from program.log import hide, logger
from tests.api.home import KEY, Home
from tests.db.library import film_metadata
from tests.db.test_backups import TRICKS

on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


# The doctor


@on_sqlite
def test_every_check_says_what_why_and_how_to_mend(home: Home) -> None:
    body = home.get("/doctor")
    for one in body["checks"]:
        assert one["what"]
        assert one["why"]
        assert one["said"]
        assert one["fix"] or one["level"] == "ok", one["name"]
    assert len(CHECKS) >= 40
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert {one["name"].split()[0] for one in body["checks"]} >= {
        check.name for check in CHECKS if check.is_quick
    }


@on_sqlite
def test_a_provider_that_does_not_answer_is_found_and_the_quick_look_asks_none(home: Home) -> None:
    home.use(scraping={"sample": {"enabled": True, "url": "http://127.0.0.1:9"}})
    home.registry.validate(home.clock.now())
    found = by_name(home.get("/doctor"))["provider sample"]
    assert found["level"] == "wrong"
    assert "scraping.sample" in found["fix"]
    assert "provider sample" not in by_name(home.get("/doctor?quick=true"))


@on_sqlite
def test_what_lacks_is_told_with_what_it_means(home: Home) -> None:
    found = by_name(home.get("/doctor?quick=true"))
    assert found["downloaders-enabled"]["said"] == "nothing can be had"
    assert found["backups"]["level"] == "note"
    home.post("/database/backup")
    assert by_name(home.get("/doctor?quick=true"))["backups"]["level"] == "ok"


@on_sqlite
def test_a_program_that_does_not_run_is_wrong(home: Home) -> None:
    home.machine.send("error")
    body = home.get("/doctor?quick=true")
    assert body["worst"] == "wrong"
    assert by_name(body)["program"]["said"] == "it is Errored"


def by_name(body: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {one["name"]: one for one in body["checks"]}


# Backups


def test_a_backup_is_made_listed_saved_and_deleted(home: Home) -> None:
    name = home.post("/database/backup")["filename"]
    assert [one["filename"] for one in home.get("/database/backups")["backups"]] == [name]
    saved = home.call("GET", f"/database/backup/download/{name}")
    assert len(saved.content) == home.get("/database/backups")["backups"][0]["size"]
    assert saved.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    assert home.call("DELETE", f"/database/backup/clean?filename={name}").json()["deleted_files"] == [name]
    assert home.get("/database/backups")["backups"] == []


def test_a_backup_that_fits_is_put_in_place_at_the_next_start(home: Home) -> None:
    name = home.post("/database/backup")["filename"]
    assert "at the next start" in home.post("/database/restore", {"filename": name})["message"]
    assert (home.store.folder / "restore-at-start").read_text() == name


@on_sqlite
@pytest.mark.parametrize("name", [trick for trick in TRICKS if trick and "\x00" not in trick])
def test_no_name_leads_out_of_the_folder(home: Home, name: str) -> None:
    home.post("/database/backup")
    assert home.refused("POST", "/database/restore", json={"filename": name})[0] == 404
    assert home.refused("DELETE", "/database/backup/clean", params={"filename": name})[0] == 404
    assert home.refused("GET", f"/database/backup/download/{name}")[0] == 404


@on_sqlite
def test_a_damaged_backup_is_refused_with_a_sentence(home: Home) -> None:
    name = home.post("/database/backup")["filename"]
    (home.store.folder / "backups" / name).write_bytes(b"oops")
    status, said = home.refused("POST", "/database/restore", json={"filename": name})
    assert (status, said.partition(":")[0]) == (409, f"{name} is no database of Rivulet, or damaged")


# The bundle


@on_sqlite
def test_the_bundle_explains_a_title_and_holds_no_secret(home: Home) -> None:
    hide(["hunter2hunter2"])
    film = home.library.film()
    home.library.index(film, film_metadata(title="Sintel hunter2hunter2"))
    home.use(downloaders={"vault": {"enabled": True, "url": "http://user:passw0rd@127.0.0.1:9"}})
    logger.warning("the key is {}", KEY)
    answer = home.call("GET", f"/support/bundle?quick=true&item_id={film}")
    assert answer.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as file:
        texts = {name: file.read(name).decode() for name in file.namelist()}
    assert json.loads(texts[f"item-{film}.json"])["item"]["id"] == film
    assert {"about.json", "settings.json", "doctor.json", "queues.json", "rivulet.log"} <= set(texts)
    everything = "\n".join(texts.values())
    assert KEY not in everything
    assert "hunter2hunter2" not in everything


@on_sqlite
def test_a_bundle_of_a_title_that_is_not_there_is_404(home: Home) -> None:
    assert home.refused("GET", "/support/bundle?quick=true&item_id=999") == (404, "no item has the id 999")


# The key and its tokens


@on_sqlite
def test_a_new_key_voids_the_old_one_and_every_address_with_a_token(home: Home) -> None:
    feed = home.get("/feeds")["calendar"]
    log = home.post("/upload_logs")["url"].partition("/api/v1")[2]
    assert home.call("GET", f"/{feed}", key=None).status_code == 200
    assert home.call("GET", log, key=None).status_code == 200
    key = home.post("/generateapikey")["api_key"]
    assert home.refused("GET", "/stats")[0] == 401
    assert home.call("GET", "/stats", key=key).status_code == 200
    assert home.refused("GET", f"/{feed}", key=None)[0] == 401
    assert home.refused("GET", log, key=None)[0] == 401


@on_sqlite
def test_the_address_of_the_log_ends_after_a_day(home: Home) -> None:
    log = home.post("/upload_logs")["url"].partition("/api/v1")[2]
    home.clock.advance(25 * 3600)
    assert home.refused("GET", log, key=None) == (410, "this address of the log has ended")
