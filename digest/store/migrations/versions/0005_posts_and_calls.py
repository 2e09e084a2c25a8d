"""Posts of provider events as they came; what is told to other programs, and to whom."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "event_posts",
        sa.Column("id", ID, nullable=False),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("not_before_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("nudged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_posts")),
    )
    is_open = sa.text("closed_at IS NULL")
    op.create_index("ix_event_posts_open", "event_posts", ["id"], postgresql_where=is_open, sqlite_where=is_open)
    op.create_index("ix_event_posts_received_at", "event_posts", ["received_at"])
    op.create_table(
        "announcements",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_announcements")),
        sa.UniqueConstraint("name", name=op.f("uq_announcements_name")),
    )
    is_new = sa.text("taken_at IS NULL")
    op.create_index("ix_announcements_new", "announcements", ["id"], postgresql_where=is_new, sqlite_where=is_new)
    op.create_index("ix_announcements_created_at", "announcements", ["created_at"])
    op.create_table(
        "calls",
        sa.Column("id", ID, nullable=False),
        sa.Column("announcement_id", ID, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("not_before_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("nudged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["announcement_id"], ["announcements.id"], name=op.f("fk_calls_announcement_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_calls")),
        sa.UniqueConstraint("announcement_id", "url", name=op.f("uq_calls_announcement_id_url")),
    )
    op.create_index("ix_calls_open", "calls", ["id"], postgresql_where=is_open, sqlite_where=is_open)


def downgrade() -> None:
    for table in ("calls", "announcements", "event_posts"):
        op.drop_table(table)
