"""the health of sources

Revision: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("media_entry", sa.Column("mend_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("media_entry", sa.Column("given_up_at", sa.DateTime(timezone=True), nullable=True))
    has_date = sa.text("mend_at IS NOT NULL")
    op.create_index(
        op.f("ix_media_entry_mend_at"), "media_entry", ["mend_at"], sqlite_where=has_date, postgresql_where=has_date
    )
    op.create_table(
        "source_trouble",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["entry_source.id"],
            name=op.f("fk_source_trouble_source_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_source_trouble")),
    )
    op.create_index(op.f("ix_source_trouble_source_id"), "source_trouble", ["source_id"], unique=False)
    op.create_table(
        "torrent_offer",
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("infohash", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("provider", "infohash", name=op.f("pk_torrent_offer")),
    )
