"""Names cut, doubled and shuffled: a value comes back whatever is asked, in a bounded number of steps."""

import sys
import time
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from program.services.matching.parse import Parsed, parse
from tests.support.readings import rows

NAMES = tuple(row.name for row in rows())
# Python calls for one name; the longest of the list needs about a tenth.
MOST_CALLS = 60_000
# Patterns run outside Python's calls; the processor's time tells whether one of them went astray.
MOST_SECONDS = 1.0

pieces = st.sampled_from(NAMES).flatmap(
    lambda name: st.tuples(st.integers(0, len(name)), st.integers(0, len(name))).map(
        lambda cut: name[min(cut) : max(cut)]
    )
)
mutated = st.lists(st.one_of(pieces, st.sampled_from(NAMES), st.text(max_size=8)), max_size=6).map("".join)


def calls_of(name: str) -> tuple[Parsed, int]:
    """Return what a name says, and how many Python functions it took."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        parsed = parse(name)
    finally:
        sys.setprofile(before)
    return parsed, count


@settings(max_examples=300, deadline=None)
@given(mutated)
def test_a_mutated_name_gives_a_value_in_bounded_steps(name: str) -> None:
    parsed, calls = calls_of(name)
    assert calls < MOST_CALLS
    assert all(season >= 0 for season in parsed.seasons)
    assert len(parsed.episodes) <= 1000
    assert parsed.as_json() is not None


@pytest.mark.parametrize(
    "piece",
    [
        "S01E01",
        "S01",
        "1x02",
        "E1-E9",
        "-",
        " - ",
        "(",
        "[",
        "[]",
        "2010 ",
        "05 ",
        "0",
        "1.",
        ".S1",
        "S1-",
        "Season 1 ",
        "第",
        "&",
        "/",
        " / ",
        "_",
        "a.",
        "i",
        "é",
        "Ger.Eng.",
        "2013.01.",
        "v2",
        "1080p.",
        "to 3 ",
        "E01 E02 ",
        "Cap.102_",
        "\\",
        "of 5 ",
    ],
)
def test_one_piece_over_and_over_is_read_in_no_time(piece: str) -> None:
    started = time.process_time()
    for name in (piece * 400, f"Lantern {piece * 400}", f"{piece * 400} Lantern 1080p", f"[{piece * 400}"):
        calls_of(name)
    assert time.process_time() - started < 4 * MOST_SECONDS
