"""Where a file's bytes come from: a second provider stands in, a lost torrent is had again, a long outage changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from program import housekeeping
from program.db import entries, sources
from program.demo.launch import Servers
from program.media.entry import Entry, Link
from program.queues import JobSpec, JobView
from program.services.flows import names
from program.services.flows.request_stream_link import LinkWish
from tests.support.meanwhile import change_settings
from tests.support.pipeline import Pipeline

SINTEL = 45745
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
# What is asked of whom is the same on every database.
ON_ONE_DATABASE = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
BOTH = {"downloaders__alldebrid__enabled": True, "downloaders__order": ["realdebrid", "alldebrid"]}


@pytest.fixture
def both(make_pipeline: Callable[..., Pipeline], servers: Servers) -> Pipeline:
    # The stand-in counts seconds of its own, in which hours of the test pass.
    servers.control("/options", {"alldebrid_rate_per_second": 0})
    return make_pipeline(**BOTH)


def completed(pipeline: Pipeline) -> tuple[int, Entry]:
    """Bring Sintel into the library; return its item id and its file."""
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=10 * timedelta(seconds=1))
    assert pipeline.state(film) == "Completed"
    return film, file_of(pipeline, film)


def file_of(pipeline: Pipeline, film: int) -> Entry:
    with pipeline.db.read() as tx:
        return entries.for_items(tx, [film])[0]


def pass_time(pipeline: Pipeline, span: timedelta, step: timedelta = 5 * MINUTE) -> None:
    """Let time pass as the clockwork of the program sees it."""
    until = pipeline.clock.now() + span
    while pipeline.clock.now() < until:
        housekeeping.look_after_files(pipeline.ctx)
        pipeline.run(for_=step, step=step)


def read(pipeline: Pipeline, entry: Entry, dead_url: str | None = None) -> Link | str:
    """Ask for an address as a reader does; return it, or why there is none."""
    ended: list[JobView] = []
    pipeline.engine.on_finished(ended.append)
    wish = LinkWish(entry.id, dead_url)
    pipeline.engine.add(JobSpec(queue=names.REQUEST_STREAM_LINK, name="read", data=wish, attempts=1))
    pipeline.engine.run_until_idle()
    job = next(job for job in ended if job.queue == names.REQUEST_STREAM_LINK)
    return job.value if isinstance(job.value, Link) else str(job.error)


def lose(servers: Servers) -> None:
    """Take every torrent off the Real-Debrid account, as if the service had removed it."""
    for torrent in servers.control("/account")["torrents"]:
        servers.control("/account/remove", {"id": torrent["id"]})


def steps(pipeline: Pipeline, film: int, step: str = "repair") -> list[str]:
    return [row.outcome for row in pipeline.story(film) if row.step == step]


def snapshot(pipeline: Pipeline) -> dict[str, list[Any]]:
    """Return the rows of titles and files."""
    tables = ("media_item", "media_entry", "entry_item", "stream", "stream_block")
    with pipeline.db.read() as tx:
        return {
            table: [tuple(row) for row in tx.connection.execute(text(f"SELECT * FROM {table} ORDER BY 1"))]  # noqa: S608
            for table in tables
        }


# --- the second source


def test_a_provider_that_is_switched_off_while_it_is_asked_leaves_the_file_to_the_other(
    both: Pipeline, servers: Servers
) -> None:
    _, entry = completed(both)
    pass_time(both, 15 * MINUTE)
    ended: list[JobView] = []
    both.engine.on_finished(ended.append)
    wish = JobSpec(queue=names.REQUEST_STREAM_LINK, name="read", data=LinkWish(entry.id), attempts=1)
    both.engine.add(wish)
    both.engine.run_one()
    change_settings(both, downloaders__realdebrid__enabled=False)
    both.engine.run_until_idle()
    (link,) = [job.value for job in ended if job.queue == names.REQUEST_STREAM_LINK]
    assert isinstance(link, Link)
    assert link.provider == "alldebrid"


def test_a_source_that_comes_while_another_is_asked_does_not_get_its_address(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    pipeline = make_pipeline(**{**BOTH, "downloaders__order": ["alldebrid", "realdebrid"]})
    for release in servers.control("/catalog")["releases"]:
        servers.control("/catalog", {"op": "lack", "provider": "alldebrid", "release": release["name"]})
    film, entry = completed(pipeline)
    assert [source.provider for source in entry.sources] == ["realdebrid"]
    wish = JobSpec(queue=names.REQUEST_STREAM_LINK, name="read", data=LinkWish(entry.id), attempts=1)
    pipeline.engine.add(wish)
    pipeline.engine.run_one()
    with pipeline.db.write() as tx:
        sources.put(tx, entry.id, sources.NewSource("alldebrid", "1", "1"))
    pipeline.engine.run_until_idle()
    urls = {source.provider: source.url for source in file_of(pipeline, film).sources}
    assert urls["alldebrid"] is None
    assert urls["realdebrid"] is not None


def test_the_other_provider_is_asked_in_the_background_and_becomes_a_second_source(
    both: Pipeline, servers: Servers
) -> None:
    film, _ = completed(both)
    pass_time(both, 15 * MINUTE, step=15 * MINUTE)
    assert [source.provider for source in file_of(both, film).sources] == ["realdebrid", "alldebrid"]
    [told] = [row for row in both.story(film) if row.step == "second_source"]
    assert told.provider == "alldebrid"


@ON_ONE_DATABASE
def test_each_provider_is_asked_once_and_a_miss_leaves_nothing_on_its_account(
    both: Pipeline, servers: Servers
) -> None:
    for release in servers.control("/catalog")["releases"]:
        servers.control("/catalog", {"op": "lack", "provider": "alldebrid", "release": release["name"]})
    film, _ = completed(both)
    pass_time(both, HOUR, step=20 * MINUTE)
    assert servers.control("/magnets")["magnets"] == []
    asked = [row["path"] for row in servers.control("/requests?provider=alldebrid")["requests"]]
    assert sum("magnet/upload" in path for path in asked) == 1
    assert [source.provider for source in file_of(both, film).sources] == ["realdebrid"]


def test_a_provider_that_tells_what_it_holds_is_asked_for_many_at_once_and_adds_only_those(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    order = ["realdebrid", "torbox"]
    pipeline = make_pipeline(downloaders__torbox__enabled=True, downloaders__order=order)
    servers.control("/faults", {"provider": "torbox", "kind": "status", "status": 503})
    film, _ = completed(pipeline)
    other = pipeline.add_movie(10378)
    pipeline.run(for_=MINUTE)
    lacking = file_of(pipeline, other).infohash
    servers.control("/catalog", {"op": "lack", "provider": "torbox", "release": lacking})
    servers.control("/faults", method="DELETE")
    before = len(servers.control("/requests?provider=torbox")["requests"])
    pass_time(pipeline, HOUR, step=20 * MINUTE)
    rows = servers.control("/requests?provider=torbox")["requests"][before:]
    asked = [str(row["path"]).partition("?")[0].rpartition("/")[2] for row in rows if row["status"] == 200]
    assert (asked.count("checkcached"), asked.count("createtorrent")) == (2, 1), "both at once, then the one"
    assert [source.provider for source in file_of(pipeline, film).sources] == ["realdebrid", "torbox"]
    assert [source.provider for source in file_of(pipeline, other).sources] == ["realdebrid"]
    assert len(servers.control("/magnets?provider=torbox")["magnets"]) == 1


@ON_ONE_DATABASE
def test_a_provider_that_has_just_refused_a_torrent_is_not_asked_for_it_again(
    both: Pipeline, servers: Servers
) -> None:
    for release in servers.control("/catalog")["releases"]:
        servers.control("/catalog", {"op": "lack", "provider": "realdebrid", "release": release["name"]})
    _, entry = completed(both)
    assert [source.provider for source in entry.sources] == ["alldebrid"]
    asked = servers.control("/counts")["realdebrid"]
    pass_time(both, HOUR, step=20 * MINUTE)
    assert servers.control("/counts")["realdebrid"] == asked


@ON_ONE_DATABASE
def test_a_person_can_switch_the_second_source_off(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    pipeline = make_pipeline(**BOTH, downloaders__second_sources=False)
    completed(pipeline)
    pass_time(pipeline, HOUR, step=20 * MINUTE)
    assert servers.control("/counts").get("alldebrid", 0) == 0


@ON_ONE_DATABASE
def test_with_one_provider_nobody_else_is_asked(pipeline: Pipeline, servers: Servers) -> None:
    completed(pipeline)
    before = servers.control("/counts")["realdebrid"]
    pass_time(pipeline, HOUR, step=20 * MINUTE)
    assert servers.control("/counts")["realdebrid"] == before


@ON_ONE_DATABASE
def test_a_reader_gets_an_address_of_the_second_source_when_the_first_is_down(
    both: Pipeline, servers: Servers
) -> None:
    _, entry = completed(both)
    pass_time(both, 15 * MINUTE, step=15 * MINUTE)
    servers.control("/faults", {"provider": "realdebrid", "kind": "reset"})
    link = read(both, entry)
    assert isinstance(link, Link)
    assert link.provider == "alldebrid"


# --- mending


def test_a_torrent_that_the_provider_lost_is_added_again(pipeline: Pipeline, servers: Servers) -> None:
    film, entry = completed(pipeline)
    lose(servers)
    assert "not on the account any more" in str(read(pipeline, entry))
    assert steps(pipeline, film) == ["lost", "added_again"]
    link = read(pipeline, file_of(pipeline, film))
    assert isinstance(link, Link)
    assert pipeline.state(film) == "Completed"
    assert file_of(pipeline, film).mend_at is None


def test_a_torrent_that_the_provider_does_not_take_again_is_read_from_another_one(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    both = make_pipeline(**BOTH, downloaders__second_sources=False)
    film, entry = completed(both)
    lose(servers)
    servers.control("/catalog", {"op": "lack", "provider": "realdebrid", "release": entry.infohash})
    read(both, entry)
    assert steps(both, film) == ["lost", "refused", "other_provider"]
    link = read(both, file_of(both, film))
    assert isinstance(link, Link)
    assert link.provider == "alldebrid"
    assert both.state(film) == "Completed"


@pytest.mark.slow
def test_a_file_that_nobody_gives_any_more_is_replaced_by_another_release_after_an_hour_of_no(
    both: Pipeline, servers: Servers
) -> None:
    film, entry = completed(both)
    lose(servers)
    servers.control("/catalog", {"op": "availability", "release": entry.infohash, "value": "uncached"})
    read(both, entry)
    pass_time(both, 50 * MINUTE)
    assert file_of(both, film).id == entry.id
    assert both.state(film) == "Completed"
    assert set(steps(both, film)) == {"lost", "refused", "waiting"}
    pass_time(both, 30 * MINUTE)
    assert both.state(film) == "Completed"
    assert "given_up" in steps(both, film)
    new = file_of(both, film)
    assert new.infohash != entry.infohash
    assert isinstance(read(both, new), Link)
    with both.db.read() as tx:
        assert entries.get(tx, entry.id) is None
    assert len(both.listing("/movies/Sintel (2010) {tmdb-45745} [tmdbid=45745]")) == 1


ANOTHER = {"name": "Sintel.2010.720p.WEB-DL.x264-ANOTHER", "seeders": 5, "gb": 0.6}


@pytest.mark.slow
def test_a_further_copy_that_nobody_gives_any_more_is_replaced_by_another_and_the_title_stays_as_it_is(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    small = {"beside": True, "resolutions": {"r2160p": False, "r1080p": False, "unknown": False}}
    pipeline = make_pipeline(ranking__profiles={"small": small})
    film, usual = completed(pipeline)
    pipeline.run(for_=10 * MINUTE, step=MINUTE)
    (copy,) = further(pipeline, film)
    lose(servers)
    servers.control("/catalog", {"op": "availability", "release": copy.infohash, "value": "uncached"})
    servers.control("/catalog", {"op": "add_release", "imdb": "tt1727587", "row": ANOTHER})
    before = pipeline.item(film).facts
    read(pipeline, copy)
    pass_time(pipeline, 50 * MINUTE)
    assert [one.id for one in further(pipeline, film)] == [copy.id]
    pass_time(pipeline, 40 * MINUTE)
    assert "given_up" in steps(pipeline, film)
    (new,) = further(pipeline, film)
    assert (new.original_name, new.path) == (f"{ANOTHER['name']}.mkv", copy.path)
    assert isinstance(read(pipeline, new), Link)
    assert pipeline.state(film) == "Completed"
    facts = pipeline.item(film).facts
    assert (facts.registered_at, facts.confirmed_at) == (before.registered_at, before.confirmed_at)
    with pipeline.db.read() as tx:
        assert {one.id for one in entries.for_items(tx, [film])} == {usual.id, new.id}


@pytest.mark.slow
def test_a_further_copy_that_comes_back_before_another_is_found_is_kept(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    small = {"beside": True, "resolutions": {"r2160p": False, "r1080p": False, "unknown": False}}
    pipeline = make_pipeline(ranking__profiles={"small": small})
    film, _ = completed(pipeline)
    pipeline.run(for_=10 * MINUTE, step=MINUTE)
    (copy,) = further(pipeline, film)
    lose(servers)
    servers.control("/catalog", {"op": "availability", "release": copy.infohash, "value": "uncached"})
    read(pipeline, copy)
    pass_time(pipeline, 2 * HOUR)
    assert steps(pipeline, film)[-1] == "given_up"
    assert pipeline.item(film).schedule.next_attempt_at is not None, "another one is looked for"
    servers.control("/catalog", {"op": "availability", "release": copy.infohash, "value": "cached"})
    pass_time(pipeline, 7 * HOUR, step=15 * MINUTE)
    assert [one.id for one in further(pipeline, film)] == [copy.id]
    assert isinstance(read(pipeline, copy), Link)


def further(pipeline: Pipeline, film: int) -> list[Entry]:
    with pipeline.db.read() as tx:
        return [one for one in entries.for_items(tx, [film]) if one.ranking_profile == "small"]


@pytest.mark.slow
def test_a_file_without_replacement_stays_listed_and_is_kept_when_it_comes_back(
    pipeline: Pipeline, servers: Servers
) -> None:
    film, entry = completed(pipeline)
    lose(servers)
    servers.control("/catalog", {"op": "withdraw", "title": "tt1727587"})
    servers.control("/catalog", {"op": "availability", "title": "tt1727587", "value": "uncached"})
    read(pipeline, entry)
    pass_time(pipeline, 2 * HOUR)
    assert "given_up" in steps(pipeline, film)
    assert pipeline.state(film) == "Indexed"
    assert len(pipeline.listing("/movies/Sintel (2010) {tmdb-45745} [tmdbid=45745]")) == 1
    servers.control("/catalog", {"op": "availability", "release": entry.infohash, "value": "cached"})
    pass_time(pipeline, 7 * HOUR, step=15 * MINUTE)
    assert pipeline.state(film) == "Completed"
    assert file_of(pipeline, film).id == entry.id
    assert isinstance(read(pipeline, entry), Link)


@pytest.mark.slow
def test_an_outage_of_a_day_gives_no_file_up_and_resets_nothing(pipeline: Pipeline, servers: Servers) -> None:
    film, entry = completed(pipeline)
    pass_time(pipeline, 10 * MINUTE)
    before = snapshot(pipeline)
    servers.control("/faults", {"provider": "realdebrid", "kind": "status", "status": 503})
    servers.control("/faults", {"provider": "cdn", "kind": "status", "status": 503})
    for _ in range(24):
        assert not isinstance(read(pipeline, entry), Link)
        pass_time(pipeline, HOUR, step=15 * MINUTE)
    during = snapshot(pipeline)
    assert {table: rows for table, rows in during.items() if rows != before[table]} == {}
    assert pipeline.story(film)[-1].step != "repair"
    servers.control("/faults", method="DELETE")
    pass_time(pipeline, 25 * HOUR, step=HOUR)
    assert isinstance(read(pipeline, entry), Link)
    assert pipeline.state(film) == "Completed"
    assert file_of(pipeline, film).mend_at is None


def test_addresses_that_lead_nowhere_are_an_hour_of_no_as_well(pipeline: Pipeline, servers: Servers) -> None:
    film, entry = completed(pipeline)
    servers.control("/faults", {"provider": "cdn", "kind": "status", "status": 404})
    link = read(pipeline, entry)
    for _ in range(3):
        link = read(pipeline, entry, link.url if isinstance(link, Link) else None)
    assert "lost" in steps(pipeline, film)
    pass_time(pipeline, 2 * HOUR, step=20 * MINUTE)
    assert "given_up" in steps(pipeline, film)


def test_a_season_whose_torrent_was_lost_is_mended_by_its_first_reader(
    pipeline: Pipeline, servers: Servers
) -> None:
    show = pipeline.add_show(170551)
    pipeline.run(for_=MINUTE)
    first, second = (file_of(pipeline, pipeline.episode(show, 1, number).id) for number in (1, 2))
    assert first.infohash == second.infohash
    lose(servers)
    read(pipeline, first)
    sources = [file_of(pipeline, pipeline.episode(show, 1, number).id).sources[0] for number in (1, 2)]
    assert len({source.torrent_id for source in sources}) == 1
    assert isinstance(read(pipeline, second), Link)


def test_a_library_goes_on_when_its_debrid_service_is_changed_for_another(
    pipeline: Pipeline, servers: Servers
) -> None:
    servers.control("/options", {"alldebrid_rate_per_second": 0})
    film, entry = completed(pipeline)
    pass_time(pipeline, HOUR)
    change_settings(pipeline, downloaders__realdebrid__enabled=False, downloaders__alldebrid__enabled=True)
    # Who opens it at once has it after a moment.
    assert not isinstance(read(pipeline, entry), Link)
    pipeline.run(for_=timedelta(seconds=10))
    link = read(pipeline, entry)
    assert isinstance(link, Link), link
    assert link.provider == "alldebrid"
    assert file_of(pipeline, film).id == entry.id


def test_without_any_debrid_service_a_read_ends_at_once_and_nothing_is_written_down(
    pipeline: Pipeline, servers: Servers
) -> None:
    film, entry = completed(pipeline)
    change_settings(pipeline, downloaders__realdebrid__enabled=False)
    before = snapshot(pipeline)
    assert read(pipeline, entry) == "no debrid service is in use"
    pipeline.run(for_=timedelta(seconds=10))
    assert snapshot(pipeline) == before
    assert steps(pipeline, film) == []


def test_what_the_new_debrid_service_does_not_hold_says_so_and_a_retry_has_another_release(
    pipeline: Pipeline, servers: Servers
) -> None:
    servers.control("/options", {"alldebrid_rate_per_second": 0})
    film, entry = completed(pipeline)
    servers.control("/catalog", {"op": "lack", "provider": "alldebrid", "release": entry.infohash})
    change_settings(pipeline, downloaders__realdebrid__enabled=False, downloaders__alldebrid__enabled=True)
    read(pipeline, entry)
    pipeline.run(for_=timedelta(seconds=10))
    assert pipeline.state(film) == "Completed"
    assert steps(pipeline, film) == ["refused", "waiting"]
    pipeline.actions.retry([film])
    pipeline.run(for_=MINUTE)
    assert pipeline.state(film) == "Completed"
    new = file_of(pipeline, film)
    assert new.infohash != entry.infohash
    assert isinstance(read(pipeline, new), Link)


def test_what_nobody_opens_is_asked_of_the_new_debrid_service_as_well(
    pipeline: Pipeline, servers: Servers
) -> None:
    servers.control("/options", {"alldebrid_rate_per_second": 0})
    film, _ = completed(pipeline)
    change_settings(pipeline, downloaders__realdebrid__enabled=False, downloaders__alldebrid__enabled=True)
    pass_time(pipeline, 10 * MINUTE)
    assert "alldebrid" in {source.provider for source in file_of(pipeline, film).sources}
