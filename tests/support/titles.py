"""Builders for films and shows: each takes what the test is about and fills in the rest."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

from program.media.item import Facts, Ids, Item, MediaType, Node, ReleaseKind, ShowStatus, States

NOW = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)
PAST = NOW - timedelta(days=400)
FUTURE = NOW + timedelta(days=10)
INDEXED = NOW - timedelta(days=2)

# What the facts of a released leaf are in each state a leaf can be in.
LEAF_FACTS: Mapping[States, Mapping[str, object]] = {
    States.Unknown: {"indexed_at": None, "usable_streams": 0},
    States.Requested: {"indexed_at": None},
    States.Unreleased: {},
    States.Indexed: {},
    States.Scraped: {"active_stream": "a" * 40, "usable_streams": 1},
    States.Downloaded: {"entry_at": NOW - timedelta(minutes=5)},
    States.Symlinked: {"registered_at": NOW - timedelta(minutes=4)},
    States.Completed: {
        "registered_at": NOW - timedelta(minutes=4),
        "confirmed_at": NOW - timedelta(minutes=3),
        "confirmed_by": "none",
        "post_processed_at": NOW - timedelta(minutes=2),
    },
    States.Failed: {"failed_at": NOW - timedelta(minutes=1), "failed_reason": "searched 20 times"},
    States.Paused: {"paused_at": NOW - timedelta(minutes=1)},
}

_ids = count(1)


def facts(**changes: object) -> Facts:
    """Return the facts of an indexed row."""
    return replace(Facts(indexed_at=INDEXED), **changes)  # type: ignore[arg-type]


def movie(state: States | None = None, **changes: object) -> Node:
    """Return a film that has been released digitally, in `state`; fact names go into its facts."""
    own, row = _split(changes)
    releases = {ReleaseKind.DIGITAL: FUTURE if state is States.Unreleased else PAST}
    item = Item(
        id=next(_ids),
        type=MediaType.MOVIE,
        root_id=0,
        title="Cosmos Laundromat",
        year=2015,
        ids=Ids() if state is States.Unknown else Ids(tmdb="358332"),
        releases=releases,
        facts=facts(**{**(LEAF_FACTS[state] if state else {}), **own}),
    )
    return Node(replace(item, root_id=item.id, **row))  # type: ignore[arg-type]


def episode(state: States | None = None, *, number: int = 1, **changes: object) -> Node:
    """Return an episode that has aired, in `state`."""
    own, row = _split(changes)
    item = Item(
        id=next(_ids),
        type=MediaType.EPISODE,
        root_id=0,
        number=number,
        ids=Ids() if state is States.Unknown else Ids(tvdb="1"),
        aired_at=FUTURE if state is States.Unreleased else PAST,
        facts=facts(**{**(LEAF_FACTS[state] if state else {}), **own}),
    )
    return Node(replace(item, **row))  # type: ignore[arg-type]


def season(children: Iterable[Node | States | None], *, number: int = 1, **changes: object) -> Node:
    """Return a season of the given episodes; a state stands for an episode in it."""
    own, row = _split(changes)
    nodes = tuple(c if isinstance(c, Node) else episode(c, number=i) for i, c in enumerate(children, 1))
    item = Item(
        id=next(_ids), type=MediaType.SEASON, root_id=0, number=number, ids=Ids(tvdb="2"), facts=facts(**own)
    )
    return Node(replace(item, **row), nodes)  # type: ignore[arg-type]


def show(seasons: Iterable[Node], *, status: ShowStatus = ShowStatus.ENDED, **changes: object) -> Node:
    """Return a show of the given seasons."""
    own, row = _split(changes)
    item = Item(
        id=next(_ids),
        type=MediaType.SHOW,
        root_id=0,
        title="Pioneer One",
        year=2010,
        ids=Ids(tvdb="170551"),
        show_status=status,
        facts=facts(**own),
    )
    return Node(replace(item, root_id=item.id, **row), tuple(seasons))  # type: ignore[arg-type]


def _split(changes: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    names = Facts.__dataclass_fields__
    own = {name: value for name, value in changes.items() if name in names}
    return own, {name: value for name, value in changes.items() if name not in names}
