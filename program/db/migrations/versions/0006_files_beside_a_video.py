"""files beside a video

Revision: 0006, after: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "companion_entry",
        sa.Column("entry_id", sa.Integer(), nullable=False),
        sa.Column("video_id", sa.Integer(), nullable=False),
        sa.Column("tail", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["entry_id"],
            ["media_entry.id"],
            name=op.f("fk_companion_entry_entry_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["video_id"],
            ["media_entry.id"],
            name=op.f("fk_companion_entry_video_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_companion_entry")),
    )
    op.create_index(op.f("ix_companion_entry_video_id"), "companion_entry", ["video_id"])


def downgrade() -> None:
    op.execute("DELETE FROM media_entry WHERE id IN (SELECT entry_id FROM companion_entry)")
    op.drop_table("companion_entry")
