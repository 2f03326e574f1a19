"""One title: where it stands, why, and what can be done."""

from __future__ import annotations

from datetime import timedelta

import pytest

from program.db import confirmations, shelves, streams
from program.db.views import Decision, NewCompanion
from program.media.item import Contradiction, Ids
from program.media.release import Block
from tests.api.home import Home
from tests.db.library import NOW, episode, release, season, wish
from tests.web.visitor import Visitor

HASH = "a" * 40


def searched(home: Home, film: int, *, usable: bool = False) -> None:
    """Have a film searched: one release in a cinema, one of another year, and perhaps one that fits."""
    found = [
        release("b" * 40, refused="camera_copy", raw_title="Sintel.2010.CAM-X"),
        release("c" * 40, refused="wrong_year", raw_title="Sintel.1999.1080p-Y"),
    ]
    if usable:
        score = {"quality.webdl": 200, "audio.mono": -50}
        found.append(
            release(HASH, 150, raw_title="Sintel.2010.1080p.WEB-DL-Z", size=4_200_000_000, score=score)
        )
    home.library.find_releases(film, *found)
    data = {"considered": len(found), "refused": {"camera_copy": 1, "wrong_year": 1}, "troubles": []}
    facts = {"scraped_at": home.library.now, **({} if usable else {"scraped_times": 1})}
    story = Decision(
        film, "scrape", "found" if usable else "nothing_fits", f"{len(found)} releases seen.", data=data
    )
    home.library.commit(film, {film: facts}, story)


def test_a_finished_film_says_where_it_can_be_watched(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    home.library.complete(film, film)
    text = owner.open(f"/items/{film}").text
    assert "Sintel (2010)" in text
    assert "Ready Ready to watch · in the folder since just now" in text
    assert f"/mnt/rivulet/movies/{film}.mkv" in text


def test_a_file_is_told_where_its_owner_finds_it_with_what_stands_beside_it(
    home: Home, owner: Visitor
) -> None:
    film = home.library.film()
    subtitle = NewCompanion("en.srt", 5, "2", None, ".en.forced.srt", "en")
    entry_id = home.library.complete(film, film, companions=(subtitle,))
    with home.context.db.write() as tx:
        shelves.set_profiles(tx, {entry_id: ("kids",)})
    home.use(vfs={"profiles": {"kids": {"path": "/kids", "exclusive": True}}})
    text = owner.open(f"/items/{film}").text
    assert f"/mnt/rivulet/kids/movies/{film}.mkv" in text
    assert f"/mnt/rivulet/movies/{film}.mkv" not in text
    assert f"1 file beside it {film}.en.forced.srt" in text


def test_a_film_in_vain_says_what_was_seen_and_when_it_is_searched_again(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    searched(home, film)
    page = owner.open(f"/items/{film}")
    assert "Nothing fits yet: 2 releases seen, 1 copied in a cinema, 1 of other years" in page.text
    assert "next search in 30 min" in page.text
    assert "Sintel.2010.CAM-X It is camera_copy" in page.text
    assert "Search now" in page.text


def test_a_search_opens_to_its_releases_with_verdict_and_score(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    searched(home, film, usable=True)
    text = owner.open(f"/items/{film}").text
    assert "Sintel.2010.1080p.WEB-DL-Z Fits 1080p 4.2 GB" in text
    assert "150 points webdl +200, mono -50" in text
    assert text.index("WEB-DL-Z") < text.index("CAM-X")


def test_a_release_tells_what_every_rule_says(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    searched(home, film, usable=True)
    text = owner.open(f"/items/{film}/releases").text
    assert "wrong title: passes" in text
    assert "is from 1999" in text or "1999" in text.partition("Every rule")[2]


def test_a_refusal_of_a_provider_is_told_with_its_name(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    searched(home, film, usable=True)
    with home.library.db.write() as tx:
        streams.block(tx, film, HASH, Block(provider="vault", code="not_cached", sentence="is not held"), NOW)
    assert "Vault: is not held" in owner.open(f"/items/{film}").text


@pytest.mark.parametrize(
    ("facts", "word", "sentence"),
    [
        (
            {"failed_at": NOW, "failed_reason": "searched 20 times without a usable release"},
            "Gave up",
            "Searched 20 times",
        ),
        ({"paused_at": NOW}, "Paused", "Nothing is done with it until you resume it · paused just now"),
        (
            {"contradiction": Contradiction("TMDB calls it a series", with_metadata=True)},
            "Look here",
            "TMDB calls it a series",
        ),
        (
            {"hold_until": NOW + timedelta(hours=3), "hold_reason": "Torrentio asked to wait"},
            "Searching",
            "next search in 3 h",
        ),
    ],
)
def test_every_standstill_has_a_word_a_reason_and_a_date_or_an_action(
    home: Home, owner: Visitor, facts: dict[str, object], word: str, sentence: str
) -> None:
    film = home.library.film()
    home.library.commit(film, {film: facts})
    text = owner.open(f"/items/{film}").text
    assert word in text
    assert sentence in text


def test_a_film_that_a_media_server_does_not_list_says_how_often_it_was_asked(
    home: Home, owner: Visitor
) -> None:
    film = home.library.film()
    home.clock.advance(1)
    home.library.add_file(film)
    home.library.commit(film, {film: {"registered_at": home.library.now}})
    home.clock.advance(1)
    with home.library.db.write() as tx:
        for _ in range(3):
            confirmations.asked(tx, film, "vault", home.library.now, scanned=False)
    text = owner.open(f"/items/{film}").text
    assert "In library In the folder, waiting for Vault to list it, asked 3 times" in text


def test_a_series_shows_its_seasons_and_episodes_with_their_state(home: Home, owner: Visitor) -> None:
    show = home.library.show(
        season(1, 2), season(2, [episode(1), episode(2, aired_at=NOW + timedelta(days=3))])
    )
    first = home.library.item(show, 1, 1).id
    home.library.complete(show, first)
    page = owner.open(f"/items/{show}")
    assert "Season 1 1 / 2 1 of 2" in page.text
    assert "1 of 3 so far ready · next episode Sun 12:00" in page.text
    part = owner.open(page.seen.links["Part 1"])
    assert part.path == f"/items/{first}"
    assert "Pioneer One S01E01 · Part 1" in part.text
    season_page = owner.open(page.seen.links["Season 1: searches and files"])
    assert "Pioneer One Season 1" in season_page.text
    assert "Episode 2 still wanted" in season_page.text


def test_the_timeline_is_newest_first_and_draws_repetitions_together(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    for _ in range(3):
        home.clock.advance(60)
        home.library.commit(film, {}, Decision(film, "confirm", "waiting", "Plex does not list it yet"))
    home.library.commit(film, {}, Decision(film, "confirm", "completed", "Plex has it"))
    text = owner.open(f"/items/{film}").text
    assert text.index("Plex has it") < text.index("Plex does not list it yet")
    assert text.count("Plex does not list it yet") == 1
    assert "3 times" in text


def test_who_asked_is_named(home: Home, owner: Visitor) -> None:
    (accepted,) = home.library.ask(
        wish(requested_by="Ada", source="letterbox", external_id="7"), by_person=False
    )
    assert "Ada through Letterbox" in owner.open(f"/items/{accepted.item_id}").text


def test_providers_are_called_what_people_call_them(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    home.clock.advance(60)
    why = {"release": "Sintel.vault.mkv", "provider": "vault", "why": "vault: the torrent holds no video"}
    told = Decision(
        film,
        "download",
        "taken",
        "vault holds “Sintel.vault.mkv”; vault.url stays.",
        {"tried": [why]},
        provider="vault",
    )
    held = {"hold_until": home.clock.now() + timedelta(hours=1), "hold_reason": "vault: asked to wait"}
    with home.library.db.write(film) as tx:
        home.flow.commit(tx, film, {film: held}, [told])
    (step,) = [one for one in home.get(f"/items/{film}/timeline")["timeline"] if one["step"] == "download"]
    assert step["sentence"] == "Vault holds “Sintel.vault.mkv”; vault.url stays."
    assert (step["provider"], step["data"]["tried"][0]["provider"]) == ("vault", "vault")
    assert home.get(f"/items/{film}")["next_reason"] == "Vault: asked to wait"
    text = owner.open(f"/items/{film}").text
    assert "Sintel.vault.mkv Vault: the torrent holds no video" in text
    # What was written down by an older version reads no worse.
    home.library.commit(film, {}, Decision(film, "confirm", "waiting", "sample: no answer from vault."))
    assert "Sample Index: no answer from Vault." in owner.open(f"/items/{film}").text


def test_actions_work_without_scripts_and_say_what_came_of_them(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    page = owner.open(f"/items/{film}")
    paused = owner.send(page, f"/items/{film}/pause")
    assert "Sintel is paused." in paused.text
    assert paused.path == f"/items/{film}"
    resumed = owner.send(paused, f"/items/{film}/unpause")
    assert "Sintel goes on." in resumed.text
    retried = owner.send(resumed, f"/items/{film}/retry")
    assert "Sintel: 1 to be searched afresh." in retried.text
    assert "Started afresh by a person." in retried.text


def test_removing_says_first_what_will_happen(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    home.library.complete(film, film)
    page = owner.open(f"/items/{film}")
    sure = owner.open(page.seen.links["Remove…"])
    assert "Remove Sintel?" in sure.text
    assert "1 file disappears from the folder" in sure.text
    # A request that did not come from that page asks again.
    again = owner.post(f"/items/{film}/remove", {"csrf": owner.token()})
    assert "Remove Sintel?" in again.text
    after = owner.send(sure, "")
    assert after.path == "/"
    assert "Removed: Sintel." in after.text or "Sintel: removed." in after.text
    assert owner.open(f"/items/{film}").status == 404


def test_making_as_new_keeps_the_title(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    home.library.complete(film, film)
    after = owner.send(owner.open(f"/items/{film}/reset"), "")
    assert "Sintel is as new." in after.text
    assert "Made as new by a person." in after.text


def test_a_release_can_be_blocked_with_a_reason(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    searched(home, film, usable=True)
    after = owner.send(owner.open(f"/items/{film}"), f"/items/{film}/block/{HASH}", reason="bad sound")
    assert "the release is ruled out" in after.text
    assert "Blocked by you: bad sound" in owner.open(f"/items/{film}/releases").text


@pytest.mark.parametrize(
    "path", ["/items/999", "/items/0", f"/items/{2**63}", f"/items/{'9' * 40}", "/items/abc", "/items/-1"]
)
def test_what_is_not_there_is_said_on_a_page(owner: Visitor, path: str) -> None:
    page = owner.open(path)
    assert page.status == 404
    assert "Nothing is here" in page.text
    assert page.seen.links["To the library"] == "/"


@pytest.mark.parametrize("action", ["explode", "add", "retry_library", "blacklist"])
def test_only_the_actions_of_the_page_can_be_asked_for(home: Home, owner: Visitor, action: str) -> None:
    film = home.library.film()
    assert owner.post(f"/items/{film}/{action}", {"csrf": owner.token(), "sure": "yes"}).status == 404
    assert owner.open(f"/items/{film}/pause").status == 404


def test_ids_lead_to_the_pages_elsewhere(home: Home, owner: Visitor) -> None:
    film = home.library.film(Ids(tmdb="45745", imdb="tt1727587"))
    links = owner.open(f"/items/{film}").seen.links
    assert links["TMDB"] == "https://www.themoviedb.org/movie/45745"
    assert links["IMDb"] == "https://www.imdb.com/title/tt1727587/"
