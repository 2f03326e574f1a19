"""Many ids in a question, some at a time."""

from collections.abc import Collection, Iterator
from itertools import islice

# A statement names at most so many ids; SQLite has a limit.
IDS_AT_ONCE = 500


def lots(ids: Collection[int] | None) -> Iterator[list[int] | None]:
    """Yield the ids, some at a time; None, for all there are, stays None."""
    if ids is None:
        yield None
        return
    left = iter(sorted(ids))
    while some := list(islice(left, IDS_AT_ONCE)):
        yield some
