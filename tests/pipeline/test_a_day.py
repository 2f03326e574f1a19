"""A day of searches, look-ups and releases: what the services were asked, and when, is the table that a person computes.

The day begins at noon. The table was written from the rules of states and dates, before the program was asked: minutes after
noon at which a service is asked about a title.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from program.db import items
from program.demo.launch import Servers
from program.media.item import Node
from program.queues import JobState
from tests.support.journal import Asked, Journal
from tests.support.pipeline import Pipeline

# In winter, when New York is five hours behind.
NOON = datetime(2030, 1, 15, 12, tzinfo=UTC)
TOMORROW = (NOON + timedelta(days=1)).date().isoformat()
STEP = timedelta(minutes=5)

# Nothing is ever found for it.
SEARCHED = 45745, "tt1727587"
# Comes out to buy at midnight; counts as out half an hour later.
RELEASED = 10378, "tt1254207"
# No service knows it.
UNKNOWN = 999_999_999
# Has no date at all.
UNDATED = 133701, "tt2285752"
# Every release is refused for good by the debrid service.
REFUSED = 9761, "tt0807840"
# Out, found, and paused by a person before anything was done.
PAUSED = 358332, "tt4957236"
# Its last episode airs tonight at eight in New York, which is one o'clock in the morning here.
SERIES, SERIES_IMDB, SERIES_TMDB = 170551, "tt1748166", 33170

# After a search in vain: 30 min; from the second on 2 h; from the fifth on 6 h.
IN_VAIN = [0, 30, 150, 270, 390, 750, 1110]
TABLE: Mapping[tuple[str, str], list[int]] = {
    ("tmdb", f"/movie/{SEARCHED[0]}"): [0],
    ("torrentio", f"/movie/{SEARCHED[1]}"): IN_VAIN,
    # Looked up again when it comes out, and only then searched.
    ("tmdb", f"/movie/{RELEASED[0]}"): [0, 750],
    ("torrentio", f"/movie/{RELEASED[1]}"): [750],
    # Not known: after 1, 2, 4, 8 and 16 hours.
    ("tmdb", f"/movie/{UNKNOWN}"): [0, 60, 180, 420, 900],
    # Without a date: again in a week.
    ("tmdb", f"/movie/{UNDATED[0]}"): [0],
    ("torrentio", f"/movie/{UNDATED[1]}"): [],
    # Found and refused at once, so searched again at once; from then on as any search in vain.
    ("tmdb", f"/movie/{REFUSED[0]}"): [0],
    ("torrentio", f"/movie/{REFUSED[1]}"): [0, 0, 30, 150, 270, 390, 750, 1110],
    ("tmdb", f"/movie/{PAUSED[0]}"): [],
    ("torrentio", f"/movie/{PAUSED[1]}"): [],
    # Three episodes are out; the fourth is half an hour after one o'clock, when the series is looked up again.
    ("tvdb", "/login"): [0],
    ("tvdb", f"/series/{SERIES}/extended"): [0, 810],
    ("tvdb", f"/series/{SERIES}/episodes/official"): [0, 810],
    ("tvdb", f"/series/{SERIES}/episodes/absolute"): [0, 810],
    # How a series is rated is asked whenever it is looked up.
    ("tmdb", f"/tv/{SERIES_TMDB}"): [0, 810],
    ("torrentio", f"/series/{SERIES_IMDB}:2:1."): [0],
    ("torrentio", f"/series/{SERIES_IMDB}:2:2."): [0],
    ("torrentio", f"/series/{SERIES_IMDB}:2:3."): [0],
    ("torrentio", f"/series/{SERIES_IMDB}:2:4."): [810],
}


@pytest.mark.timeout(300)
def test_a_day_of_requests_is_the_table_computed_by_hand(
    make_pipeline: Callable[..., Pipeline], servers: Servers
) -> None:
    for change in (
        {"op": "withdraw", "title": SEARCHED[1]},
        {"op": "film_dates", "tmdb": RELEASED[0], "digital": TOMORROW},
        {"op": "film_dates", "tmdb": UNDATED[0], "premiere": None, "digital": None},
        {"op": "availability", "title": REFUSED[1], "value": "infringing"},
        {"op": "air_date", "tvdb": SERIES, "season": 2, "episode": 4, "aired": NOON.date().isoformat()},
    ):
        servers.control("/catalog", change)
    pipeline = make_pipeline(start=NOON)
    journal = Journal(servers, pipeline)
    paused = pipeline.add_movie(PAUSED[0])
    pipeline.actions.pause([paused])
    for tmdb in (SEARCHED[0], RELEASED[0], UNKNOWN, UNDATED[0], REFUSED[0]):
        pipeline.add_movie(tmdb)
    pipeline.add_show(SERIES, seasons=(2,))
    while pipeline.clock.now() < NOON + timedelta(days=1):
        pipeline.run()
        journal.look()
        pipeline.clock.advance(min(next_date(pipeline) - pipeline.clock.now(), STEP))
    seen = {key: journal.times(*key) for key in TABLE}
    assert seen == TABLE
    told = {provider for provider, _ in TABLE}
    others = [
        one for one in journal.seen if one.provider in told and not any(is_row(one, key) for key in TABLE)
    ]
    assert not others, "nothing else was asked"
    assert set(journal.times("realdebrid")) == {0, 750, 810}, "only when there was something to fetch"


def next_date(pipeline: Pipeline) -> datetime:
    """Return when something is due next: a row, or a job that waits."""
    rows = [node.item.schedule for root in roots(pipeline) for node in root.walk()]
    dates = [date for row in rows for date in (row.next_attempt_at, row.reindex_at) if date is not None]
    jobs = [
        job.run_at
        for queue in pipeline.engine.counts()
        for job in pipeline.engine.jobs(queue, [JobState.DELAYED])
    ]
    later = [date for date in (*dates, *jobs) if date is not None and date > pipeline.clock.now()]
    return min(later, default=pipeline.clock.now() + STEP)


def roots(pipeline: Pipeline) -> tuple[Node, ...]:
    with pipeline.db.read() as tx:
        return items.trees(tx, items.all_roots(tx), pipeline.clock.now(), pipeline.ctx.providers())


def is_row(one: Asked, key: tuple[str, str]) -> bool:
    return one.provider == key[0] and key[1] in one.path
