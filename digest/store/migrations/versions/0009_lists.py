"""Readers' names, as lists from elsewhere have them."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("subscribers", sa.Column("name", sa.String(length=200), server_default=sa.text("''"), nullable=False))


def downgrade() -> None:
    op.drop_column("subscribers", "name")
