"""Counts that pages and metrics read: of each instant, and since the beginning."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "figures",
        sa.Column("send_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("local_on", sa.Date(), nullable=False),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("zones", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("send_at", "local_on", name=op.f("pk_figures")),
    )
    op.create_table(
        "tallies",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("label", sa.String(length=80), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", "label", name=op.f("pk_tallies")),
    )


def downgrade() -> None:
    op.drop_table("tallies")
    op.drop_table("figures")
