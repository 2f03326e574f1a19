"""The cases about scheduling and state from public bug reports, told of made-up or openly licensed titles: one test for each.

What is emulated and what must be seen stands in `tests/cases/scheduling.jsonl`; each test reads its case from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from program.db import entries, items, torrents
from program.db.tables import MediaItem
from program.demo.launch import Servers, call
from program.events import ContentServiceRequested, Event, SubtitleRequested
from program.media.item import Ids, MediaType, States
from program.media.metadata import ContentRequest
from program.queues import JobSpec, JobState
from program.resume import resume
from program.services.flows import names
from program.services.flows.request_content_services import Poll
from program.services.plugin import Hook, Plugin
from tests.support.journal import Journal
from tests.support.pipeline import Pipeline
from tests.support.scrapers import FIRST, SCRAPERS, IndexServer, IndexSettings, hashes_of

SINTEL, SINTEL_IMDB = 45745, "tt1727587"
BUNNY = 10378
PIONEER, PIONEER_IMDB = 170551, "tt1748166"
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
CASES: Mapping[str, Any] = {
    row["id"]: row
    for row in map(
        json.loads, (Path(__file__).parents[1] / "cases" / "scheduling.jsonl").read_text().splitlines()
    )
}
FILM = {"language": "en", "country": "GB", "runtime": 90, "genres": ["Drama"], "overview": "-"}


class Captions(Plugin[IndexSettings]):
    """Asks its server for subtitles; knows no subtitle service."""

    key = "captions"
    title = "Captions"
    section = "subtitles"
    Settings = IndexSettings

    def check(self) -> None:
        """Work."""

    def hooks(self) -> Mapping[str, Hook]:
        """Answer for subtitles."""
        return {SubtitleRequested.type: self._ask}

    def _ask(self, _event: Event) -> tuple[object, ...]:
        self.http.get("/subtitles")
        return ()


@pytest.fixture
def index() -> Iterator[IndexServer]:
    with IndexServer() as server:
        yield server


def case(name: str) -> tuple[Any, Any]:
    """Return what is given and what is expected."""
    return CASES[name]["input"], CASES[name]["expected"]


def at_noon(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00+00:00").astimezone(UTC)


def add_film(servers: Servers, tmdb: int, title: str, year: int, **more: Any) -> None:
    """Put a film into the catalog, with one release that fits."""
    release = {
        "name": f"{title.replace(' ', '.')}.{year}.1080p.WEB-DL.AAC2.0.H.264-OPEN",
        "right": True,
        "shared_clip": True,
    }
    dates = {"premiere": f"{year}-01-01", "digital": f"{year}-02-01"}
    row = {
        "title": title,
        "year": year,
        "tmdb": tmdb,
        "imdb": f"tt{tmdb}",
        **dates,
        **FILM,
        "releases": [release],
        **more,
    }
    servers.control("/catalog", {"op": "add_film", "row": row})


def wish(pipeline: Pipeline, *, by_person: bool = True, **facts: Any) -> int | None:
    """Ask for something and return its item, None when it is not taken."""
    request = ContentRequest(**{"source": "api", "is_movie": True, **facts})
    found = pipeline.actions.add([request], by_person=by_person)
    return found[0].item_id if found else None


def test_every_case_about_scheduling_has_a_test() -> None:
    tested = {name.split("_")[1] for name in globals() if name.startswith("test_f")}
    assert tested == set(CASES)


def test_f02_a_later_step_that_fails_undoes_no_finished_title(
    make_pipeline: Callable[..., Pipeline], servers: Servers, index: IndexServer
) -> None:
    given, expected = case("f02")
    known = len(servers.control("/catalog")["films"])
    for number in range(given["items"] - known):
        add_film(servers, 9_100_000 + number, f"{FIRST[number]} Lantern", 2019)
    settings = index.settings()
    settings.pop("scraping.torrentio.enabled")
    pipeline = make_pipeline(
        plugin_classes=(Captions,),
        subtitles__captions__enabled=True,
        subtitles__captions__url=index.url,
        **settings,
    )
    index.limited = True
    known = [film["tmdb"] for film in servers.control("/catalog")["films"]]
    films = [film for tmdb in known if (film := wish(pipeline, ids=Ids(tmdb=str(tmdb)))) is not None]
    pipeline.run(for_=2 * MINUTE)
    assert len(films) == given["items"]
    assert pipeline.states_of(films) == {given["state"]}
    assert index.asked["/subtitles"] >= 1

    servers.control("/faults", {"provider": "*", "kind": "status", "status": 429, "retry_after": 60})
    pipeline.run(for_=2 * DAY, step=HOUR)
    completed = [film for film in films if pipeline.state(film) == "Completed"]
    assert len(completed) == expected["items_completed_afterwards"]
    assert len(pipeline.listing("/movies")) == expected["vfs_entries"]


def test_f03_known_releases_that_were_not_tried_are_tried(pipeline: Pipeline, servers: Servers) -> None:
    _, expected = case("f03")
    right = [
        row["name"]
        for row in servers.control("/catalog")["releases"]
        if row["imdb"] == SINTEL_IMDB and row["right"]
    ]
    servers.control("/catalog", {"op": "availability", "title": SINTEL_IMDB, "value": "infringing"})
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=SECOND)
    assert pipeline.state(film) == "Indexed", "the releases that there were are refused"
    servers.control(
        "/catalog",
        {
            "op": "add_release",
            "imdb": SINTEL_IMDB,
            "row": {"name": f"{right[0]}2", "seeders": 1, "right": True},
        },
    )
    down = servers.control("/faults", {"provider": "realdebrid", "kind": "status", "status": 503})
    pipeline.run(for_=35 * MINUTE, step=MINUTE)
    untried = pipeline.item(film).facts.active_stream
    assert pipeline.state(film) == "Scraped"
    searches = [row for row in pipeline.story(film) if row.step == "scrape"]

    servers.control(f"/faults/{down['id']}", method="DELETE")
    pipeline.run(for_=expected["minutes"] * MINUTE, step=MINUTE)
    assert pipeline.state(film) == "Completed"
    assert [row.data["infohash"] for row in pipeline.story(film) if row.outcome == "taken"] == [untried]
    assert [row for row in pipeline.story(film) if row.step == "scrape"] == searches, "without another search"


def test_f06_a_season_is_out_once_one_episode_is_and_keeps_its_number(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    given, expected = case("f06")
    season = given["season"]
    for number, aired in given["air_dates"].items():
        change = {"op": "air_date", "tvdb": PIONEER, "season": season, "episode": int(number), "aired": aired}
        servers.control("/catalog", change)
    pipeline = make_pipeline(start=at_noon(given["now"]))
    journal = Journal(servers, pipeline)
    show = pipeline.add_show(PIONEER, seasons=(season,))
    pipeline.run(for_=MINUTE)
    journal.look()
    assert pipeline.season(show, season).last_state.value == expected["season_state"]
    searched = [f"/series/{PIONEER_IMDB}:{season}:{number}." for season, number in expected["searched"]]
    assert all(journal.of("torrentio", path) for path in searched)
    assert len(journal.of("torrentio")) == len(searched)
    first = pipeline.episode(show, season, 1)
    with pipeline.db.read() as tx:
        (entry,) = entries.for_items(tx, [first.id])
    assert expected["stored"] in entry.path


@pytest.mark.parametrize("place", range(3), ids=[film["name"] for film in CASES["f08"]["input"]["films"]])
def test_f08_a_film_is_searched_from_the_day_it_can_be_had(
    make_pipeline: Callable[..., Pipeline], servers: Servers, place: int
) -> None:
    given, expected = case("f08")
    film = given["films"][place]
    dates = {"op": "film_dates", "tmdb": BUNNY, "premiere": film["premiere"], "digital": film["digital"]}
    servers.control("/catalog", dates)
    pipeline = make_pipeline(start=at_noon(film["now"]))
    journal = Journal(servers, pipeline)
    item = pipeline.add_movie(BUNNY)
    pipeline.run(for_=MINUTE)
    journal.look()
    assert bool(journal.of("torrentio")) is expected["searched"][place]
    assert pipeline.state(item) == "Unreleased"
    out = datetime.fromisoformat(f"{expected['searched_from'][place]}T00:00:00+00:00")
    pipeline.run(for_=out - HOUR - pipeline.clock.now(), step=DAY)
    journal.look()
    assert not journal.of("torrentio"), "not the day before"
    pipeline.run(for_=2 * HOUR, step=10 * MINUTE)
    journal.look()
    assert journal.of("torrentio")


def test_f10_one_film_of_two_lists_is_one_title_and_one_download(
    pipeline: Pipeline, servers: Servers
) -> None:
    given, expected = case("f10")
    for source in ("lista", "listb"):
        ids = Ids(**given[f"list_{source[-1]}"])
        wish(pipeline, by_person=False, source=source, external_id="1", ids=ids)
    pipeline.run(for_=MINUTE)
    rows = pipeline.rows()
    assert len(rows) == expected["items"]
    assert len(servers.control("/account")["torrents"]) == expected["downloads"]
    with pipeline.db.read() as tx:
        detail = items.detail(tx, rows[0].id)
    assert detail is not None
    assert sorted(one.source for one in detail.requests) == expected["requested_by"]


def test_f11_equal_numbers_of_different_kinds_are_different_titles(pipeline: Pipeline) -> None:
    _, expected = case("f11")
    show = pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=MINUTE)
    before = pipeline.episode(show, 1, 1)
    request = ContentRequest(source="api", is_movie=False, ids=Ids(tmdb=str(before.id)))
    (result,) = pipeline.actions.add([request])
    assert "is added" in result.sentence, expected["result"]
    assert result.item_id not in {node.item.id for node in pipeline.tree(show).walk()}
    pipeline.run(for_=MINUTE)
    assert pipeline.episode(show, 1, 1) == before, expected["existing_item"]


def test_f12_what_was_asked_for_as_a_film_becomes_the_series_it_is(pipeline: Pipeline) -> None:
    given, expected = case("f12")
    item = wish(pipeline, ids=Ids(imdb=given["request"]["imdb"]))
    assert item is not None
    pipeline.run(for_=MINUTE)
    assert pipeline.item(item).type.value == expected["type"]
    assert pipeline.tree(item).item.title == "Pioneer One"
    assert pipeline.season(item, 1).last_state.value == "Completed"
    assert "other_kind" in {row.outcome for row in pipeline.story(item)}
    again = wish(pipeline, ids=Ids(imdb=given["request"]["imdb"]))
    pipeline.run(for_=MINUTE)
    assert again == item


def test_f12_as_a_film_and_as_a_series_it_is_one_title(pipeline: Pipeline) -> None:
    show = pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=MINUTE)
    wish(pipeline, ids=Ids(imdb=PIONEER_IMDB))
    pipeline.run(for_=MINUTE)
    assert [row.id for row in pipeline.rows(types=frozenset({MediaType.MOVIE, MediaType.SHOW}))] == [show]
    assert pipeline.season(show, 1).last_state.value == "Completed", "the wish for all of it counts"


def test_f12_a_series_that_is_a_film_becomes_it(pipeline: Pipeline) -> None:
    item = wish(pipeline, is_movie=False, ids=Ids(imdb=SINTEL_IMDB))
    assert item is not None
    pipeline.run(for_=MINUTE)
    assert (pipeline.item(item).type, pipeline.state(item)) == (MediaType.MOVIE, "Completed")


def test_f13_a_film_without_an_imdb_id_is_searched_by_its_name(
    make_pipeline: Callable[..., Pipeline], servers: Servers, index: IndexServer
) -> None:
    given, _ = case("f13")
    asked = given["request"]
    row = {
        "title": asked["title"],
        "year": asked["year"],
        "tmdb": asked["tmdb"],
        "imdb": asked["imdb"],
        **FILM,
    }
    servers.control(
        "/catalog",
        {
            "op": "add_film",
            "row": row | {"premiere": f"{asked['year']}-01-01", "digital": f"{asked['year']}-02-01"},
        },
    )
    settings = index.settings("honest") | {"scraping.torrentio.enabled": True}
    pipeline = make_pipeline(plugin_classes=SCRAPERS, **settings)
    journal = Journal(servers, pipeline)
    film = wish(pipeline, ids=Ids(tmdb=str(asked["tmdb"])))
    assert film is not None
    pipeline.run(for_=SECOND)
    journal.look()
    assert not journal.of("torrentio"), "it can only be asked by IMDb id"
    assert index.asked["/honest"] >= 1
    search = next(row for row in pipeline.story(film) if row.step == "scrape")
    assert (search.outcome, search.data["troubles"]) == ("found", [])
    assert set(hashes_of(asked["title"], asked["year"]))
    assert not pipeline.actions.add([ContentRequest(source="api", is_movie=True, ids=Ids())]), (
        "without any id it is not taken"
    )


def test_f14_what_a_person_removed_stays_removed_whatever_the_list_says(
    pipeline: Pipeline, servers: Servers
) -> None:
    _, expected = case("f14")
    first = servers.control("/catalog", {"op": "request", "media_type": "movie", "tmdb": SINTEL})
    poll(pipeline)
    pipeline.run(for_=MINUTE)
    (row,) = pipeline.rows()
    assert row.last_state is States.Completed
    servers.control("/faults", {"provider": "overseerr", "kind": "status", "status": 500, "count": 1})
    pipeline.actions.remove([row.id])
    for _ in range(3):
        poll(pipeline)
        pipeline.run(for_=5 * MINUTE, step=MINUTE)
    assert pipeline.rows() == (), expected["item"]
    assert pipeline.listing("/movies") == [], expected["vfs_entry"]
    with pipeline.db.read() as tx:
        left = [*entries.registered(tx), *torrents.half_made(tx)]
        rows = tx.connection.execute(select(MediaItem.id)).all()
    assert len(left) + len(rows) == expected["orphans"]

    # Another request in between, since a number that was the last is given out again by the stand-in.
    servers.control("/catalog", {"op": "request", "media_type": "movie", "tmdb": BUNNY, "status": "pending"})
    app = servers.ready["overseerr"]
    call("DELETE", f"{app['url']}/api/v1/request/{first['id']}", headers={"X-Api-Key": app["key"]})
    second = servers.control("/catalog", {"op": "request", "media_type": "movie", "tmdb": SINTEL})
    assert second["id"] != first["id"]
    poll(pipeline)
    pipeline.run(for_=MINUTE)
    assert [one.last_state for one in pipeline.rows()] == [States.Completed], expected[
        "new request for the same title"
    ]


def test_f15_a_season_that_only_says_completed_is_seen_through_at_a_start(pipeline: Pipeline) -> None:
    given, expected = case("f15")
    show = pipeline.add_show(PIONEER, seasons=(given["season"],))
    pipeline.run(for_=MINUTE)
    assert pipeline.season(show, 1).last_state is States.Completed
    lost = [pipeline.episode(show, 1, number).id for number in given["without_file"]]
    facts = dict.fromkeys(("registered_at", "confirmed_at", "confirmed_by", "post_processed_at"))
    with pipeline.db.write(show) as tx:
        for item_id in lost:
            entries.remove(tx, [entry.id for entry in entries.for_items(tx, [item_id])])
        rows = update(MediaItem).where(MediaItem.id.in_(lost))
        tx.connection.execute(rows.values(**facts, last_state=States.Indexed))
    assert pipeline.season(show, 1).last_state is States.Completed, "as the faulty database says"
    resume(pipeline.ctx, lambda: False)
    assert pipeline.season(show, 1).last_state is not States.Completed, expected["season_state_after_start"]
    pipeline.run(for_=5 * MINUTE)
    assert pipeline.season(show, 1).last_state is States.Completed, "and the lost ones are fetched"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_f15_a_retry_asks_somebody_or_moves_its_date(pipeline: Pipeline, servers: Servers) -> None:
    given, _ = case("f15")
    servers.control("/catalog", {"op": "withdraw", "title": SINTEL_IMDB})
    wishes = [
        ContentRequest(source="api", is_movie=True, ids=Ids(tmdb=str(9_500_000 + n)))
        for n in range(given["items_in_retry"])
    ]
    films = [result.item_id for result in pipeline.actions.add(wishes) if result.item_id is not None]
    journal = Journal(servers, pipeline)
    pipeline.run_until(
        lambda: (
            all(pipeline.engine.counts()[queue][JobState.ACTIVE] == 0 for queue in names.ITEM_QUEUES)
            and is_dated(pipeline, films)
        ),
        within=HOUR,
        step=MINUTE,
    )
    journal.look()
    asked = len(journal.of("tmdb"))
    assert asked == len(films), "each was looked up, once"
    jobs_before = ended(pipeline)
    for _ in range(30):
        pipeline.clock.advance(MINUTE)
        pipeline.run()
    journal.look()
    looked_up = len(journal.of("tmdb")) - asked
    jobs = ended(pipeline) - jobs_before
    assert jobs == looked_up, "no job that did nothing"


def ended(pipeline: Pipeline) -> int:
    """Return how many item jobs have ended."""
    counts = pipeline.engine.counts()
    return sum(
        counts[queue][JobState.COMPLETED] + counts[queue][JobState.FAILED] for queue in names.ITEM_QUEUES
    )


def is_dated(pipeline: Pipeline, films: list[int]) -> bool:
    """Return whether all these have a date in the future."""
    with pipeline.db.read() as tx:
        return not items.due(tx, pipeline.clock.now(), len(films))


def poll(pipeline: Pipeline) -> None:
    """Have the request app asked, as the schedule does."""
    key = "overseerr"
    assert key in pipeline.registry.hooks_for(ContentServiceRequested.type)
    pipeline.engine.add(
        JobSpec(
            queue=names.REQUEST_CONTENT_SERVICES,
            name=key,
            data=Poll(key),
            dedup_id=names.content_service_id(key),
        )
    )
    pipeline.run()
