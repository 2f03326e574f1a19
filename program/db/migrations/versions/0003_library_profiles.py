"""library profiles of files; ratings of titles

Revision: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "media_entry", sa.Column("library_profiles", sa.JSON(), nullable=False, server_default="[]")
    )
    op.add_column("media_item", sa.Column("rating", sa.Double(), nullable=True))
    op.add_column("media_item", sa.Column("content_rating", sa.String(), nullable=True))
