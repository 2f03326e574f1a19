"""Plex and Jellyfin list only what they find by walking, and only when they are told to look."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import requests

from program.demo.launch import Servers
from tests.demo.conftest import SECONDS, Client
from tests.support.wait import until

FILM = "Sintel (2010) {tmdb-45745} [tmdbid=45745]"
SHOW = "Pioneer One (2010) {tvdb-170551} [tvdbid=170551]"


def put_film(library: Path, name: str = FILM, tail: str = " - 1080p.mkv") -> Path:
    folder = library / "movies" / name
    folder.mkdir(exist_ok=True)
    (folder / f"{name}{tail}").write_bytes(b"x" * 1000)
    return folder


def put_episode(library: Path, token: str, season: int = 1) -> Path:
    folder = library / "shows" / SHOW / f"Season {season:02}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"Pioneer One (2010) - {token}.mkv").write_bytes(b"x" * 1000)
    return folder


def films(plex: Client) -> list[dict[str, Any]]:
    answer = plex.get("/library/sections/1/all", params={"type": "1", "includeGuids": "1"}).json()
    return list(answer["MediaContainer"].get("Metadata", []))


def jelly(jellyfin: Client, kinds: str) -> list[dict[str, Any]]:
    query = {"recursive": "true", "IncludeItemTypes": kinds, "fields": "Path,ProviderIds"}
    return list(jellyfin.get("/Items", params=query).json()["Items"])


def settled(servers: Servers, plex: Client, jellyfin: Client) -> None:
    def idle() -> bool:
        sections = plex.get("/library/sections").json()["MediaContainer"]["Directory"]
        folders = jellyfin.get("/Library/VirtualFolders").json()
        return not any(one["refreshing"] for one in sections) and all(
            one["RefreshStatus"] == "Idle" for one in folders
        )

    until(idle, what="the end of all scans")


def test_plex_asks_for_a_token_everywhere_but_at_identity(servers: Servers) -> None:
    root = servers.ready["plex"]["root"]
    assert requests.get(f"{root}/identity", timeout=SECONDS).status_code == 200
    refused = requests.get(f"{root}/library/sections", headers={"X-Plex-Token": "wrong"}, timeout=SECONDS)
    assert refused.status_code == 401
    assert "html" in refused.headers["Content-Type"]


def test_plex_speaks_xml_unless_asked_for_json(
    servers: Servers, library: Path, plex: Client, jellyfin: Client
) -> None:
    folder = put_film(library)
    plex.get("/library/sections/1/refresh", params={"path": str(folder)})
    until(lambda: films(plex), what="the film")
    tree = ET.fromstring(plex.get("/library/sections/1/all", headers={"Accept": "*/*"}).content)  # noqa: S314 (our own server)
    assert [(one.tag, one.get("title")) for one in tree] == [("Video", "Sintel")]
    sections = ET.fromstring(plex.get("/library/sections", headers={"Accept": "*/*"}).content)  # noqa: S314
    places = [one.get("path") for one in sections.iter("Location")]
    assert places == [str(library / "movies"), str(library / "shows")]


def test_plex_leaves_empty_lists_out(library: Path, plex: Client) -> None:
    assert "Metadata" not in plex.get("/library/sections/1/all").json()["MediaContainer"]


def test_plex_finds_a_film_when_told_to_scan_its_folder(library: Path, plex: Client) -> None:
    folder = put_film(library)
    assert films(plex) == []
    assert plex.get("/library/sections/1/refresh", params={"path": str(folder)}).status_code == 200
    (film,) = until(lambda: films(plex), what="the film")
    assert [one["id"] for one in film["Guid"]] == ["imdb://tt1727587", "tmdb://45745"]
    assert film["Media"][0]["Part"][0]["file"] == str(folder / f"{FILM} - 1080p.mkv")
    assert film["Media"][0]["Part"][0]["size"] == 1000
    single = plex.get(f"/library/metadata/{film['ratingKey']}", params={"checkFiles": "1"}).json()[
        "MediaContainer"
    ]["Metadata"][0]
    assert single["Media"][0]["Part"][0]["exists"] is True


@pytest.mark.parametrize(
    "path", ["", "/elsewhere", "/movies/Nothing", "/shows/x", f"/movies/{FILM}/{FILM} - 1080p.mkv"]
)
def test_plex_answers_200_and_finds_nothing_for_a_path_that_is_no_folder_of_the_section(
    servers: Servers, library: Path, plex: Client, jellyfin: Client, path: str
) -> None:
    put_film(library)
    assert (
        plex.get(
            "/library/sections/1/refresh",
            params={"path": f"{library}/movies{path}" if not path else f"{library}{path}"},
        ).status_code
        == 200
    )
    settled(servers, plex, jellyfin)
    assert films(plex) == []


def test_plex_can_miss_a_new_folder_the_first_time(
    servers: Servers, library: Path, plex: Client, jellyfin: Client
) -> None:
    servers.control("/options", {"plex_ignore_first_scan": True})
    folder = put_film(library)
    plex.get("/library/sections/1/refresh", params={"path": str(folder)})
    settled(servers, plex, jellyfin)
    assert films(plex) == []
    plex.post("/library/sections/1/refresh", params={"path": str(folder)})
    until(lambda: films(plex), what="the film")


def test_plex_forgets_a_film_whose_folder_is_gone(library: Path, plex: Client) -> None:
    folder = put_film(library)
    plex.get("/library/sections/1/refresh", params={"path": str(folder)})
    until(lambda: films(plex), what="the film")
    next(folder.iterdir()).unlink()
    plex.get("/library/sections/1/refresh", params={"path": str(folder)})
    until(lambda: not films(plex), what="the film's end")


def test_plex_makes_shows_seasons_and_episodes_of_files(library: Path, plex: Client) -> None:
    for token in ("s01e01", "s01e02-e03"):
        folder = put_episode(library, token)
    plex.get("/library/sections/2/refresh", params={"path": str(folder)})
    shows = until(
        lambda: (
            plex.get("/library/sections/2/all", params={"type": "2", "includeGuids": "1"})
            .json()["MediaContainer"]
            .get("Metadata")
        ),
        what="the show",
    )
    assert {"id": "tvdb://170551"} in shows[0]["Guid"]
    leaves = plex.get(f"/library/metadata/{shows[0]['ratingKey']}/allLeaves").json()["MediaContainer"][
        "Metadata"
    ]
    assert [(one["parentIndex"], one["index"]) for one in leaves] == [(1, 1), (1, 2), (1, 3)]
    seasons = plex.get(f"/library/metadata/{shows[0]['ratingKey']}/children").json()["MediaContainer"][
        "Metadata"
    ]
    assert [one["index"] for one in seasons] == [1]


def test_plex_pages_and_filters(library: Path, plex: Client) -> None:
    put_film(library)
    folder = put_film(library, "Spring (2019) {tmdb-593048} [tmdbid=593048]")
    plex.post("/library/sections/refresh")
    until(lambda: len(films(plex)) == 2, what="both films")
    page = plex.get(
        "/library/sections/1/all", params={"X-Plex-Container-Start": "1", "X-Plex-Container-Size": "1"}
    ).json()["MediaContainer"]
    assert (page["offset"], page["size"], page["totalSize"]) == (1, 1, 2)
    named = plex.get("/library/sections/1/all", params={"title": "spring"}).json()["MediaContainer"][
        "Metadata"
    ]
    assert named[0]["Media"][0]["Part"][0]["file"].startswith(str(folder))


def test_plex_does_not_read_ids_in_square_brackets_and_jellyfin_not_those_in_braces(
    servers: Servers, library: Path, plex: Client, jellyfin: Client
) -> None:
    put_film(library, "Made Up (2020) {tmdb-1}", ".mkv")
    put_film(library, "Made Up Too (2021) [tmdbid=2]", ".mkv")
    plex.post("/library/sections/refresh")
    jellyfin.post("/Library/Refresh")
    settled(servers, plex, jellyfin)
    found = servers.control("/library")
    assert [one["ids"] for one in found["plex"]] == [{"tmdb": "1"}, {}]
    assert [one["ids"] for one in found["jellyfin"]] == [{}, {"tmdb": "2"}]
    assert all(one["guid"].startswith("local://") for one in films(plex))


def test_jellyfin_takes_its_key_in_the_two_lasting_ways_only(servers: Servers) -> None:
    about = servers.ready["jellyfin"]
    url, key = f"{about['root']}/System/Info", about["key"]
    good: list[dict[str, Any]] = [
        {"params": {"ApiKey": key}},
        {"headers": {"Authorization": f'MediaBrowser Token={key}, Client="x"'}},
    ]
    legacy: list[dict[str, Any]] = [
        {"params": {"api_key": key}},
        {"headers": {"X-Emby-Token": key}},
        {"headers": {"X-MediaBrowser-Token": key}},
    ]
    assert [requests.get(url, timeout=SECONDS, **one).status_code for one in good] == [200, 200]
    refused = [requests.get(url, timeout=SECONDS, **one) for one in legacy]
    assert [(one.status_code, one.content) for one in refused] == [(401, b"")] * 3
    servers.control("/options", {"jellyfin_legacy_auth": True})
    assert [requests.get(url, timeout=SECONDS, **one).status_code for one in legacy] == [200] * 3


def report(jellyfin: Client, *paths: str | None) -> int:
    updates = [{"Path": path, "UpdateType": "Created"} for path in paths]
    return jellyfin.post("/Library/Media/Updated", json={"Updates": updates}).status_code


def test_jellyfin_walks_some_time_after_a_report(servers: Servers, library: Path, jellyfin: Client) -> None:
    folder = put_film(library)
    assert jelly(jellyfin, "Movie") == []
    assert report(jellyfin, str(folder / f"{FILM} - 1080p.mkv")) == 204
    (film,) = until(lambda: jelly(jellyfin, "Movie"), what="the film")
    assert film["ProviderIds"] == {"Tmdb": "45745", "Imdb": "tt1727587"}
    assert film["Path"] == str(folder / f"{FILM} - 1080p.mkv")
    assert jellyfin.get("/Items/Counts").json() == {"MovieCount": 1, "SeriesCount": 0, "EpisodeCount": 0}


def test_jellyfin_drops_paths_of_no_library_and_refuses_empty_ones(
    servers: Servers, library: Path, plex: Client, jellyfin: Client
) -> None:
    put_film(library)
    assert report(jellyfin, "/elsewhere/x.mkv") == 204
    assert report(jellyfin, None) == 400
    assert report(jellyfin, "") == 400
    settled(servers, plex, jellyfin)
    assert jelly(jellyfin, "Movie") == []


def test_jellyfin_ignores_what_it_does_not_know_and_then_returns_everything(
    library: Path, jellyfin: Client
) -> None:
    folder = put_film(library)
    report(jellyfin, str(folder))
    until(lambda: jelly(jellyfin, "Movie"), what="the film")
    query = {"recursive": "true", "AnyProviderIdEquals": "tmdb.1", "Path": "/nothing"}
    assert len(jellyfin.get("/Items", params=query).json()["Items"]) == 1
    assert jellyfin.get("/Items", params={"recursive": "true", "years": "1999"}).json()["Items"] == []
    assert jellyfin.get("/Items").json()["Items"] == []
    bare = jellyfin.get("/Items", params={"Recursive": "true", "SearchTerm": "sint"}).json()["Items"][0]
    assert not {"Path", "ProviderIds"} & set(bare)


def test_jellyfin_has_one_entry_for_a_file_of_two_episodes(library: Path, jellyfin: Client) -> None:
    put_episode(library, "s01e01")
    folder = put_episode(library, "s01e02-e03")
    report(jellyfin, str(folder))
    (series,) = until(lambda: jelly(jellyfin, "Series"), what="the series")
    assert series["ProviderIds"]["Tvdb"] == "170551"
    rows = jellyfin.get(f"/Shows/{series['Id']}/Episodes", params={"season": "1", "fields": "Path"}).json()[
        "Items"
    ]
    assert [(one["ParentIndexNumber"], one["IndexNumber"], one.get("IndexNumberEnd")) for one in rows] == [
        (1, 1, None),
        (1, 2, 3),
    ]
    assert len(jellyfin.get(f"/Shows/{series['Id']}/Seasons").json()["Items"]) == 1
    assert jellyfin.get("/Shows/none/Episodes").status_code == 404
