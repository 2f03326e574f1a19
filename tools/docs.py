"""Writes the files that follow from the code; `--check` only says whether they are current.

Whole files: the example settings, their schema, their page, the page of the API, that of the
specifications. Parts of docs/: a page has a place for each, between
`<!-- generated: NAME -->` and `<!-- end: NAME -->`; to add one, add a line to `PARTS`.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.report import kept_markdown
from program.api.page import api_page
from program.media.tables import dates_markdown, states_markdown, table
from program.plugins import discover, generated_files
from program.services.flows.queues import FLOWS
from program.state_transition import moves
from tools import life_tables
from tools.conformance import page as conformance

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Part:
    """One generated part. page: relative to the repository; name: as in its markers; make: returns its Markdown."""

    page: str
    name: str
    make: Callable[[], str]


def moves_markdown() -> str:
    """Return the table of who moves what."""
    rows = [(state, who, move.service, move.queue, move.step or "-") for state, who, move in moves()]
    return table(("last_state", "who", "service", "queue", "enters at step"), rows)


def queues_markdown() -> str:
    """Return the table of the pipeline's own queues, in the order of their definition."""
    rows = [
        (f"`{name}`", inspect.getdoc(flow.handler) or "", ", ".join(sorted(map(_waited_for, flow.children))))
        for name, flow in FLOWS.items()
    ]
    return table(("queue", "a run of its job", "may wait for"), [(*row[:2], row[2] or "-") for row in rows])


def _waited_for(queue: str) -> str:
    """Return a queue's name; one per plugin is named by its event."""
    return f"the plugins' `{queue.removesuffix('.*')}`" if queue.endswith(".*") else f"`{queue}`"


PARTS: tuple[Part, ...] = (
    Part("docs/pipeline.md", "states", states_markdown),
    Part("docs/pipeline.md", "moves", moves_markdown),
    Part("docs/pipeline.md", "dates", dates_markdown),
    Part("docs/pipeline.md", "queues", queues_markdown),
    Part("docs/plugins.md", "kinds", life_tables.kinds_markdown),
    Part("docs/plugins.md", "limits", life_tables.limits_markdown),
    Part("docs/plugins.md", "events", life_tables.events_markdown),
    Part("docs/lifecycle.md", "machines", life_tables.machines_markdown),
    Part("docs/lifecycle.md", "reactions", life_tables.reactions_markdown),
    Part("docs/bench.md", "results", kept_markdown),
)


def rendered(text: str, parts: Iterable[Part]) -> str:
    """Return a page with its parts made anew; raises ValueError when a part has no place in it."""
    for part in parts:
        begin, end = f"<!-- generated: {part.name} -->", f"<!-- end: {part.name} -->"
        place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        if not place.search(text):
            raise ValueError(f"{part.page} has no place for {part.name}")
        fresh = f"{begin}\n\n{part.make()}\n\n{end}"
        text = place.sub(lambda _match, fresh=fresh: fresh, text)
    return text


def stale(root: Path = ROOT) -> dict[Path, str]:
    """Return the files that are not current, with what they should be."""
    wanted = {
        **generated_files(discover()),
        "docs/api.md": api_page(),
        conformance.PAGE: conformance.conformance_page(),
    }
    for page in sorted({part.page for part in PARTS}):
        wanted[page] = rendered(current(root / page), [part for part in PARTS if part.page == page])
    return {root / name: text for name, text in wanted.items() if current(root / name) != text}


def current(path: Path) -> str:
    """Return a file's text, nothing for one that is not there yet."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main() -> int:
    """Write the stale files, or with `--check` name them and return 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    pages = stale()
    for path, text in pages.items():
        sys.stdout.write(
            f"{path.relative_to(ROOT)} {'is not current: run make docs' if check else 'written'}\n"
        )
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and pages else 0


if __name__ == "__main__":
    sys.exit(main())
