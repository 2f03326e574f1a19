"""The twelve states in a person's words: a chip of a word, a colour and a mark; the colour never stands alone."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from types import MappingProxyType

from program.media.item import Ids, MediaType, States
from program.web import times


@dataclass(frozen=True, slots=True)
class Chip:
    """What stands on a poster. tone: a colour by name; icon: a mark by name; hint: the state's own name for those who know it."""

    word: str
    tone: str
    icon: str
    hint: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a title is there. ready, wanted: films or episodes."""

    ready: int
    wanted: int

    @property
    def percent(self) -> int:
        """Return how much is ready, of a hundred."""
        return 100 * self.ready // self.wanted if self.wanted else 0


@dataclass(frozen=True, slots=True)
class Group:
    """States that mean the same to a person who looks for something to watch."""

    key: str
    word: str
    states: frozenset[States]


TONES: Mapping[States, tuple[str, str, str]] = MappingProxyType(
    {
        States.Completed: ("Ready", "green", "check"),
        States.PartiallyCompleted: ("Partly ready", "teal", "part"),
        States.Ongoing: ("Airing", "blue", "air"),
        States.Unreleased: ("Not out yet", "slate", "date"),
        States.Requested: ("Requested", "grey", "dots"),
        States.Indexed: ("Searching", "amber", "search"),
        States.Scraped: ("Found", "amber", "spark"),
        States.Downloaded: ("Fetched", "amber", "down"),
        States.Symlinked: ("In library", "teal", "folder"),
        States.Unknown: ("Look here", "red", "alert"),
        States.Failed: ("Gave up", "red", "cross"),
        States.Paused: ("Paused", "grey", "pause"),
    }
)

GROUPS: tuple[Group, ...] = (
    Group("ready", "Ready", frozenset({States.Completed})),
    Group(
        "coming",
        "On the way",
        frozenset(
            {
                States.Requested,
                States.Indexed,
                States.Scraped,
                States.Downloaded,
                States.Symlinked,
                States.PartiallyCompleted,
            }
        ),
    ),
    Group("later", "Airing or not out", frozenset({States.Ongoing, States.Unreleased})),
    Group("needs-you", "Needs you", frozenset({States.Unknown, States.Failed})),
    Group("paused", "Paused", frozenset({States.Paused})),
)
# Work is under way that ends by itself within minutes.
ARRIVING = frozenset({States.Requested, States.Scraped, States.Downloaded, States.Symlinked})
NEEDS_YOU = GROUPS[3].states


def chip(
    state: States,
    *,
    progress: Progress | None = None,
    released: datetime | None = None,
    now: datetime,
    zone: tzinfo | None,
) -> Chip:
    """Return the chip of a state. released: when a title comes out; progress: of a title of several parts."""
    word, tone, icon = TONES[state]
    if state is States.PartiallyCompleted and progress and progress.wanted:
        word = f"{progress.ready} of {progress.wanted}"
    if state is States.Unreleased and released is not None and released > now:
        word = times.day(released.astimezone(zone).date(), now.astimezone(zone).date())
    return Chip(word, tone, icon, state.value)


def kind(media_type: MediaType) -> str:
    """Return what an item is called."""
    names = {
        MediaType.MOVIE: "Film",
        MediaType.SHOW: "Series",
        MediaType.SEASON: "Season",
        MediaType.EPISODE: "Episode",
    }
    return names[media_type]


def season_name(number: int | None) -> str:
    """Return what a season is called."""
    return f"Season {number}" if number else "Specials"


def name(title: str | None, ids: Ids, item_id: int) -> str:
    """Return what a title is called; one that was not looked up yet by its id at a metadata service."""
    known = (("TMDB", ids.tmdb), ("TVDB", ids.tvdb), ("IMDb", ids.imdb))
    return title or next((f"{service} {value}" for service, value in known if value), f"Title {item_id}")


def mark(title: str | None, poster: str | None) -> str:
    """Return what changes with the picture of a title, so that a browser asks for a new one at once and keeps it otherwise."""
    return hashlib.sha256(f"{poster} {title}".encode()).hexdigest()[:8]


def place(season: int | None, episode: int | None) -> str:
    """Return where in its show something stands, e.g. `S02E03`; empty for the show itself."""
    if season is None:
        return ""
    return season_name(season) if episode is None else f"S{season:02}E{episode:02}"
