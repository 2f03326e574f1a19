"""the first tables

Revision: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "media_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("infohash", sa.String(), nullable=False),
        sa.Column("path_in_torrent", sa.String(), nullable=False),
        sa.Column("original_name", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("probed", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("registered_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_media_entry")),
        sa.UniqueConstraint(
            "infohash", "path_in_torrent", name=op.f("uq_media_entry_infohash_path_in_torrent")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_media_entry_registered_at"), "media_entry", ["registered_at"], unique=False)

    op.create_table(
        "media_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=24), nullable=False),
        sa.Column("root_id", sa.Integer(), nullable=True),
        sa.Column("parent_id", sa.Integer(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("absolute_number", sa.Integer(), nullable=True),
        sa.Column("service_id", sa.String(), nullable=True),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("title_key", sa.String(), nullable=False),
        sa.Column("original_title", sa.String(), nullable=True),
        sa.Column("aliases", sa.JSON(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=True),
        sa.Column("imdb", sa.String(), nullable=True),
        sa.Column("tmdb", sa.String(), nullable=True),
        sa.Column("tvdb", sa.String(), nullable=True),
        sa.Column("releases", sa.JSON(), nullable=False),
        sa.Column("aired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("earliest_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("network", sa.String(), nullable=True),
        sa.Column("country", sa.String(), nullable=True),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("genres", sa.JSON(), nullable=False),
        sa.Column("runtime", sa.Integer(), nullable=True),
        sa.Column("poster", sa.String(), nullable=True),
        sa.Column("is_anime", sa.Boolean(), nullable=False),
        sa.Column("show_status", sa.String(length=24), nullable=True),
        sa.Column("is_requested", sa.Boolean(), nullable=False),
        sa.Column("wants_future", sa.Boolean(), nullable=False),
        sa.Column("wanted_seasons", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed_reason", sa.String(), nullable=True),
        sa.Column("indexed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("index_tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("index_failures", sa.Integer(), nullable=False),
        sa.Column("index_hold_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("restarted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("scraped_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("scraped_times", sa.Integer(), nullable=False),
        sa.Column("active_stream", sa.String(), nullable=True),
        sa.Column("registered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("confirmed_by", sa.String(), nullable=True),
        sa.Column("post_processed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("post_failures", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("hold_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("hold_reason", sa.String(), nullable=True),
        sa.Column("contradiction", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_reason", sa.String(), nullable=True),
        sa.Column("next_class", sa.String(length=24), nullable=False),
        sa.Column("reindex_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_state", sa.String(length=24), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["media_item.id"], name=op.f("fk_media_item_parent_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["root_id"], ["media_item.id"], name=op.f("fk_media_item_root_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_media_item")),
        sa.UniqueConstraint("parent_id", "number", name=op.f("uq_media_item_parent_id_number")),
        sa.UniqueConstraint("type", "imdb", name=op.f("uq_media_item_type_imdb")),
        sa.UniqueConstraint("type", "tmdb", name=op.f("uq_media_item_type_tmdb")),
        sa.UniqueConstraint("type", "tvdb", name=op.f("uq_media_item_type_tvdb")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_media_item_by_date",
        "media_item",
        ["created_at", "id", "type", "last_state", "is_requested", "is_anime"],
        unique=False,
    )
    op.create_index(
        "ix_media_item_by_title",
        "media_item",
        ["title_key", "id", "type", "last_state", "is_requested", "is_anime"],
        unique=False,
    )
    op.create_index("ix_media_item_calendar", "media_item", ["earliest_at"], unique=False)
    op.create_index(
        "ix_media_item_counts", "media_item", ["type", "last_state", "is_requested", "year"], unique=False
    )
    op.create_index(
        "ix_media_item_due",
        "media_item",
        ["next_attempt_at", "is_requested", "paused_at", "root_id"],
        unique=False,
        sqlite_where=sa.text("next_attempt_at IS NOT NULL"),
        postgresql_where=sa.text("next_attempt_at IS NOT NULL"),
    )
    op.create_index(
        "ix_media_item_reindex",
        "media_item",
        ["reindex_at", "is_requested", "paused_at", "root_id"],
        unique=False,
        sqlite_where=sa.text("reindex_at IS NOT NULL"),
        postgresql_where=sa.text("reindex_at IS NOT NULL"),
    )
    op.create_index(op.f("ix_media_item_root_id"), "media_item", ["root_id"], unique=False)

    op.create_table(
        "provider_status",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_provider_status")),
    )
    op.create_table(
        "decision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("sentence", sa.String(), nullable=False),
        sa.Column("data", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("provider", sa.String(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.Column("ms", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["item_id"], ["media_item.id"], name=op.f("fk_decision_item_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_decision_at"), "decision", ["at"], unique=False)
    op.create_index(op.f("ix_decision_item_id_step"), "decision", ["item_id", "step"], unique=False)

    op.create_table(
        "entry_item",
        sa.Column("entry_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["media_entry.id"], name=op.f("fk_entry_item_entry_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["item_id"], ["media_item.id"], name=op.f("fk_entry_item_item_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("entry_id", "item_id", name=op.f("pk_entry_item")),
    )
    op.create_index(op.f("ix_entry_item_item_id"), "entry_item", ["item_id"], unique=False)

    op.create_table(
        "entry_source",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("entry_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("torrent_id", sa.String(), nullable=False),
        sa.Column("file_id", sa.String(), nullable=False),
        sa.Column("link", sa.String(), nullable=True),
        sa.Column("url", sa.String(), nullable=True),
        sa.Column("url_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed_reason", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["media_entry.id"], name=op.f("fk_entry_source_entry_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entry_source")),
        sa.UniqueConstraint("entry_id", "provider", name=op.f("uq_entry_source_entry_id_provider")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_entry_source_torrent_id"), "entry_source", ["torrent_id"], unique=False)

    op.create_table(
        "item_request",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=True),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("requested_by", sa.String(), nullable=True),
        sa.Column("seasons", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("is_movie", sa.Boolean(), nullable=False),
        sa.Column("imdb", sa.String(), nullable=True),
        sa.Column("tmdb", sa.String(), nullable=True),
        sa.Column("tvdb", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["media_item.id"], name=op.f("fk_item_request_item_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item_request")),
        sa.UniqueConstraint("source", "external_id", name=op.f("uq_item_request_source_external_id")),
    )
    op.create_index(op.f("ix_item_request_item_id"), "item_request", ["item_id"], unique=False)

    op.create_table(
        "provider_torrent",
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("infohash", sa.String(), nullable=False),
        sa.Column("torrent_id", sa.String(), nullable=True),
        sa.Column("item_id", sa.Integer(), nullable=True),
        sa.Column("intended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_kept", sa.Boolean(), nullable=False),
        sa.Column("is_foreign", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["media_item.id"], name=op.f("fk_provider_torrent_item_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("provider", "infohash", name=op.f("pk_provider_torrent")),
    )
    op.create_index(op.f("ix_provider_torrent_item_id"), "provider_torrent", ["item_id"], unique=False)

    op.create_table(
        "server_confirmation",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("server", sa.String(), nullable=False),
        sa.Column("asked_times", sa.Integer(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("scanned_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["item_id"], ["media_item.id"], name=op.f("fk_server_confirmation_item_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("item_id", "server", name=op.f("pk_server_confirmation")),
    )
    op.create_table(
        "stream",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("infohash", sa.String(), nullable=False),
        sa.Column("raw_title", sa.String(), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("seeders", sa.BigInteger(), nullable=True),
        sa.Column("cached_at", sa.JSON(), nullable=False),
        sa.Column("parsed", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("rejection_code", sa.String(), nullable=True),
        sa.Column("rejection_sentence", sa.String(), nullable=True),
        sa.Column("rejection_permanent", sa.Boolean(), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("score", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("resolution", sa.String(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("similarity", sa.Double(), nullable=False),
        sa.Column("blacklisted", sa.String(), nullable=True),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["media_item.id"], name=op.f("fk_stream_item_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stream")),
        sa.UniqueConstraint("item_id", "infohash", name=op.f("uq_stream_item_id_infohash")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_stream_usable",
        "stream",
        ["item_id", "found_at", "infohash"],
        unique=False,
        sqlite_where=sa.text("rejection_code IS NULL AND blacklisted IS NULL"),
        postgresql_where=sa.text("rejection_code IS NULL AND blacklisted IS NULL"),
    )

    op.create_table(
        "stream_block",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("infohash", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("sentence", sa.String(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["media_item.id"], name=op.f("fk_stream_block_item_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("item_id", "infohash", "provider", name=op.f("pk_stream_block")),
    )
    op.create_index(
        op.f("ix_stream_block_infohash_provider"), "stream_block", ["infohash", "provider"], unique=False
    )


def downgrade() -> None:
    op.drop_index(
        op.f("ix_stream_block_infohash_provider"),
        "stream_block",
    )

    op.drop_table("stream_block")
    op.drop_index(
        "ix_stream_usable",
        "stream",
        sqlite_where=sa.text("rejection_code IS NULL AND blacklisted IS NULL"),
        postgresql_where=sa.text("rejection_code IS NULL AND blacklisted IS NULL"),
    )

    op.drop_table("stream")
    op.drop_table("server_confirmation")
    op.drop_index(
        op.f("ix_provider_torrent_item_id"),
        "provider_torrent",
    )

    op.drop_table("provider_torrent")
    op.drop_index(
        op.f("ix_item_request_item_id"),
        "item_request",
    )

    op.drop_table("item_request")
    op.drop_index(
        op.f("ix_entry_source_torrent_id"),
        "entry_source",
    )

    op.drop_table("entry_source")
    op.drop_index(
        op.f("ix_entry_item_item_id"),
        "entry_item",
    )

    op.drop_table("entry_item")
    op.drop_index(
        op.f("ix_decision_item_id_step"),
        "decision",
    )
    op.drop_index(
        op.f("ix_decision_at"),
        "decision",
    )

    op.drop_table("decision")
    op.drop_table("provider_status")
    op.drop_index(
        op.f("ix_media_item_root_id"),
        "media_item",
    )
    op.drop_index(
        "ix_media_item_reindex",
        "media_item",
        sqlite_where=sa.text("reindex_at IS NOT NULL"),
        postgresql_where=sa.text("reindex_at IS NOT NULL"),
    )
    op.drop_index(
        "ix_media_item_due",
        "media_item",
        sqlite_where=sa.text("next_attempt_at IS NOT NULL"),
        postgresql_where=sa.text("next_attempt_at IS NOT NULL"),
    )
    op.drop_index(
        "ix_media_item_counts",
        "media_item",
    )
    op.drop_index(
        "ix_media_item_calendar",
        "media_item",
    )
    op.drop_index(
        "ix_media_item_by_title",
        "media_item",
    )
    op.drop_index(
        "ix_media_item_by_date",
        "media_item",
    )

    op.drop_table("media_item")
    op.drop_index(
        op.f("ix_media_entry_registered_at"),
        "media_entry",
    )

    op.drop_table("media_entry")
