"""The titles of a running program, read over its API, and their progress on the screen."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from program.demo.launch import LaunchError, Running

PAGE = 100
# States from which nothing moves by itself, or not today.
SETTLED = frozenset({"Completed", "Unreleased", "Failed", "Paused"})
_CLEAR_LINE = "\x1b[2K"


@dataclass(frozen=True, slots=True)
class Title:
    """A film or an episode that somebody asked for.

    key: `movie 45745` or `show 170551 s02e04`, as the names in the mount have it. date: of its release, ISO 8601.
    """

    key: str
    name: str
    state: str
    date: str | None


def titles_of(program: Running) -> list[Title]:
    """Return the films and episodes, specials left out: nobody asks for them. Raises LaunchError when the API refuses."""
    rows: list[Mapping[str, Any]] = []
    page = 1
    while True:
        reply = program.api("GET", f"/items?type=movie&type=episode&limit={PAGE}&page={page}&sort=title_asc")
        if reply.status != 200:  # noqa: PLR2004
            raise LaunchError(f"GET /items answered {reply.status}: {reply.data}")
        rows += reply.data["items"]
        if page >= reply.data["total_pages"]:
            break
        page += 1
    titles = [_title(row) for row in rows if row["type"] == "movie" or row["season_number"]]
    return sorted(titles, key=lambda title: title.key)


def _title(row: Mapping[str, Any]) -> Title:
    if row["type"] == "movie":
        # Before it is looked up a film has no name.
        name = f"{row['title']} ({row['year']})" if row["year"] else f"film {row['tmdb_id']}"
        return Title(f"movie {row['tmdb_id']}", name, row["state"], row["aired_at"])
    season, episode = row["season_number"], row["episode_number"]
    name = f"{row['parent_title']} s{season:02}e{episode:02}"
    return Title(
        f"show {row['parent_ids']['tvdb_id']} s{season:02}e{episode:02}", name, row["state"], row["aired_at"]
    )


class Progress:
    """Shows how the titles come along: a table that is drawn again on a terminal, else a line per change."""

    def __init__(self, out: TextIO = sys.stdout) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._states: dict[str, str] = {}
        self._drawn = 0

    def show(self, titles: Iterable[Title], seconds: float) -> None:
        """Print what changed since the last call."""
        current = list(titles)
        changed = [title for title in current if self._states.get(title.key) != title.state]
        if not changed:
            return
        if self._is_terminal:
            self._draw(current, seconds)
        else:
            for title in changed:
                before = self._states.get(title.key)
                self._out.write(
                    f"{seconds:5.1f} s  {title.name}: {f'{before} → ' if before else ''}{title.state}\n"
                )
        self._out.flush()
        self._states = {title.key: title.state for title in current}

    def _draw(self, current: list[Title], seconds: float) -> None:
        """Move up over the table of before and write the new one."""
        up = f"\x1b[{self._drawn}A" if self._drawn else ""
        width = max((len(title.name) for title in current), default=0)
        done = sum(title.state in SETTLED for title in current)
        lines = [f"{title.name:<{width}}  {title.state}" for title in current]
        lines.append(f"{seconds:.1f} s, {done} of {len(current)} settled")
        self._out.write(up + "".join(f"{_CLEAR_LINE}{line}\n" for line in lines))
        self._drawn = len(lines)
