"""Explaining which releases would be taken, for titles of the library and made-up ones."""

from __future__ import annotations

from typing import Any

import pytest

from program.media.item import Ids, Title
from tests.api.home import Home
from tests.db.library import season

LANTERN = {"type": "movie", "title": "Lantern", "year": 2020}


def _explain(home: Home, releases: list[Any], **item: Any) -> dict[str, Any]:
    answer: dict[str, Any] = home.post("/match/explain", {"item": {**LANTERN, **item}, "releases": releases})
    return answer


def test_every_rule_answers_for_every_release(home: Home) -> None:
    answer = _explain(home, ["Lantern.2020.1080p.WEB-DL.x264", "Lantern.1999.1080p.CAM"])
    good, bad = answer["releases"]
    assert good["accepted"] is True
    assert good["rejection"] is None
    assert len(good["rules"]) == len(bad["rules"]) > 15
    assert all(rule["passed"] for rule in good["rules"])
    assert bad["accepted"] is False
    refusing = {rule["rule"]: rule["sentence"] for rule in bad["rules"] if not rule["passed"]}
    assert {"wrong_year", "camera_copy"} <= set(refusing)
    assert "1999" in refusing["wrong_year"]


def test_the_points_add_up(home: Home) -> None:
    (one,) = _explain(home, ["Lantern.2020.1080p.BluRay.x264.DTS-GRP"])["releases"]
    assert one["rank"] == sum(one["score"].values())
    assert one["score"]["quality.bluray"] == 100


def test_what_puts_one_above_the_next_is_told(home: Home) -> None:
    answer = _explain(
        home,
        [
            {"title": "Lantern.2020.720p.WEB-DL.x264", "seeders": 900},
            {"title": "Lantern.2020.1080p.WEBRip.x264", "seeders": 5},
            {"title": "Lantern.2020.1080p.WEB-DL.x264", "seeders": 5},
            {"title": "Lantern 2020 1080p WEB-DL x264", "seeders": 50},
        ],
    )
    assert answer["best_first"] == [
        "Lantern 2020 1080p WEB-DL x264",
        "Lantern.2020.1080p.WEB-DL.x264",
        "Lantern.2020.1080p.WEBRip.x264",
        "Lantern.2020.720p.WEB-DL.x264",
    ]
    assert [one["by"] for one in answer["differences"]] == ["seeders", "rank", "resolution"]
    assert "webrip" in answer["differences"][1]["sentence"]


def test_a_title_of_the_library_is_known_by_its_id(home: Home) -> None:
    film = home.library.film()
    answer = home.post(
        "/match/explain", {"item_id": film, "releases": ["Sintel.2010.1080p.WEB", "Sintel.1950.1080p"]}
    )
    assert [one["accepted"] for one in answer["releases"]] == [True, False]


def test_a_name_that_another_title_of_the_library_has_counts_for_nothing(home: Home) -> None:
    film = home.library.film(aliases=(Title("Lantern"),))
    asked = {"item_id": film, "releases": ["Lantern.2010.1080p.WEB"]}
    assert home.post("/match/explain", asked)["releases"][0]["accepted"] is True
    home.library.film(Ids(tmdb="9"), title="LANTERN")
    assert home.post("/match/explain", asked)["releases"][0]["accepted"] is False


def test_all_there_is_of_an_old_film_is_taken_last(home: Home) -> None:
    names = ["Lantern.1955.DVDRip.XviD-GRP", "Lantern.1955.720p.BluRay.x264-GRP"]
    answer = _explain(home, names, year=1955)
    assert answer["best_first"] == [names[1], names[0]]


def test_a_french_multi_has_the_original_and_french(home: Home) -> None:
    (multi,) = _explain(home, ["Lantern.2020.MULTi.1080p.WEB.x264"], language="en")["releases"]
    assert multi["accepted"] is True
    assert "extras.dubbed" not in multi["score"]


def test_an_episode_of_the_library_takes_its_own_number(home: Home) -> None:
    home.library.show(season(1))
    episode = home.get("/items?type=episode&sort=title_asc")["items"][0]
    answer = home.post(
        "/match/explain",
        {
            "item_id": episode["id"],
            "releases": ["Pioneer.One.S01E01.1080p.WEB", "Pioneer.One.S01E09.1080p.WEB"],
        },
    )
    assert [one["accepted"] for one in answer["releases"]] == [True, False]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"releases": ["Lantern"]}, 422),
        ({"item_id": 1, "item": LANTERN, "releases": ["Lantern"]}, 422),
        ({"item": LANTERN, "releases": []}, 422),
        ({"item": {**LANTERN, "type": "episode"}, "releases": ["Lantern"]}, 422),
        ({"item": {**LANTERN, "typo": 1}, "releases": ["Lantern"]}, 422),
        ({"item_id": 4711, "releases": ["Lantern"]}, 404),
    ],
)
def test_what_cannot_be_explained_is_refused_with_a_sentence(
    home: Home, body: dict[str, Any], status: int
) -> None:
    response = home.call("POST", "/match/explain", json=body)
    assert response.status_code == status
    assert response.json()["detail"]
