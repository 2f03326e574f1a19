"""A search service that floods every search with hostile releases changes no choice."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from program.db import entries, wipe
from program.demo.launch import Servers
from tests.support.hostile import HOSTILE, Flood
from tests.support.pipeline import Pipeline

FILMS = (45745, 10378, 133701, 9761)
PIONEER = 170551

Make = Callable[..., Pipeline]


def library(pipeline: Pipeline) -> dict[str, str]:
    """Fetch some films and a series; return the file that each film and episode has got."""
    roots = [*map(pipeline.add_movie, FILMS), pipeline.add_show(PIONEER)]
    pipeline.run(for_=timedelta(minutes=20), step=timedelta(minutes=1))
    leaves = [leaf.item for root in roots for leaf in pipeline.tree(root).leaves()]
    with pipeline.db.read() as tx:
        files = {leaf.id: entries.for_items(tx, [leaf.id]) for leaf in leaves}
    return {
        f"{leaf.title} {leaf.number}": files[leaf.id][0].original_name for leaf in leaves if files[leaf.id]
    }


@pytest.mark.slow
def test_two_hundred_hostile_releases_in_every_search_change_no_choice(
    make_pipeline: Make, servers: Servers
) -> None:
    plain = make_pipeline()
    wanted = library(plain)
    with plain.db.write() as tx:
        wipe.everything(tx)
    servers.control("/reset", {})
    flooded = make_pipeline(plugin_classes=(Flood,), scraping__flood__enabled=True)
    assert library(flooded) == wanted
    assert len(wanted) > len(FILMS)
    searches = [row for root in flooded.rows() for row in flooded.story(root.id) if row.step == "scrape"]
    assert searches
    assert all(int(str(row.data["considered"])) >= HOSTILE for row in searches)
