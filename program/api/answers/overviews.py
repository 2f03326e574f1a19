"""The library as a whole: counts, dates, feeds."""

from program.api.answers.base import Body, Instant
from program.media.item import States


class YearBody(Body):
    """Titles of one year; null: not known."""

    year: int | None
    count: int


class StatsBody(Body):
    """Counts of what is asked for. activity: titles added, by day of this year."""

    total_items: int
    total_movies: int
    total_shows: int
    total_seasons: int
    total_episodes: int
    total_symlinks: int
    incomplete_items: int
    states: dict[str, int]
    activity: dict[str, int]
    media_year_releases: list[YearBody]


class CalendarEntryBody(Body):
    """A title that comes out. Ids are the film's, or the episode's show's."""

    item_id: int
    imdb_id: str | None
    tmdb_id: str | None
    tvdb_id: str | None
    show_title: str
    title: str
    item_type: str
    aired_at: Instant
    season: int | None
    episode: int | None
    last_state: States


class CalendarBody(Body):
    """By item id."""

    data: dict[str, CalendarEntryBody]


class FeedsBody(Body):
    """Paths that need no key: they hold a token."""

    calendar: str
    arrivals: str
