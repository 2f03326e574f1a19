"""The settings over the API: masked, saved whole or not at all, two writers told apart."""

from __future__ import annotations

import json

import pytest

from program.log import MASK
from program.media.item import Ids
from tests.api.home import KEY, Home

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


def on_disk(home: Home) -> dict[str, dict[str, object]]:
    return dict(json.loads(home.store.file.read_text()))


def test_settings_are_shown_with_masks_and_their_revision(home: Home) -> None:
    home.use(scraping={"sample": {"api_key": "index-key-55"}})
    answer = home.call("GET", "/settings/get/all")
    body = answer.json()
    assert body["api_key"] == MASK
    assert body["scraping"]["sample"]["api_key"] == MASK
    assert "index-key-55" not in answer.text
    assert answer.headers["ETag"] == f'"{home.store.loaded.revision}"'


def test_the_schema_names_every_key_of_the_settings(home: Home) -> None:
    schema, settings = home.get("/settings/schema"), home.get("/settings/get/all")
    assert list(schema["properties"]) == list(settings)
    ranking = schema["$defs"]["RankingSettings"]["properties"]
    assert list(ranking) == list(settings["ranking"])


def test_the_whole_object_can_be_sent_back_unchanged(home: Home) -> None:
    home.use(scraping={"sample": {"api_key": "index-key-55"}})
    before = home.store.current
    saved = home.post("/settings/set/all", home.get("/settings/get/all"))
    assert saved["message"] == "Settings saved"
    assert saved["locked"] == {"log.level": "RIVULET_LOG__LEVEL"}
    assert home.store.current == before


def test_a_changed_value_is_saved_and_the_key_stays(home: Home) -> None:
    body = home.get("/settings/get/all")
    body["scraping"]["max_failed_attempts"] = 3
    home.post("/settings/set/all", body)
    assert home.store.current.scraping.max_failed_attempts == 3
    assert on_disk(home)["api_key"] == KEY
    assert home.get("/settings/get/all")["scraping"]["max_failed_attempts"] == 3


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"api": {"port": "x"}}, 'settings.json: api.port: must be a whole number, not "x"'),
        (
            {"scraping": {"sample": {"api_kye": "s3cret-s3cret"}}},
            "settings.json: scraping.sample.api_kye: unknown key (did you mean api_key?)",
        ),
        (
            {"log": {"level": "DEBUG"}},
            "settings.json: log.level: is set by the environment variable RIVULET_LOG__LEVEL",
        ),
        ({"api_key": ""}, "settings.json: api_key: must not be empty"),
    ],
)
def test_a_bad_change_is_422_with_its_place_and_saves_nothing(
    home: Home, change: dict[str, object], detail: str
) -> None:
    before = home.store.file.read_bytes()
    assert home.refused("POST", "/settings/set/all", json=change) == (422, detail)
    assert home.store.file.read_bytes() == before


def test_a_body_that_is_no_object_is_422(home: Home) -> None:
    assert home.refused("POST", "/settings/set/all", json=[1])[0] == 422


def test_of_two_writers_the_second_is_409(home: Home) -> None:
    tag = {"If-Match": home.call("GET", "/settings/get/all").headers["ETag"]}
    first = home.call("POST", "/settings/set/all", json={"api": {"port": 9001}}, headers=tag)
    assert first.status_code == 200
    second = home.refused("POST", "/settings/set/all", json={"api": {"port": 9002}}, headers=tag)
    assert second == (409, "settings.json was changed meanwhile: load the settings again")
    assert home.store.current.api.port == 9001


def test_an_edit_by_hand_is_not_overwritten(home: Home) -> None:
    home.store.file.write_text(json.dumps({"api_key": KEY, "api": {"port": 9003}}))
    assert home.refused("POST", "/settings/set/all", json={"api": {"port": 9004}})[0] == 409


def test_names_are_previewed_with_what_is_wrong_told_and_nothing_changed(home: Home) -> None:
    film = home.library.film(Ids(tmdb="1"), "Bunny")
    entry = home.library.complete(film, film, path="/movies/Old/Old.mkv")
    found = home.post("/settings/naming-preview", {"movie_folder": "{title}", "movie_file": "{title}"})
    assert found["library"] == [
        {"id": entry, "before": "/movies/Old/Old.mkv", "after": "/movies/Bunny/Bunny.mkv"}
    ]
    assert {"about": "a film", "path": "/movies/Sintel/Sintel.mkv"} in found["samples"]
    status, said = home.refused("POST", "/settings/naming-preview", json={"movie_folder": "{titel}"})
    assert (status, said) == (
        422,
        'settings.json: vfs.naming.movie_folder: unknown field {titel} (did you mean {title}?), not "{titel}"',
    )
    assert home.store.current.vfs.naming.movie_folder == "{title} ({year}) {ids}"
