"""better and further copies

Revision: 0004, after: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("media_item", sa.Column("upgrade_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("media_entry", sa.Column("ranking_profile", sa.String(), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("media_entry", "ranking_profile")
    op.drop_column("media_item", "upgrade_at")
