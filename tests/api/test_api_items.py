"""Reading the library: lists, one item, its story, its releases."""

from __future__ import annotations

import pytest

from program.db import entries, shelves, streams
from program.db.views import Decision, NewCompanion
from program.library import tree_file
from program.media.item import Ids
from program.media.release import Block
from program.vfs.tree import TreeFile
from tests.api.home import Home
from tests.db.library import NOW, release, season, wish


def titles(page: dict[str, list[dict[str, object]]]) -> list[object]:
    return [item["title"] for item in page["items"]]


def test_an_empty_library_is_an_empty_page(home: Home) -> None:
    assert home.get("/items") == {
        "success": True,
        "items": [],
        "page": 1,
        "limit": 24,
        "total_items": 0,
        "total_pages": 0,
    }


def test_a_film_is_listed_with_all_that_a_grid_needs(home: Home) -> None:
    film = home.library.film()
    (item,) = home.get("/items?type=movie")["items"]
    assert item["id"] == film
    assert item["type"] == "movie"
    assert item["title"] == "Sintel"
    assert item["tmdb_id"] == "45745"
    assert item["tvdb_id"] is None
    assert item["year"] == 2010
    assert item["state"] == item["last_state"] == "Indexed"
    assert item["scraped_times"] == 0
    assert item["aired_at"].endswith("Z")
    assert item["next_attempt_at"] == "2031-05-01T12:00:00.000Z"
    assert item["next_reason"]


def test_an_episode_names_its_show_and_the_shows_ids(home: Home) -> None:
    home.library.show(season(1))
    item = home.get("/items?type=episode&sort=title_asc")["items"][0]
    assert (item["parent_title"], item["season_number"], item["episode_number"]) == ("Pioneer One", 1, 1)
    assert item["parent_ids"] == {"imdb_id": None, "tmdb_id": None, "tvdb_id": "170551"}


def test_a_list_shows_what_a_person_or_a_list_asked_for(home: Home) -> None:
    ada = wish(Ids(tmdb="45745"), source="overseerr", requested_by="ada", external_id="1")
    bob = wish(Ids(tmdb="133701"), source="overseerr", requested_by="bob", external_id="2")
    watched = wish(Ids(tmdb="10378"), source="watchlist", external_id="3")
    home.library.ask(ada, bob, watched)

    def listed(query: str) -> list[str]:
        return sorted(one["tmdb_id"] for one in home.get(f"/items?{query}")["items"])

    assert listed("requested_by=ada") == ["45745"]
    assert listed("requested_by=ada&requested_by=bob") == ["133701", "45745"]
    assert listed("source=watchlist") == ["10378"]
    assert listed("source=watchlist&requested_by=ada") == []
    first, *_ = home.get("/items?sort=date_asc")["items"]
    assert listed(f"ids={first['id']}") == [first["tmdb_id"]]
    assert home.get("/items?source=overseerr&limit=1")["total_items"] == 2
    assert home.refused("GET", "/items?ids=0")[0] == 422


def test_states_can_be_named_by_either_word_and_repeated(home: Home) -> None:
    home.library.film()
    home.library.ask(wish(Ids(tmdb="133701")))
    assert home.get("/items?state=Indexed")["total_items"] == 1
    assert home.get("/items?states=Indexed&states=Requested")["total_items"] == 2
    assert home.get("/items?state=Failed")["total_items"] == 0
    assert home.get("/items?states=All")["total_items"] == 2


def test_types_are_filtered_and_anime_is_a_type(home: Home) -> None:
    home.library.show(season(1, 3))
    assert home.get("/items?type=season&type=episode")["total_items"] == 4
    assert home.get("/items?type=anime")["total_items"] == 0
    assert home.get("/items")["total_items"] == 5


def test_a_search_finds_by_title_and_by_id(home: Home) -> None:
    home.library.film()
    assert titles(home.get("/items?search=sint")) == ["Sintel"]
    assert titles(home.get("/items?search=45745")) == ["Sintel"]
    assert titles(home.get("/items?search=%25")) == []


def test_pages_are_cut_and_sorted(home: Home) -> None:
    for number, title in enumerate(("Charge", "Agent 327", "Big Buck Bunny"), start=100):
        home.library.clock.advance(1)
        home.library.film(Ids(tmdb=str(number)), title)
    page = home.get("/items?sort=title_asc&limit=2&page=1")
    assert titles(page) == ["Agent 327", "Big Buck Bunny"]
    assert (page["total_items"], page["total_pages"], page["limit"]) == (3, 2, 2)
    assert titles(home.get("/items?sort=title_asc&limit=2&page=2")) == ["Charge"]
    assert (
        titles(home.get("/items?sort=date_desc&limit=15&page=1&type=movie&type=show"))[0] == "Big Buck Bunny"
    )


def test_one_item_is_found_by_our_id_and_by_a_services(home: Home) -> None:
    film, show = home.library.film(), home.library.show(season(1))
    assert home.get(f"/items/{film}")["title"] == "Sintel"
    assert home.get("/items/45745?media_type=movie&extended=true")["id"] == film
    assert home.get("/items/170551?media_type=tv")["id"] == show
    assert home.get(f"/items/{film}?media_type=item")["tmdb_id"] == "45745"


def test_a_show_has_its_seasons_episodes_and_their_files(home: Home) -> None:
    show = home.library.show(season(1))
    episode = home.library.item(show, 1, 1).id
    home.library.complete(show, episode, name="s01e01.mkv", size=12_345)
    body = home.get("/items/170551?media_type=tv&extended=true")
    (first,) = body["seasons"]
    assert first["season_number"] == 1
    assert [found["episode_number"] for found in first["episodes"]] == [1, 2]
    done = first["episodes"][0]
    assert done["state"] == "Completed"
    assert done["filesystem_entry"]["file_size"] == 12_345
    assert done["filesystem_entry"]["available_in_vfs"] is True
    assert done["media_metadata"]["filename"] == "s01e01.mkv"
    assert done["media_metadata"]["audio_tracks"] == []
    assert first["episodes"][1]["filesystem_entry"] is None
    assert home.get("/items/170551?media_type=tv")["seasons"] is None


def test_a_season_has_its_episodes(home: Home) -> None:
    show = home.library.show(season(1))
    body = home.get(f"/items/{home.library.item(show, 1).id}?extended=true")
    assert (body["season_number"], body["parent_title"]) == (1, "Pioneer One")
    assert [found["number"] for found in body["episodes"]] == [1, 2]


def test_who_asked_is_told(home: Home) -> None:
    home.library.ask(wish(requested_by="kim", source="letterbox", external_id="7"))
    body = home.get("/items/45745?media_type=movie")
    assert body["requested_by"] == "kim"
    (request,) = body["requests"]
    assert (request["source"], request["external_id"], request["seasons"]) == ("letterbox", "7", None)


def test_the_story_of_an_item_is_told_in_order_with_what_comes_next(home: Home) -> None:
    film = home.library.film()
    home.library.commit(film, {}, Decision(film, "scrape", "found", "3 releases, 1 fits", {"seen": 3}, ms=12))
    home.library.commit(film, {}, Decision(film, "download", "refused", "Not held", provider="vault"))
    body = home.get(f"/items/{film}/timeline")
    assert body["state"] == "Indexed"
    assert body["next_attempt_at"]
    assert [row["sentence"] for row in body["timeline"]][-2:] == ["3 releases, 1 fits", "Not held"]
    found = next(row for row in body["timeline"] if row["step"] == "scrape")
    assert (found["outcome"], found["data"], found["ms"], found["item_id"]) == (
        "found",
        {"seen": 3},
        12,
        film,
    )
    assert [row["sentence"] for row in home.get(f"/items/{film}/timeline?limit=1")["timeline"]] == [
        "Not held"
    ]


def test_a_show_can_tell_the_story_of_its_episodes_too(home: Home) -> None:
    show = home.library.show(season(1))
    episode = home.library.item(show, 1, 2).id
    home.library.commit(show, {}, Decision(episode, "scrape", "none", "Nothing found"))
    own = home.get(f"/items/{show}/timeline")["timeline"]
    every = home.get(f"/items/{show}/timeline?descendants=true")["timeline"]
    assert "Nothing found" not in [row["sentence"] for row in own]
    assert "Nothing found" in [row["sentence"] for row in every]


def test_the_releases_of_an_item_say_why_they_are_taken_or_not(home: Home) -> None:
    film = home.library.film()
    good, cam, blocked = (letter * 40 for letter in "abc")
    home.library.find_releases(
        film,
        release(good, 900, cached_at=("vault",), score={"resolution": 900}),
        release(cam, 0, refused="trash"),
        release(blocked, 800),
    )
    with home.library.db.write() as tx:
        refusal = Block(provider="vault", code="not_cached", sentence="not held there")
        streams.block(tx, film, blocked, refusal, NOW)
        streams.set_active(tx, film, good)
        streams.blacklist(tx, film, cam, "wrong film")
    body = home.get(f"/items/{film}/streams")
    assert [found["infohash"] for found in body["streams"]] == [good, blocked]
    first, second = body["streams"]
    assert (first["rank"], first["score"], first["is_cached"], first["is_active"]) == (
        900,
        {"resolution": 900},
        True,
        True,
    )
    assert second["blocks"][0]["sentence"] == "not held there"
    (refused,) = body["blacklisted_streams"]
    assert (refused["rejection"], refused["blacklisted"]) == ("it is trash", "wrong film")


@pytest.mark.parametrize("path", ["/items/4711", "/items/4711/timeline", "/items/4711/streams"])
def test_an_item_that_does_not_exist_is_404_with_its_id(home: Home, path: str) -> None:
    assert home.refused("GET", path) == (404, "no item has the id 4711")


def test_a_title_that_is_not_in_the_library_is_404(home: Home) -> None:
    assert home.refused("GET", "/items/5?media_type=movie") == (404, "no film has the id 5")
    assert home.refused("GET", "/items/5?media_type=tv") == (404, "no show has the id 5")
    assert home.refused("GET", "/items/tt1727587?media_type=movie") == (404, "no film has the id tt1727587")


EXCLUSIVE = {"kids": {"path": "/kids", "exclusive": True, "rules": {"max_year": 2020}}}


def test_the_files_of_a_title_are_where_the_folder_has_them(home: Home) -> None:
    film = home.library.film()
    subtitle = NewCompanion("en.srt", 5, "2", None, ".en.srt", "en")
    entry_id = home.library.complete(film, film, companions=(subtitle,))
    with home.context.db.write() as tx:
        shelves.set_profiles(tx, {entry_id: ("kids",)})
    home.use(vfs={"mode": "auto", "mount_path": "/mnt/films", "profiles": EXCLUSIVE})

    (file,) = home.get(f"/items/{film}?extended=true")["files"]
    assert (file["path"], file["places"]) == (f"/kids/movies/{film}.mkv", [f"/dav/kids/movies/{film}.mkv"])
    assert [(one["path"], one["language"]) for one in file["beside"]] == [
        (f"/kids/movies/{film}.en.srt", "en")
    ]

    # The tree knows better: another file has that name there.
    with home.context.db.read() as tx:
        (standing,) = entries.registered(tx)
    mine, other = tree_file(standing, ("/kids",)), TreeFile(standing.path, -1, 1, NOW, roots=("/kids",))
    home.vfs.start([mine, other])
    home.use(vfs={"mode": "fuse", "mount_path": "/mnt/films", "profiles": EXCLUSIVE})
    (file,) = home.get(f"/items/{film}?extended=true")["files"]
    assert file["places"] == [f"/mnt/films/kids/movies/{film} (2).mkv"]

    home.use(vfs={"mode": "strm", "strm_path": "/srv/strm", "profiles": EXCLUSIVE})
    (file,) = home.get(f"/items/{film}?extended=true")["files"]
    assert file["path"] == f"/kids/movies/{film} (2).strm"
    assert file["places"] == [f"/srv/strm/kids/movies/{film} (2).strm"]
    assert file["beside"] == []
