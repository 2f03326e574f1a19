"""Items: what a list, a page and an action say of them."""

from pydantic import JsonValue

from program.api.answers.base import Body, Instant
from program.media.item import States


class ParentIds(Body):
    """Ids of the show a season or episode belongs to."""

    imdb_id: str | None = None
    tmdb_id: str | None = None
    tvdb_id: str | None = None


class ItemBody(Body):
    """One item of a list. state and last_state are the same."""

    id: int
    type: str
    title: str
    parent_title: str | None
    season_number: int | None
    episode_number: int | None
    year: int | None
    imdb_id: str | None
    tmdb_id: str | None
    tvdb_id: str | None
    parent_ids: ParentIds
    poster_path: str | None
    aired_at: Instant | None
    is_anime: bool
    state: States
    last_state: States
    scraped_times: int
    next_attempt_at: Instant | None
    next_reason: str | None
    requested_at: Instant | None


class ItemsBody(Body):
    """A page of the library."""

    success: bool = True
    items: list[ItemBody]
    page: int
    limit: int
    total_items: int
    total_pages: int


class TroubleBody(Body):
    """A time at which a source gave no bytes. code: the provider's word, `dead_link` for that of its CDN."""

    at: Instant
    code: str
    reason: str


class SourceBody(Body):
    """Where a file's bytes come from. troubles: since they last came, the oldest first; empty when all is well."""

    provider: str
    troubles: list[TroubleBody]


class CompanionBody(Body):
    """What stands beside a file: a subtitle, or a further part of a film. language: of a subtitle, None when not known."""

    id: int
    path: str
    file_size: int
    language: str | None


class FileBody(Body):
    """A file in the library folder. path: within the folder that people look at; places: its whole paths, one in each folder.

    beside: what goes with it.

    next_check_at: when its sources are looked at again, because one gave no bytes. given_up_at: since when another release is
    searched in its place; it stays until that is there.
    """

    id: int
    file_size: int
    original_filename: str
    path: str
    version: str
    infohash: str
    provider: str | None
    providers: list[str]
    sources: list[SourceBody]
    available_in_vfs: bool
    registered_at: Instant | None
    next_check_at: Instant | None
    given_up_at: Instant | None
    library_profiles: list[str]
    places: list[str]
    beside: list[CompanionBody]


class ChildBody(Body):
    """A season or an episode. For a season: `season_number` and `episodes`; for an episode: `episode_number` and its file."""

    id: int
    type: str
    title: str
    number: int
    season_number: int | None = None
    episode_number: int | None = None
    aired_at: Instant | None
    is_requested: bool
    state: States
    last_state: States
    scraped_times: int
    next_attempt_at: Instant | None
    next_reason: str | None
    paused_at: Instant | None
    media_metadata: dict[str, JsonValue] | None = None
    filesystem_entry: FileBody | None = None
    episodes: list["ChildBody"] | None = None


class RequestBody(Body):
    """Who asked. seasons null: all, also future ones."""

    source: str
    external_id: str
    requested_by: str | None
    seasons: list[int] | None
    requested_at: Instant


class DetailBody(ItemBody):
    """Everything about one item. seasons, episodes, files, media_metadata and filesystem_entry only when `extended` is true.

    aliases: names that metadata services know; own_titles: those that a person added. wanted_seasons, wants_future: of a show.
    ranking_profile, library_profiles: what a person chose; null: the settings decide; "" is the usual ranking.
    """

    original_title: str | None
    aliases: list[str]
    own_titles: list[str]
    wanted_seasons: list[int]
    wants_future: bool
    ranking_profile: str | None
    library_profiles: list[str] | None
    genres: list[str]
    language: str | None
    country: str | None
    network: str | None
    runtime: int | None
    show_status: str | None
    scraped_at: Instant | None
    paused_at: Instant | None
    failed_at: Instant | None
    failed_reason: str | None
    reindex_at: Instant | None
    active_stream: str | None
    requested_by: str | None
    requests: list[RequestBody]
    seasons: list[ChildBody] | None = None
    episodes: list[ChildBody] | None = None
    files: list[FileBody] | None = None
    media_metadata: dict[str, JsonValue] | None = None
    filesystem_entry: FileBody | None = None


class ItemResultBody(Body):
    """What an action did to one item. done: false when it was left as it is, for the reason in the sentence."""

    id: int | None
    title: str
    sentence: str
    done: bool


class ActionBody(Body):
    """What an action did."""

    message: str
    ids: list[int]
    items: list[ItemResultBody]
