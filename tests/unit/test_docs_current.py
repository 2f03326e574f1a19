"""The generated parts of docs/ are those of the code."""

import pytest

from tools.docs import PARTS, Part, moves_markdown, rendered, stale


def test_the_docs_are_current() -> None:
    assert [str(path) for path in stale()] == [], "run make docs"


def test_a_part_without_a_place_is_named() -> None:
    with pytest.raises(ValueError, match="has no place for nothing"):
        rendered("# A page", [Part("docs/x.md", "nothing", lambda: "")])


def test_writing_twice_changes_nothing() -> None:
    page = "<!-- generated: x -->\nold\n<!-- end: x -->\n"
    once = rendered(page, [Part("docs/x.md", "x", lambda: "new")])
    assert "new" in once
    assert "old" not in once
    assert rendered(once, [Part("docs/x.md", "x", lambda: "new")]) == once


def test_every_state_is_in_the_table_of_states() -> None:
    text = PARTS[0].make()
    assert all(
        f"| {name} |" in text for name in ("Paused", "Failed", "Completed", "Ongoing", "PartiallyCompleted")
    )
    assert "process-media-item" in moves_markdown()
