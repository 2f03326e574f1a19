"""The tables. Nothing outside this room sees them; what goes out are the frozen values of `views` and `program.media`."""

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar

from sqlalchemy import BigInteger, ForeignKey, Index, MetaData, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from program.db.columns import (
    ContradictionType,
    Json,
    NumberList,
    ReleaseDates,
    TextList,
    Titles,
    UtcDateTime,
    Words,
    words_of,
)
from program.media.item import (
    Contradiction,
    MediaType,
    QueueClass,
    ReleaseKind,
    ShowStatus,
    States,
    Title,
)
from program.media.release import JsonValue

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}

# A removed row's id is never given to another row: jobs, players and media servers remember ids.
NO_ID_TWICE = {"sqlite_autoincrement": True}
AILING = text("mend_at IS NOT NULL")
USABLE = text("rejection_code IS NULL AND blacklisted IS NULL")


class Base(DeclarativeBase):
    """Base of all tables."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map: ClassVar = {
        str: Words,
        datetime: UtcDateTime,
        JsonValue: Json,
        tuple[str, ...]: TextList,
        tuple[int, ...]: NumberList,
        tuple[Title, ...]: Titles,
        Mapping[ReleaseKind, datetime]: ReleaseDates,
        Contradiction: ContradictionType,
        MediaType: words_of(MediaType),
        States: words_of(States),
        ShowStatus: words_of(ShowStatus),
        QueueClass: words_of(QueueClass),
    }


# What lists are filtered by.
FILTERS = ("type", "last_state", "is_requested", "is_anime")


def _dated(name: str, column: str) -> Index:
    has_date = text(f"{column} IS NOT NULL")
    columns = (column, "is_requested", "paused_at", "root_id")
    return Index(name, *columns, sqlite_where=has_date, postgresql_where=has_date)


class MediaItem(Base):
    """A film, show, season or episode: metadata, facts (named as in `Facts`), dates and the state derived from them.

    root_id: the film or show at the top, its own id there (null only within the transaction that adds it).
    service_id: a season's or episode's id at the metadata service. title_key: title for sorting and searching, case folded.
    earliest_at: earliest known release or air date; lists and the calendar show it.
    ranking_profile, library_profiles: what a person chose (an empty name: the usual ranking); null: the settings decide.
    """

    __tablename__ = "media_item"

    id: Mapped[int] = mapped_column(primary_key=True)
    type: Mapped[MediaType]
    root_id: Mapped[int | None] = mapped_column(ForeignKey("media_item.id", ondelete="CASCADE"))
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("media_item.id", ondelete="CASCADE"))
    number: Mapped[int | None]
    absolute_number: Mapped[int | None]
    service_id: Mapped[str | None]
    title: Mapped[str]
    title_key: Mapped[str]
    original_title: Mapped[str | None]
    aliases: Mapped[tuple[Title, ...]]
    year: Mapped[int | None]
    imdb: Mapped[str | None]
    tmdb: Mapped[str | None]
    tvdb: Mapped[str | None]
    releases: Mapped[Mapping[ReleaseKind, datetime]]
    aired_at: Mapped[datetime | None]
    earliest_at: Mapped[datetime | None]
    network: Mapped[str | None]
    country: Mapped[str | None]
    language: Mapped[str | None]
    genres: Mapped[tuple[str, ...]]
    runtime: Mapped[int | None]
    rating: Mapped[float | None]
    content_rating: Mapped[str | None]
    poster: Mapped[str | None]
    is_anime: Mapped[bool]
    show_status: Mapped[ShowStatus | None]
    is_requested: Mapped[bool]
    wants_future: Mapped[bool]
    wanted_seasons: Mapped[tuple[int, ...]]
    ranking_profile: Mapped[str | None]
    library_profiles: Mapped[tuple[str, ...] | None]

    paused_at: Mapped[datetime | None]
    failed_at: Mapped[datetime | None]
    failed_reason: Mapped[str | None]
    indexed_at: Mapped[datetime | None]
    index_tried_at: Mapped[datetime | None]
    index_failures: Mapped[int]
    index_hold_until: Mapped[datetime | None]
    restarted_at: Mapped[datetime | None]
    scraped_at: Mapped[datetime | None]
    scraped_times: Mapped[int]
    active_stream: Mapped[str | None]
    registered_at: Mapped[datetime | None]
    confirmed_at: Mapped[datetime | None]
    confirmed_by: Mapped[str | None]
    post_processed_at: Mapped[datetime | None]
    post_failures: Mapped[int]
    failures: Mapped[int]
    hold_until: Mapped[datetime | None]
    hold_reason: Mapped[str | None]
    contradiction: Mapped[Contradiction | None]
    upgrade_at: Mapped[datetime | None]

    next_attempt_at: Mapped[datetime | None]
    next_reason: Mapped[str | None]
    next_class: Mapped[QueueClass]
    reindex_at: Mapped[datetime | None]
    last_state: Mapped[States]
    revision: Mapped[int]
    created_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("type", "imdb"),
        UniqueConstraint("type", "tmdb"),
        UniqueConstraint("type", "tvdb"),
        UniqueConstraint("parent_id", "number"),
        Index(None, "root_id"),
        # What is due: both indexes hold all the query reads, and only the rows that have a date.
        _dated("ix_media_item_due", "next_attempt_at"),
        _dated("ix_media_item_reindex", "reindex_at"),
        # Counts by type, state and year, and lists of rare states. No index begins with `is_requested`: nearly every row is, and
        # SQLite, which knows no better, would take it for a good place to begin.
        Index("ix_media_item_counts", "type", "last_state", "is_requested", "year"),
        # The orders of a list; the filters are answered within the index.
        Index("ix_media_item_by_date", "created_at", "id", *FILTERS),
        Index("ix_media_item_by_title", "title_key", "id", *FILTERS),
        Index("ix_media_item_calendar", "earliest_at"),
        NO_ID_TWICE,
    )


class ItemRequest(Base):
    """Who or which list asked for an item. `(source, external_id)` is one wish; without an id of its own, the title's id.

    item_id null: a tombstone, since the title was removed; what it asked for (`is_movie`, ids) tells which title.
    """

    __tablename__ = "item_request"

    id: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int | None] = mapped_column(ForeignKey("media_item.id", ondelete="SET NULL"))
    source: Mapped[str]
    external_id: Mapped[str]
    requested_by: Mapped[str | None]
    seasons: Mapped[tuple[int, ...] | None]
    is_movie: Mapped[bool]
    imdb: Mapped[str | None]
    tmdb: Mapped[str | None]
    tvdb: Mapped[str | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (UniqueConstraint("source", "external_id"), Index(None, "item_id"))


class Stream(Base):
    """A release found for an item: its verdict, and its rank when it passed."""

    __tablename__ = "stream"

    id: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("media_item.id", ondelete="CASCADE"))
    infohash: Mapped[str]
    raw_title: Mapped[str]
    sources: Mapped[tuple[str, ...]]
    size: Mapped[int | None] = mapped_column(BigInteger)
    seeders: Mapped[int | None] = mapped_column(BigInteger)
    cached_at: Mapped[tuple[str, ...]]
    parsed: Mapped[JsonValue] = mapped_column(Json)
    rejection_code: Mapped[str | None]
    rejection_sentence: Mapped[str | None]
    rejection_permanent: Mapped[bool | None]
    rank: Mapped[int]
    score: Mapped[JsonValue] = mapped_column(Json)
    resolution: Mapped[str]
    lines: Mapped[int]
    similarity: Mapped[float]
    blacklisted: Mapped[str | None]
    found_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("item_id", "infohash"),
        # Counting what can be used never touches the wide rows.
        Index(
            "ix_stream_usable",
            *("item_id", "found_at", "infohash"),
            sqlite_where=USABLE,
            postgresql_where=USABLE,
        ),
        NO_ID_TWICE,
    )


class StreamBlock(Base):
    """One provider's refusal of one release for one item; `until` null: for good."""

    __tablename__ = "stream_block"

    item_id: Mapped[int] = mapped_column(ForeignKey("media_item.id", ondelete="CASCADE"), primary_key=True)
    infohash: Mapped[str] = mapped_column(primary_key=True)
    provider: Mapped[str] = mapped_column(primary_key=True)
    code: Mapped[str]
    sentence: Mapped[str]
    until: Mapped[datetime | None]
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "infohash", "provider"),)


class MediaEntry(Base):
    """One virtual file. mend_at: when its sources are looked at again, because one of them gave no bytes.

    ranking_profile: the one that it is a further copy by, empty for the usual copy.
    """

    __tablename__ = "media_entry"

    id: Mapped[int] = mapped_column(primary_key=True)
    infohash: Mapped[str]
    path_in_torrent: Mapped[str]
    original_name: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger)
    path: Mapped[str]
    version: Mapped[str]
    ranking_profile: Mapped[str] = mapped_column(server_default="")
    probed: Mapped[JsonValue] = mapped_column(Json, nullable=True)
    library_profiles: Mapped[tuple[str, ...]] = mapped_column(server_default="[]")
    created_at: Mapped[datetime]
    registered_at: Mapped[datetime | None]
    mend_at: Mapped[datetime | None]
    given_up_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("infohash", "path_in_torrent"),
        Index(None, "registered_at"),
        Index(None, "mend_at", sqlite_where=AILING, postgresql_where=AILING),
        NO_ID_TWICE,
    )


class CompanionEntry(Base):
    """A file that stands beside a video and goes with it: a subtitle, or a further part of a film that is in parts.

    It has a row of its own in `media_entry`, with sources, but no item. tail: how its name goes on after that of the video.
    language: of a subtitle, ISO 639-1, null when not known.
    """

    __tablename__ = "companion_entry"

    entry_id: Mapped[int] = mapped_column(ForeignKey("media_entry.id", ondelete="CASCADE"), primary_key=True)
    video_id: Mapped[int] = mapped_column(ForeignKey("media_entry.id", ondelete="CASCADE"))
    tail: Mapped[str]
    language: Mapped[str | None]

    __table_args__ = (Index(None, "video_id"),)


class EntryItem(Base):
    """An item whose file this is. linked_at: renewed when the same file is chosen again."""

    __tablename__ = "entry_item"

    entry_id: Mapped[int] = mapped_column(ForeignKey("media_entry.id", ondelete="CASCADE"), primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("media_item.id", ondelete="CASCADE"), primary_key=True)
    linked_at: Mapped[datetime]

    __table_args__ = (Index(None, "item_id"),)


class Source(Base):
    """Where an entry's bytes come from; one row per provider."""

    __tablename__ = "entry_source"

    id: Mapped[int] = mapped_column(primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("media_entry.id", ondelete="CASCADE"))
    provider: Mapped[str]
    torrent_id: Mapped[str]
    file_id: Mapped[str]
    link: Mapped[str | None]
    url: Mapped[str | None]
    url_expires_at: Mapped[datetime | None]
    failures: Mapped[int]
    failed_at: Mapped[datetime | None]
    failed_reason: Mapped[str | None]

    __table_args__ = (UniqueConstraint("entry_id", "provider"), Index(None, "torrent_id"), NO_ID_TWICE)


class SourceTrouble(Base):
    """One time at which a source gave no bytes, since it last did. code: the provider's word, see `program.media.health`."""

    __tablename__ = "source_trouble"

    id: Mapped[int] = mapped_column(primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey("entry_source.id", ondelete="CASCADE"))
    at: Mapped[datetime]
    code: Mapped[str]
    reason: Mapped[str]

    __table_args__ = (Index(None, "source_id"),)


class TorrentOffer(Base):
    """A provider that was asked whether it holds a torrent of ours as well, and what it said."""

    __tablename__ = "torrent_offer"

    provider: Mapped[str] = mapped_column(primary_key=True)
    infohash: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    answer: Mapped[str]


class ServerConfirmation(Base):
    """What one media server was asked about an item, and whether it has it."""

    __tablename__ = "server_confirmation"

    item_id: Mapped[int] = mapped_column(ForeignKey("media_item.id", ondelete="CASCADE"), primary_key=True)
    server: Mapped[str] = mapped_column(primary_key=True)
    asked_times: Mapped[int]
    asked_at: Mapped[datetime | None]
    scanned_at: Mapped[datetime | None]
    confirmed_at: Mapped[datetime | None]


class DecisionRow(Base):
    """One step of an item's story."""

    __tablename__ = "decision"

    id: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("media_item.id", ondelete="CASCADE"))
    at: Mapped[datetime]
    step: Mapped[str]
    outcome: Mapped[str]
    sentence: Mapped[str]
    data: Mapped[JsonValue] = mapped_column(Json)
    next_at: Mapped[datetime | None]
    provider: Mapped[str | None]
    attempt: Mapped[int | None]
    ms: Mapped[int | None]

    __table_args__ = (Index(None, "item_id", "step"), Index(None, "at"), NO_ID_TWICE)


class ProviderStatus(Base):
    """Until when a data source is paused, and how often it failed in a row."""

    __tablename__ = "provider_status"

    key: Mapped[str] = mapped_column(primary_key=True)
    paused_until: Mapped[datetime | None]
    level: Mapped[int]
    reason: Mapped[str]


class ProviderTorrent(Base):
    """A torrent we put, or are about to put, on an account.

    is_kept: a file of ours comes from it; else it is half-made. is_foreign: it was on the account before us.
    """

    __tablename__ = "provider_torrent"

    provider: Mapped[str] = mapped_column(primary_key=True)
    infohash: Mapped[str] = mapped_column(primary_key=True)
    torrent_id: Mapped[str | None]
    item_id: Mapped[int | None] = mapped_column(ForeignKey("media_item.id", ondelete="SET NULL"))
    intended_at: Mapped[datetime]
    recorded_at: Mapped[datetime | None]
    is_kept: Mapped[bool]
    is_foreign: Mapped[bool]

    __table_args__ = (Index(None, "item_id"),)
