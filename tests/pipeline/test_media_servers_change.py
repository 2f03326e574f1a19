"""Media servers that are switched on and off, and files that are lost, while titles wait to be confirmed."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest

from program.db import entries
from program.demo.launch import Servers
from program.events import LibraryScanRequested
from program.services.flows import names
from program.settings.models import RootSettings
from program.settings.vfs import VfsSettings
from tests.support.meanwhile import change_settings, run_to
from tests.support.pipeline import Pipeline
from tests.support.wait import until

SINTEL, PIONEER = 45745, 170551
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
SCAN = names.plugin_queue(LibraryScanRequested.type, "plex")


def test_the_last_server_that_is_switched_off_while_it_is_asked_leaves_the_film_completed(
    make_pipeline: Callable[..., Pipeline],
) -> None:
    pipeline = make_pipeline(updaters__plex__enabled=True)
    film = pipeline.add_movie(SINTEL)
    run_to(pipeline, SCAN)
    change_settings(pipeline, updaters__plex__enabled=False)
    pipeline.run(for_=10 * SECOND, step=SECOND)
    assert pipeline.state(film) == "Completed"
    assert pipeline.item(film).facts.confirmed_by == "none"
    assert not [row.sentence for row in pipeline.story(film) if row.outcome == "error"]


def test_a_film_whose_file_is_lost_before_it_is_confirmed_is_searched_again(
    make_pipeline: Callable[..., Pipeline],
) -> None:
    pipeline = make_pipeline(updaters__plex__enabled=True)
    film = pipeline.add_movie(SINTEL)
    run_to(pipeline, SCAN)
    pipeline.run(for_=SECOND, step=SECOND)
    assert pipeline.state(film) == "Symlinked"
    with pipeline.db.write() as tx:
        entries.remove(tx, [entry.id for entry in entries.for_items(tx, [film])])
    pipeline.run(for_=MINUTE, step=SECOND)
    assert any("lost" in row.sentence for row in pipeline.story(film))
    assert len(pipeline.listing("/movies")) == 1


def test_the_last_question_to_one_server_is_not_the_last_one_of_all(
    make_pipeline: Callable[..., Pipeline],
) -> None:
    pipeline = make_pipeline(updaters__plex__enabled=True)
    film = pipeline.add_movie(SINTEL)
    pipeline.run(for_=5 * HOUR, step=5 * MINUTE)
    change_settings(pipeline, updaters__jellyfin__enabled=True)
    pipeline.run(for_=2 * HOUR, step=5 * MINUTE)
    known = {one.server: one.asked_times for one in pipeline.item(film).facts.confirmations}
    assert known["plex"] == 11
    assert pipeline.state(film) == "Symlinked", "Jellyfin has not been asked for the last time"
    pipeline.run(for_=7 * HOUR, step=5 * MINUTE)
    assert pipeline.item(film).facts.confirmed_by == "unconfirmed"


@pytest.mark.slow
@pytest.mark.fuse
def test_media_servers_look_where_files_were_and_where_they_are_when_names_or_profiles_change(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    pipeline = make_pipeline(mounted=True, updaters__plex__enabled=True, updaters__jellyfin__enabled=True)
    servers.control("/mount", {"path": str(pipeline.vfs.mount_path)})
    film, show = pipeline.add_movie(SINTEL), pipeline.add_show(PIONEER, (1,))
    pipeline.run_until(lambda: pipeline.states_of([film, show]) == {"Completed"}, within=HOUR, step=MINUTE)
    assert len(listed(servers, pipeline)) == 2 * 7

    rearrange(pipeline, naming={"movie_folder": "{title}, {year} {ids}", "season_folder": "S{season}"})
    until(lambda: places(servers, pipeline) == {"/movies/Sintel, 2010", "/shows/Pioneer One (2010)/S1"})

    kids = {"kids": {"path": "/kids", "exclusive": True, "rules": {"types": ["movie"]}}}
    rearrange(pipeline, profiles=kids)
    until(lambda: places(servers, pipeline) == {"/shows/Pioneer One (2010)/S1"})

    # A start finds other templates than the last one did; nothing is scanned before there is a mount.
    asked = servers.control("/counts")
    pipeline.settings = with_vfs(pipeline, naming={}, profiles={})
    pipeline.library.load()
    pipeline.run(for_=SECOND, step=SECOND)
    assert servers.control("/counts") == asked
    pipeline.library.rearrange()
    pipeline.run(for_=SECOND, step=SECOND)
    until(
        lambda: places(servers, pipeline) == {"/movies/Sintel (2010)", "/shows/Pioneer One (2010)/Season 01"}
    )


def with_vfs(pipeline: Pipeline, **vfs: object) -> RootSettings:
    changed = VfsSettings.model_validate({**pipeline.settings.vfs.model_dump(), **vfs})
    return pipeline.settings.model_copy(update={"vfs": changed})


def rearrange(pipeline: Pipeline, **vfs: object) -> None:
    """Change settings of the file system and do what follows."""
    pipeline.settings = with_vfs(pipeline, **vfs)
    pipeline.library.rearrange()
    pipeline.run(for_=SECOND, step=SECOND)


def listed(servers: Servers, pipeline: Pipeline) -> list[str]:
    """Return the files that the servers list, within the library."""
    top = str(pipeline.vfs.mount_path)
    told = servers.control("/library")
    return [one["path"].removeprefix(top) for files in told.values() for one in files]


def places(servers: Servers, pipeline: Pipeline) -> set[str]:
    """Return the folders of those files, without the ids."""
    return {re.sub(r" \{[^/]*", "", path.rpartition("/")[0]) for path in listed(servers, pipeline)}
