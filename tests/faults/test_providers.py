"""What the services answer in place of what is due: a person is told, the rest goes on, and it heals by itself.

That each provider makes the right error of each fault is tested in `tests/contract`; here it is what becomes of the titles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from program.demo.launch import Servers
from program.events import DownloadRequested
from program.log import logger
from program.queues import JobSpec
from program.services.flows import names
from program.services.flows.request_content_services import Poll
from tests.support.pipeline import Pipeline
from tests.support.stage import Stage
from tests.support.wait import until

SINTEL, SINTEL_IMDB = 45745, "tt1727587"
FILMS = {10378: "tt1254207", 9761: "tt0807840", 358332: "tt4957236", 20529: "tt1172203", 593048: "tt9249278"}
PIONEER, PIONEER_TMDB = 170551, 33170
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)

# A fault by its kind, and a word of what a person reads about it.
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a wrong key": ({"kind": "status", "status": 401}, "refused"),
    "a web page": ({"kind": "html"}, "JSON"),
    "cut JSON": ({"kind": "truncated_json"}, "JSON"),
    "nothing": ({"kind": "empty"}, "empty answer (204)"),
    "451": ({"kind": "status", "status": 451}, "451"),
}
DOWN: dict[str, tuple[dict[str, Any], str]] = {
    "429": ({"kind": "status", "status": 429}, "slow down (429)"),
    "429 with Retry-After": ({"kind": "status", "status": 429, "retry_after": 120}, "slow down (429)"),
    "503": ({"kind": "status", "status": 503}, "503"),
    "a time-out": ({"kind": "timeout", "seconds": 1}, "no answer within"),
}
ALL = {**REFUSED, **DOWN}
# An answer of Real-Debrid carries a code of its own, and an empty list of torrents is a good one.
DEBRID = {
    **ALL,
    "a wrong key": ({"kind": "status", "status": 401, "code": 8}, "api_key: is refused"),
    "451": ({"kind": "status", "status": 451, "path": "addMagnet", "count": 1}, "infringing"),
}
# How often one service may be asked about one title within a quarter of an hour of trouble.
PATIENT = 24


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """The log of the test."""
    written: list[str] = []
    sink = logger.add(
        lambda line: written.append(str(line)), level="DEBUG", format="{level} {message} {extra}"
    )
    yield written
    logger.remove(sink)


def strike(servers: Servers, provider: str, **fault: Any) -> None:
    servers.control("/faults", {"provider": provider, **fault})


def impatient(pipeline: Pipeline, provider: str) -> None:
    """Let a silent service be given up at once."""
    pipeline.registry.get(provider).http._timeout = (0.3, 0.3)


def told(pipeline: Pipeline, item_id: int) -> str:
    """Return all that a person reads about a row."""
    item = pipeline.item(item_id)
    return "\n".join([item.schedule.next_reason or "", *(row.sentence for row in pipeline.story(item_id))])


def assert_waits(pipeline: Pipeline, item_id: int, state: str, provider: str, word: str) -> None:
    """The title is where it was, has a date and the reason, and nothing is given up."""
    item = pipeline.item(item_id)
    assert item.last_state.value == state
    dates = [at for at in (item.schedule.next_attempt_at, item.schedule.reindex_at) if at]
    assert dates, "it will be tried again"
    assert item.facts.failed_at is None
    assert item.facts.index_failures == item.facts.scraped_times == 0, "an outage is no miss"
    story, name = told(pipeline, item_id), pipeline.registry.titles[provider]
    assert name in story
    assert word in story
    assert f"{name}: {name}:" not in story


def asked(servers: Servers, provider: str) -> int:
    return len(servers.control(f"/requests?provider={provider}")["requests"])


def assert_no_secret(servers: Servers, *texts: str) -> None:
    ready = [one for one in servers.ready.values() if isinstance(one, dict)]
    for secret in [one[name] for one in ready for name in ("key", "token") if name in one]:
        assert not [text for text in texts if secret in text]


def assert_heals(pipeline: Pipeline, servers: Servers, *items: int) -> None:
    servers.control("/faults", method="DELETE")
    pipeline.run_until(
        lambda: {pipeline.state(item) for item in items} == {"Completed"}, within=2 * HOUR, step=4 * MINUTE
    )


@pytest.mark.parametrize(
    ("provider", "path", "state"),
    [("tmdb", "/movie/{}\\?", "Requested"), ("torrentio", "/{}.json", "Indexed")],
)
def test_titles_whose_answers_are_no_answers_wait_and_the_others_go_on(
    pipeline: Pipeline, servers: Servers, lines: list[str], provider: str, path: str, state: str
) -> None:
    films = {}
    for (fault, word), (tmdb, imdb) in zip(REFUSED.values(), FILMS.items(), strict=True):
        strike(servers, provider, path=path.format(tmdb if provider == "tmdb" else imdb), **fault)
        films[pipeline.add_movie(tmdb)] = word
    good = pipeline.add_movie(SINTEL)
    pipeline.run(for_=15 * MINUTE, step=MINUTE)
    assert pipeline.state(good) == "Completed"
    for film, word in films.items():
        assert_waits(pipeline, film, state, provider, word)
    assert asked(servers, provider) <= PATIENT
    assert_no_secret(servers, *lines, *(told(pipeline, film) for film in films))
    assert_heals(pipeline, servers, *films)


@pytest.mark.parametrize("fault", DOWN)
@pytest.mark.parametrize(("provider", "state"), [("tmdb", "Requested"), ("torrentio", "Indexed")])
def test_titles_wait_while_a_service_is_down(
    pipeline: Pipeline, servers: Servers, lines: list[str], provider: str, state: str, fault: str
) -> None:
    facts, word = DOWN[fault]
    strike(servers, provider, **facts)
    impatient(pipeline, provider)
    film, show = pipeline.add_movie(SINTEL), pipeline.add_show(PIONEER, seasons=(2,))
    pipeline.run(for_=15 * MINUTE, step=MINUTE)
    assert_waits(pipeline, film, state, provider, word)
    expected = "Completed" if provider == "tmdb" else "Indexed"
    assert pipeline.episode(show, 2, 1).last_state.value == expected, "the rest goes on as far as it can"
    assert asked(servers, provider) <= PATIENT
    assert_no_secret(servers, *lines, told(pipeline, film))
    assert_heals(pipeline, servers, film, pipeline.episode(show, 2, 1).id)


@pytest.mark.parametrize("fault", ALL)
def test_a_series_waits_while_its_metadata_cannot_be_had(
    pipeline: Pipeline, servers: Servers, lines: list[str], fault: str
) -> None:
    facts, word = ALL[fault]
    strike(servers, "tvdb", path="/series", **facts)
    impatient(pipeline, "tvdb")
    film, show = pipeline.add_movie(SINTEL), pipeline.add_show(PIONEER, seasons=(1,))
    pipeline.run(for_=15 * MINUTE, step=MINUTE)
    assert pipeline.state(film) == "Completed"
    assert_waits(pipeline, show, "Requested", "tvdb", word)
    assert asked(servers, "tvdb") <= PATIENT
    assert_no_secret(servers, *lines, told(pipeline, show))
    servers.control("/faults", method="DELETE")
    pipeline.run_until(
        lambda: [node for node in pipeline.tree(show).children if node.item.last_state.value == "Completed"],
        within=2 * HOUR,
        step=4 * MINUTE,
    )


@pytest.mark.parametrize("fault", DEBRID)
def test_a_title_waits_while_the_debrid_service_gives_no_answer_to_rely_on(
    pipeline: Pipeline, servers: Servers, lines: list[str], fault: str
) -> None:
    facts, word = DEBRID[fault]
    strike(servers, "realdebrid", **facts)
    impatient(pipeline, "realdebrid")
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=15 * MINUTE, step=MINUTE)
    story = "\n".join([told(pipeline, film), *(str(row.data) for row in pipeline.story(film))])
    assert word in story
    assert_no_secret(servers, *lines, story)
    if fault == "451":
        # What a service refuses by law is left at once, and the next release is taken.
        assert pipeline.state(film) == "Completed"
        return
    assert_waits(pipeline, film, "Scraped", "realdebrid", word)
    assert asked(servers, "realdebrid") <= PATIENT
    assert_heals(pipeline, servers, film)
    hashes = [one["hash"] for one in servers.control("/account")["torrents"]]
    assert len(hashes) == len(set(hashes)) == 1


@pytest.mark.parametrize("fault", ["a wrong key", "a web page", "429 with Retry-After", "503"])
def test_a_media_server_in_trouble_is_named_and_another_completes_the_title(
    make_pipeline: Callable[..., Pipeline], servers: Servers, tmp_path: Path, lines: list[str], fault: str
) -> None:
    facts, word = ALL[fault]
    pipeline = make_pipeline(updaters__plex__enabled=True, updaters__jellyfin__enabled=True)
    servers.control("/mount", {"path": str(tmp_path / "mount")})
    strike(servers, "plex", **facts)
    film = pipeline.add_movie(SINTEL)
    pipeline.run_until(lambda: pipeline.state(film) == "Symlinked", within=MINUTE, step=SECOND)
    [folder] = pipeline.listing("/movies")
    [name] = pipeline.listing(f"/movies/{folder}")
    # There is no mount in these tests: the file is put where it would appear.
    (tmp_path / "mount" / "movies" / folder).mkdir(parents=True)
    (tmp_path / "mount" / "movies" / folder / name).write_bytes(b"a film")
    pipeline.run(for_=40 * SECOND, step=5 * SECOND)
    # A media server looks through the folder in its own time, which the test's clock does not move.
    until(lambda: "Sintel" in str(servers.control("/library")["jellyfin"]), what="the scan")
    pipeline.run(for_=10 * MINUTE, step=20 * SECOND)
    assert pipeline.state(film) == "Completed"
    assert pipeline.item(film).facts.confirmed_by == "jellyfin"
    story = told(pipeline, film)
    assert "Jellyfin has it" in story
    assert "Plex" in story
    assert word in story
    assert_no_secret(servers, *lines, story)
    servers.control("/faults", method="DELETE")
    pipeline.run(for_=2 * HOUR, step=4 * MINUTE)
    assert "Plex has it" in told(pipeline, film)


@pytest.mark.parametrize("fault", ALL)
def test_wishes_come_later_when_the_request_app_cannot_be_asked(
    pipeline: Pipeline, servers: Servers, lines: list[str], fault: str
) -> None:
    facts, word = ALL[fault]
    servers.control("/catalog", {"op": "request", "media_type": "movie", "tmdb": SINTEL})
    strike(servers, "overseerr", **facts)
    impatient(pipeline, "overseerr")
    for _ in range(3):
        poll(pipeline)
        pipeline.run(for_=5 * MINUTE, step=MINUTE)
    assert pipeline.rows() == ()
    warnings = [line for line in lines if line.startswith("WARNING") and "overseerr" in line]
    assert [line for line in warnings if word in line]
    assert not [line for line in lines if "overseerr: overseerr" in line]
    assert_no_secret(servers, *lines)
    servers.control("/faults", method="DELETE")
    pipeline.run(for_=20 * MINUTE, step=5 * MINUTE)
    poll(pipeline)
    pipeline.run(for_=MINUTE)
    assert [row.last_state.value for row in pipeline.rows()] == ["Completed"]


def poll(pipeline: Pipeline) -> None:
    """Ask the request app, as the schedule does."""
    pipeline.engine.add(
        JobSpec(
            queue=names.REQUEST_CONTENT_SERVICES,
            name="overseerr",
            data=Poll("overseerr"),
            dedup_id=names.content_service_id("overseerr"),
        )
    )


def test_a_running_program_says_what_it_waits_for_and_goes_on_when_it_is_over(tmp_path: Path) -> None:
    with Stage(
        tmp_path, settings={"updaters.jellyfin.enabled": False, "updaters.plex.enabled": False}
    ) as stage:
        stage.fault("tmdb", "status", status=401)
        stage.fault("realdebrid", "status", status=429, retry_after=4, path="torrents")
        stage.start_program()
        stage.wait_for(lambda: providers(stage)["tmdb"]["state"] == "invalid", what="the check of the key")
        assert "api_key: is refused" in providers(stage)["tmdb"]["reason"]
        assert providers(stage)["realdebrid"]["state"] == "valid"
        stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": [str(SINTEL)]})
        stage.api("POST", "/items/add", {"media_type": "tv", "tvdb_ids": [str(PIONEER)]})

        def story(item_id: int) -> str:
            rows = stage.api("GET", f"/items/{item_id}/timeline").data["timeline"]
            return "\n".join(row["sentence"] for row in rows)

        stage.wait_for(
            lambda: "no metadata service for a movie is set up or usable" in story(1), what="the film"
        )
        stage.wait_for(lambda: "realdebrid: asks to slow down (429)" in parked(stage), what="the wait")
        stage.control("/faults", method="DELETE")
        stage.wait_for(
            lambda: [row for row in rows(stage) if row["type"] == "episode" and row["state"] == "Completed"],
            what="an episode",
        )
        film = stage.api("GET", "/items/1").data
        assert film["state"] == "Requested"
        assert_no_secret_in_log(stage)


def rows(stage: Stage) -> list[dict[str, Any]]:
    return list(stage.api("GET", "/items?limit=100").data["items"])


def parked(stage: Stage) -> set[str]:
    """Return why jobs of the debrid service wait."""
    queue = names.plugin_queue(DownloadRequested.type, "realdebrid")
    return {job["reason"] for job in stage.api("GET", f"/queues/{queue}/jobs").data["jobs"]}


def providers(stage: Stage) -> dict[str, dict[str, Any]]:
    return {one["key"]: one for one in stage.api("GET", "/providers").data["providers"]}


def assert_no_secret_in_log(stage: Stage) -> None:
    log = stage.log_text()
    ready = [one for one in stage.ready.values() if isinstance(one, dict)]
    assert not [one["key"] for one in ready if "key" in one and one["key"] in log]
