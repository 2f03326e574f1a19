"""Plex and Jellyfin: exactly the title's folder is scanned, and the answer is only believed when the server lists it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from program.demo.launch import Servers
from program.errors import Misconfigured
from program.events import FolderScanRequested, LibraryScanRequested
from program.media.item import Ids, MediaType
from program.services.updaters import is_below, mapped
from program.services.updaters.jellyfin import Jellyfin
from program.services.updaters.plex import Plex
from tests.support.providers import Make, make
from tests.support.wait import until

BOTH = pytest.mark.parametrize("kind", [Plex, Jellyfin])
FOLDER = "movies/Sintel (2010) {tmdb-45745} [tmdbid=45745]"
NAME = "Sintel (2010) {tmdb-45745} [tmdbid=45745] - 1080p.mkv"
SHOW = "shows/Pioneer One (2010) {tvdb-170551} [tvdbid=170551]/Season 01"


def film(root: str = "/mnt", folder: str = FOLDER) -> LibraryScanRequested:
    return LibraryScanRequested(
        media_type=MediaType.MOVIE,
        ids=Ids(imdb="tt1727587", tmdb="45745"),
        title="Sintel",
        year=2010,
        season=None,
        episode=None,
        folder=f"{root}/{folder}",
        file=f"{root}/{folder}/{NAME}",
        scan=True,
    )


def episode(number: int, root: str = "/mnt", season: int = 1) -> LibraryScanRequested:
    name = f"Pioneer One (2010) - s01e{number:02}.mkv"
    return LibraryScanRequested(
        media_type=MediaType.EPISODE,
        ids=Ids(imdb="tt1748166", tvdb="170551"),
        title="Pioneer One",
        year=2010,
        season=season,
        episode=number,
        folder=f"{root}/{SHOW}",
        file=f"{root}/{SHOW}/{name}",
        scan=True,
    )


def put(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * 1000)


# --- against the stand-ins


@BOTH
def test_a_film_of_several_libraries_is_scanned_in_each_that_the_server_has(
    provider: Make, library: Path, kind: type[Any]
) -> None:
    server, known = provider(kind), film(str(library))
    put(Path(known.file))
    foreign = film("/elsewhere")
    wanted = replace(foreign, also=((known.folder, known.file),))
    server.hooks()[wanted.type](wanted)
    until(lambda: server.has(known), what="the film in the library that the server has")


@BOTH
def test_a_film_is_listed_after_its_folder_was_scanned(
    provider: Make, library: Path, kind: type[Any]
) -> None:
    server, wanted = provider(kind), film(str(library))
    put(Path(wanted.file))
    assert not server.has(wanted)
    server.refresh(wanted.folder)
    until(lambda: server.has(wanted))


@BOTH
@pytest.mark.parametrize("many", [0, 600])
def test_folders_that_files_have_left_and_come_to_are_scanned(
    provider: Make, library: Path, kind: type[Any], many: int
) -> None:
    server, old, new = (
        provider(kind),
        film(str(library)),
        film(str(library), FOLDER.replace("(2010)", "2010")),
    )
    put(Path(old.file))
    server.refresh(old.folder)
    until(lambda: server.has(old))
    Path(new.folder).parent.mkdir(exist_ok=True)
    Path(old.folder).rename(new.folder)
    others = [f"{library}/movies/Other {number}" for number in range(many)]
    wanted = FolderScanRequested((old.folder, new.folder, "/elsewhere/movies/Else", *others))
    server.hooks()[wanted.type](wanted)
    until(lambda: listed(server, new) and not listed(server, old))


def listed(server: Any, wanted: LibraryScanRequested) -> bool:
    """Return whether the server has the very file."""
    return bool(server.has(replace(wanted, title="", year=None, ids=Ids())))


@BOTH
def test_an_episode_is_listed_and_its_neighbour_is_not(
    provider: Make, library: Path, kind: type[Any]
) -> None:
    server, wanted = provider(kind), episode(1, str(library))
    put(Path(wanted.file))
    server.refresh(wanted.folder)
    until(lambda: server.has(wanted))
    assert not server.has(episode(2, str(library)))
    other_season = replace(episode(1, str(library), season=2), file=f"{wanted.folder}/none.mkv")
    assert not server.has(other_season)


@BOTH
def test_a_file_of_two_episodes_holds_both(provider: Make, library: Path, kind: type[Any]) -> None:
    server, wanted = provider(kind), episode(1, str(library))
    file = f"{wanted.folder}/Pioneer One (2010) - s01e01-e02.mkv"
    put(Path(file))
    server.refresh(wanted.folder)
    for number in (1, 2):
        both = replace(episode(number, str(library)), file=file)
        until(partial(server.has, both))


@BOTH
def test_paths_are_given_as_the_server_sees_them(provider: Make, library: Path, kind: type[Any]) -> None:
    server = provider(kind, path_map={"/mnt/rivulet": str(library)})
    put(library / FOLDER / NAME)
    wanted = film("/mnt/rivulet")
    server.refresh(wanted.folder)
    until(lambda: server.has(wanted))


@pytest.mark.parametrize(
    "name", ["100 Princes & The Kingdom (2018)", "C# + 50% (2031)", "Amélie (2001)", "What's up? (1972)"]
)
def test_odd_characters_reach_plex_as_they_are(provider: Make, library: Path, name: str) -> None:
    server = provider(Plex)
    wanted = replace(film(str(library), f"movies/{name}"), ids=Ids(), title=name)
    put(Path(wanted.file))
    server.refresh(wanted.folder)
    until(lambda: server.has(wanted))


def test_a_path_is_one_value_of_the_query(odd: HTTPServer, odd_url: str) -> None:
    folder = "/media/100 Sleeping Princes & The Kingdom of Dreams (2018) {tvdb-349498}/Season 01"
    sections(odd, ("1", "/media"))
    odd.expect_request("/library/sections/1/refresh", query_string={"path": folder}).respond_with_data("")
    make(Plex, odd_url).refresh(folder)
    assert "%26" in odd.log[-1][0].environ["RAW_URI"]


def test_a_first_scan_that_plex_ignores_is_told_by_asking(
    servers: Servers, provider: Make, library: Path
) -> None:
    servers.control("/options", {"plex_ignore_first_scan": True})
    server, wanted = provider(Plex), film(str(library))
    put(Path(wanted.file))
    server.refresh(wanted.folder)
    assert not server.has(wanted)
    server.refresh(wanted.folder)
    until(lambda: server.has(wanted))


@BOTH
def test_a_right_key_passes_the_check(provider: Make, kind: type[Any]) -> None:
    provider(kind).check()


def test_jellyfin_s_key_stands_in_the_header_of_every_version(
    servers: Servers, provider: Make, library: Path
) -> None:
    servers.control("/options", {"jellyfin_legacy_auth": False})
    provider(Jellyfin).has(film(str(library)))
    paths = [one["path"] for one in servers.control("/requests?provider=jellyfin")["requests"]]
    assert paths
    assert not any(servers.ready["jellyfin"]["key"] in path for path in paths)


# --- answers that the stand-ins do not give


def sections(server: HTTPServer, *locations: tuple[str, str]) -> None:
    rows = [
        {"key": key, "type": "movie", "title": key, "Location": [{"id": 1, "path": path}]}
        for key, path in locations
    ]
    body = {"MediaContainer": {"size": len(rows), "Directory": rows}}
    server.expect_request("/library/sections").respond_with_json(body)


@pytest.mark.parametrize(
    ("folder", "section"),
    [
        ("/media/movies/He Went That Way (2024) {tmdb-1}", "2"),
        ("/media/movies-uhd/X (2024)", "3"),
        ("/media/movies/kids/X (2024)", "4"),
        ("/media/concerts/X", "1"),
    ],
)
def test_the_library_is_the_one_whose_folder_is_the_longest_prefix(
    odd: HTTPServer, odd_url: str, folder: str, section: str
) -> None:
    sections(
        odd,
        ("1", "/media/concerts"),
        ("2", "/media/movies/"),
        ("3", "/media/movies-uhd"),
        ("4", "/media/movies/kids"),
    )
    odd.expect_request(
        f"/library/sections/{section}/refresh", query_string={"path": folder}
    ).respond_with_data("")
    make(Plex, odd_url).refresh(folder)
    odd.check()


def test_a_folder_of_no_library_is_reported_and_nothing_is_scanned(odd: HTTPServer, odd_url: str) -> None:
    sections(odd, ("1", "/media/tv"))
    with pytest.raises(Misconfigured) as caught:
        make(Plex, odd_url).refresh("/media/tv-uhd/X (2024)")
    assert caught.value.field == "path_map"
    assert "/media/tv-uhd" in str(caught.value)
    assert len(odd.log) == 1


def test_a_server_without_libraries_leaves_the_list_out(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/library/sections").respond_with_json({"MediaContainer": {"size": 0}})
    with pytest.raises(Misconfigured):
        make(Plex, odd_url).refresh("/mnt/movies/X")


def plex_rows(server: HTTPServer, *rows: dict[str, Any]) -> None:
    sections(server, ("1", "/mnt/movies"))
    body = {"MediaContainer": {"size": len(rows), **({"Metadata": rows} if rows else {})}}
    server.expect_request("/library/sections/1/all").respond_with_json(body)


def plex_row(**changes: Any) -> dict[str, Any]:
    return {
        "ratingKey": 501,
        "guid": "plex://movie/a",
        "type": "movie",
        "title": "Sintel",
        "addedAt": 1,
        **changes,
    }


@pytest.mark.parametrize(
    ("row", "listed"),
    [
        (plex_row(Guid=[{"id": "tmdb://45745"}]), True),
        (plex_row(guid="com.plexapp.agents.imdb://tt1727587?lang=en"), True),
        (
            plex_row(
                Media=[{"id": 1, "Part": [{"id": 2, "file": f"/mnt/{FOLDER}/{NAME}"}]}], guid="local://501"
            ),
            True,
        ),
        (plex_row(Guid=[{"id": "tmdb://4574"}]), False),
        (plex_row(Guid=[{"id": "tmdb://45745"}], deletedAt=1), False),
        (plex_row(), False),
    ],
    ids=["by id", "by an old agent's id", "by file", "another title", "in the trash", "unmatched"],
)
def test_plex_lists_a_film_by_its_file_or_its_ids(
    odd: HTTPServer,
    odd_url: str,
    row: dict[str, Any],
    listed: bool,  # noqa: FBT001
) -> None:
    plex_rows(odd, row)
    assert make(Plex, odd_url).has(film()) is listed


def test_a_file_name_in_another_unicode_form_is_the_same_file(odd: HTTPServer, odd_url: str) -> None:
    wanted = replace(film(), ids=Ids(), file="/mnt/movies/Ame\u0301lie.mkv", folder="/mnt/movies")
    plex_rows(odd, plex_row(Media=[{"Part": [{"file": "/mnt/movies/Am\u00e9lie.mkv"}]}]))
    assert make(Plex, odd_url).has(wanted)


def test_an_episode_in_the_trash_is_not_listed(odd: HTTPServer, odd_url: str) -> None:
    sections(odd, ("1", "/mnt/shows"))
    odd.expect_request(
        "/library/sections/1/all", query_string={**query(4), "sort": "addedAt:desc"}
    ).respond_with_json({"MediaContainer": {"size": 0}})
    show = {"ratingKey": "7", "guid": "plex://show/a", "Guid": [{"id": "tvdb://170551"}]}
    odd.expect_request(
        "/library/sections/1/all", query_string={**query(2), "title": "Pioneer One"}
    ).respond_with_json({"MediaContainer": {"size": 1, "Metadata": [show]}})
    leaves = [
        {"ratingKey": "8", "parentIndex": 1, "index": 1, "deletedAt": 5},
        {"ratingKey": "9", "parentIndex": 1, "index": 2},
    ]
    odd.expect_request("/library/metadata/7/allLeaves").respond_with_json(
        {"MediaContainer": {"Metadata": leaves}}
    )
    plex = make(Plex, odd_url)
    assert [plex.has(episode(number)) for number in (1, 2, 3)] == [False, True, False]


def query(kind: int) -> dict[str, str]:
    return {
        "type": str(kind),
        "includeGuids": "1",
        "X-Plex-Container-Start": "0",
        "X-Plex-Container-Size": "50",
    }


def jellyfin_rows(server: HTTPServer, *rows: dict[str, Any], path: str = "/Items") -> None:
    body = {"Items": rows, "TotalRecordCount": len(rows), "StartIndex": 0}
    server.expect_request(path).respond_with_json(body)


@pytest.mark.parametrize(
    ("row", "listed"),
    [
        ({"Id": "a", "ProviderIds": {"Tmdb": "45745"}}, True),
        ({"Id": "a", "ProviderIds": {"Imdb": "tt1727587"}, "LocationType": "FileSystem"}, True),
        ({"Id": "a", "Path": f"/mnt/{FOLDER}/{NAME}", "ProviderIds": {}}, True),
        ({"Id": "a", "ProviderIds": {"Tmdb": "4574"}, "Path": "/mnt/movies/x.mkv"}, False),
        ({"Id": "a", "ProviderIds": {"Tmdb": "45745"}, "LocationType": "Virtual"}, False),
    ],
    ids=["by id", "by another id", "by file", "another title", "virtual"],
)
def test_jellyfin_lists_a_film_by_its_file_or_its_ids(
    odd: HTTPServer,
    odd_url: str,
    row: dict[str, Any],
    listed: bool,  # noqa: FBT001
) -> None:
    jellyfin_rows(odd, {"Id": "other", "ProviderIds": {"Tmdb": "1"}}, row)
    assert make(Jellyfin, odd_url).has(film()) is listed


def test_a_missing_episode_that_jellyfin_shows_is_not_listed(odd: HTTPServer, odd_url: str) -> None:
    jellyfin_rows(odd, {"Id": "s", "ProviderIds": {"Tvdb": "170551"}})
    rows = [
        {"Id": "1", "ParentIndexNumber": 1, "IndexNumber": 1, "LocationType": "Virtual"},
        {
            "Id": "2",
            "ParentIndexNumber": 1,
            "IndexNumber": 2,
            "IndexNumberEnd": 3,
            "LocationType": "FileSystem",
        },
        {"Id": "4", "ParentIndexNumber": 0, "IndexNumber": 4, "LocationType": "FileSystem"},
    ]
    jellyfin_rows(odd, *rows, path="/Shows/s/Episodes")
    jellyfin = make(Jellyfin, odd_url)
    assert [jellyfin.has(episode(number)) for number in (1, 2, 3, 4)] == [False, True, True, False]


def test_a_title_without_a_year_is_searched_by_name(odd: HTTPServer, odd_url: str) -> None:
    jellyfin_rows(odd)
    make(Jellyfin, odd_url).has(replace(film(), year=None))
    asked = odd.log[0][0].args
    assert asked["searchTerm"] == "Sintel"
    assert "years" not in asked


def test_jellyfin_is_told_of_the_folder_alone(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/Library/Media/Updated", method="POST").respond_with_data("", 204)
    make(Jellyfin, odd_url, api_key="k+e y").refresh("/mnt/movies/X")
    asked = odd.log[0][0]
    assert json.loads(asked.get_data()) == {"Updates": [{"Path": "/mnt/movies/X", "UpdateType": "Created"}]}
    assert asked.headers["Authorization"] == 'MediaBrowser Token="k%2Be%20y"'


def test_behind_a_proxy_with_a_password_the_key_goes_into_the_query(odd: HTTPServer, odd_url: str) -> None:
    odd.expect_request("/System/Info").respond_with_json({})
    make(Jellyfin, odd_url.replace("http://", "http://u:p@"), api_key="abc").check()
    asked = odd.log[0][0]
    assert asked.args["ApiKey"] == "abc"
    assert asked.headers["Authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/mnt/rivulet/movies/X", "/data/movies/X"),
        ("/mnt/rivulet/shows/X", "/tv/X"),
        ("/mnt/rivulet", "/data"),
        ("/mnt/rivulet-two/X", "/mnt/rivulet-two/X"),
    ],
)
def test_the_longest_prefix_is_mapped(path: str, seen: str) -> None:
    assert mapped(path, {"/mnt/rivulet": "/data", "/mnt/rivulet/shows/": "/tv"}) == seen


def test_a_path_is_below_by_its_components() -> None:
    assert is_below("/tv/x", "/tv/")
    assert is_below("/tv", "/tv")
    assert is_below("/anything", "/")
    assert not is_below("/tv-uhd/x", "/tv")
