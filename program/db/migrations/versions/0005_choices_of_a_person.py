"""what a person chose for a title: its ranking, its folders

Revision: 0005, after: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("media_item", sa.Column("ranking_profile", sa.String(), nullable=True))
    op.add_column("media_item", sa.Column("library_profiles", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("media_item", "library_profiles")
    op.drop_column("media_item", "ranking_profile")
