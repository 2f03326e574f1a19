"""What a downloader remembers of its account between calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from program.clock import ManualClock
from program.services.downloaders import LIST_SECONDS, AccountMemory

HASH, OTHER = "a" * 40, "b" * 40


@dataclass(frozen=True)
class Row:
    id: str


def test_a_torrent_that_is_added_while_the_list_is_read_is_not_forgotten_with_it() -> None:
    clock = ManualClock(datetime(2031, 1, 1, tzinfo=UTC))
    listed: dict[str, Row] = {}

    def read() -> Mapping[str, Row]:
        """Answer with what was there when the reading began; another job adds a torrent meanwhile."""
        before = dict(listed)
        clock.advance(2)
        if not listed:
            listed[HASH] = Row("7")
            memory.added(HASH, Row("7"))
        return before

    memory = AccountMemory("vault", clock, read)
    assert memory.row(OTHER) is None
    assert memory.row(HASH) == Row("7"), "else it would be added a second time"
    # The next list is believed: it was read after that.
    listed.clear()
    listed[OTHER] = Row("8")
    clock.advance(LIST_SECONDS + 1)
    assert memory.row(HASH) is None
    assert memory.row(OTHER) == Row("8")
