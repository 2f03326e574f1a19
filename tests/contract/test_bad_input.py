"""Whatever a service answers in place of what is due: the right error, a sentence for people, no secret, and it heals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from program.demo.launch import Servers
from program.errors import BadAnswer, Misconfigured, Refused, RivuletError, Transient, Unavailable
from program.events import LibraryScanRequested
from program.media.item import Ids, MediaType
from program.media.wanted import Wanted
from program.services.content.overseerr import Overseerr
from program.services.downloaders.realdebrid import RealDebrid
from program.services.indexers.tmdb import Tmdb
from program.services.indexers.tvdb import Tvdb
from program.services.plugin import Plugin
from program.services.scrapers.torrentio import Torrentio
from program.services.updaters.jellyfin import Jellyfin
from program.services.updaters.plex import Plex
from tests.support.providers import SECRET, Make, make

SCAN = LibraryScanRequested(
    media_type=MediaType.MOVIE,
    ids=Ids(imdb="tt1254207", tmdb="10378"),
    title="Big Buck Bunny",
    year=2008,
    season=None,
    episode=None,
    folder="{library}/movies/Big Buck Bunny (2008) {{tmdb-10378}} [tmdbid=10378]",
    file="{library}/movies/Big Buck Bunny (2008) {{tmdb-10378}} [tmdbid=10378]/x.mkv",
    scan=False,
)
FILM = Wanted(item_id=1, type=MediaType.MOVIE, title="Big Buck Bunny", ids=Ids(imdb="tt1254207"))


@dataclass(frozen=True)
class Case:
    """A provider, its main question, and the path that the question goes to."""

    kind: type[Plugin[Any]]
    ask: Callable[[Any], object]
    path: str


CASES = [
    Case(Overseerr, lambda plugin: plugin.wanted(), "/request"),
    Case(Tmdb, lambda plugin: plugin.movie(Ids(tmdb="10378")), "/movie"),
    Case(Tvdb, lambda plugin: plugin.show(Ids(tvdb="170551")), "/extended"),
    Case(Torrentio, lambda plugin: plugin.search(FILM), "/stream"),
    Case(RealDebrid, lambda plugin: plugin.account(), "/user"),
    Case(Plex, lambda plugin: plugin.has(SCAN), "/library/sections"),
    Case(Jellyfin, lambda plugin: plugin.has(SCAN), "/Items"),
]
EACH = pytest.mark.parametrize("case", CASES, ids=[case.kind.key for case in CASES])


@pytest.fixture
def mounted(servers: Servers) -> None:
    """Let the media servers look where SCAN's paths are."""
    servers.control("/mount", {"path": "{library}"})


def fails(plugin: Plugin[Any], case: Case, error: type[RivuletError]) -> RivuletError:
    """Ask, and return the error; it must be of exactly that class, name its provider, and hold no secret."""
    with pytest.raises(RivuletError) as caught:
        case.ask(plugin)
    assert type(caught.value) is error, f"{type(caught.value).__name__}: {caught.value}"
    sentence = str(caught.value)
    assert sentence.startswith(f"{case.kind.key}: ")
    for secret in plugin.settings.secret_values():
        assert secret not in sentence
        assert secret not in repr(caught.value.__cause__)
    return caught.value


def strike(servers: Servers, case: Case, kind: str, **facts: object) -> None:
    servers.control("/faults", {"provider": case.kind.key, "path": case.path, "kind": kind, **facts})


def heal(servers: Servers, case: Case, plugin: Plugin[Any]) -> None:
    """Take the faults away; the same question must be answered now."""
    servers.control("/faults", method="DELETE")
    case.ask(plugin)


@EACH
@pytest.mark.usefixtures("mounted")
def test_the_question_is_answered_when_nothing_is_wrong(provider: Make, case: Case) -> None:
    plugin = provider(case.kind)
    plugin.check()
    case.ask(plugin)


@EACH
@pytest.mark.usefixtures("mounted")
def test_a_wrong_key_names_the_setting_to_mend(servers: Servers, case: Case) -> None:
    if case.kind is Torrentio:
        return
    ready = servers.ready[case.kind.key]
    plugin = make(case.kind, ready["root"] if case.kind is Overseerr else ready["url"])
    error = fails(plugin, case, Misconfigured)
    assert isinstance(error, Misconfigured)
    assert error.field == ("token" if case.kind is Plex else "api_key")
    with pytest.raises(Misconfigured):
        plugin.check()
    assert SECRET not in str(error)


@EACH
@pytest.mark.usefixtures("mounted")
@pytest.mark.parametrize("kind", ["html", "truncated_json", "empty"])
def test_what_is_not_json_is_a_bad_answer(servers: Servers, provider: Make, case: Case, kind: str) -> None:
    plugin = provider(case.kind)
    strike(servers, case, kind)
    fails(plugin, case, BadAnswer)
    heal(servers, case, plugin)


@EACH
@pytest.mark.usefixtures("mounted")
@pytest.mark.parametrize("retry_after", [2, None])
def test_a_429_is_a_wait_and_no_attempt(
    servers: Servers, provider: Make, case: Case, retry_after: int | None
) -> None:
    plugin = provider(case.kind)
    strike(servers, case, "status", status=429, retry_after=retry_after, count=1)
    error = fails(plugin, case, Unavailable)
    assert isinstance(error, Unavailable)
    seconds = (error.at - plugin.clock.now()).total_seconds()
    assert 0 < seconds <= (retry_after or 10)
    fails(plugin, case, Unavailable)


@EACH
@pytest.mark.usefixtures("mounted")
def test_a_451_is_a_refusal(servers: Servers, provider: Make, case: Case) -> None:
    plugin = provider(case.kind)
    strike(servers, case, "status", status=451)
    fails(plugin, case, Refused)
    heal(servers, case, plugin)


@EACH
@pytest.mark.usefixtures("mounted")
@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_5xx_passes(servers: Servers, provider: Make, case: Case, status: int) -> None:
    plugin = provider(case.kind)
    strike(servers, case, "status", status=status)
    fails(plugin, case, Transient)
    heal(servers, case, plugin)


@EACH
@pytest.mark.usefixtures("mounted")
@pytest.mark.parametrize("kind", ["reset", "cut"])
def test_a_connection_that_breaks_off_passes(servers: Servers, provider: Make, case: Case, kind: str) -> None:
    plugin = provider(case.kind)
    strike(servers, case, kind)
    fails(plugin, case, Transient)
    heal(servers, case, plugin)


@EACH
@pytest.mark.usefixtures("mounted")
def test_a_service_that_does_not_answer_in_time_passes(
    servers: Servers, provider: Make, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = provider(case.kind)
    # The real patience is 25 s; how it ends is the same.
    monkeypatch.setattr(plugin.http, "_timeout", (0.5, 0.5))
    strike(servers, case, "timeout", seconds=3)
    fails(plugin, case, Transient)
    heal(servers, case, plugin)


def test_a_blocked_scraper_is_not_an_empty_answer(servers: Servers, provider: Make) -> None:
    case = next(case for case in CASES if case.kind is Torrentio)
    strike(servers, case, "status", status=403)
    error = fails(provider(Torrentio), case, Unavailable)
    assert "blocks us" in str(error)
