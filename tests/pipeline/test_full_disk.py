"""A database that takes nothing more, for a night: nothing is begun again and again whose end cannot be written down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from program.demo.launch import Servers
from tests.support.pipeline import Pipeline

# Films of the catalog.
FILMS = (10378, 45745, 133701)
# What PostgreSQL says of a full disk; SQLite gets an error that is none of those that pass.
FULL = {
    "postgresql": (
        """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$""",
        "CREATE TRIGGER full_disk BEFORE UPDATE ON media_item FOR EACH ROW EXECUTE FUNCTION full_disk()",
    ),
    "sqlite": (
        "CREATE TRIGGER full_disk BEFORE UPDATE ON media_item BEGIN SELECT RAISE(ABORT, 'read-only'); END",
    ),
}
FREE = {"postgresql": ("DROP FUNCTION full_disk CASCADE",), "sqlite": ("DROP TRIGGER full_disk",)}


@contextmanager
def full_disk(pipeline: Pipeline) -> Iterator[None]:
    """Have the database refuse every change of a title within the block."""
    execute(pipeline, FULL)
    yield
    execute(pipeline, FREE)


def execute(pipeline: Pipeline, statements: dict[str, tuple[str, ...]]) -> None:
    with pipeline.db.write() as tx:
        for statement in statements[tx.connection.dialect.name]:
            tx.connection.exec_driver_sql(statement)


def pass_time(pipeline: Pipeline, length: timedelta) -> None:
    """Have turns four times a minute; what they leave undone is the matter of the tests."""
    until = pipeline.clock.now() + length
    while pipeline.clock.now() < until:
        for _ in range(50):
            if not pipeline.loop.turn() + pipeline.engine.run_until_idle():
                break
        pipeline.clock.advance(15)


def asked(servers: Servers) -> int:
    counts = servers.control("/counts")
    return int(counts.get("tmdb", 0) + counts.get("torrentio", 0))


def test_a_database_that_takes_nothing_does_not_have_services_asked_all_night(
    pipeline: Pipeline, servers: Servers
) -> None:
    films = [pipeline.add_movie(tmdb) for tmdb in FILMS]
    before = asked(servers)
    with full_disk(pipeline):
        pass_time(pipeline, timedelta(minutes=11))
        # Once it has been noticed, one title a minute finds out whether it is over.
        assert asked(servers) - before <= len(films) + 11
    pass_time(pipeline, timedelta(minutes=2))
    pipeline.run(for_=timedelta(minutes=1))
    assert pipeline.states_of(films) == {"Completed"}
