"""Sources that rest or move, hosts that are spared, stories that are one event."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

PAGE_DUE = sa.text("page_due_at IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "hosts",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("free_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_hosts")),
    )
    with op.batch_alter_table("sources") as batch_op:
        batch_op.add_column(sa.Column("failing_since_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("rest", sa.String(24), nullable=True))
        batch_op.add_column(sa.Column("moved_to", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("body_hash", sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column("reads_pages", sa.Boolean(), server_default=sa.false(), nullable=False))
    with op.batch_alter_table("stories") as batch_op:
        batch_op.add_column(sa.Column("lead_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True))
        batch_op.add_column(sa.Column("feed_hash", sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column("page_due_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.create_foreign_key(op.f("fk_stories_lead_id"), "stories", ["lead_id"], ["id"], ondelete="SET NULL")
        batch_op.drop_constraint("uq_stories_canonical_url", type_="unique")
        batch_op.create_unique_constraint(op.f("uq_stories_source_id_canonical_url"), ["source_id", "canonical_url"])
    op.create_index("ix_stories_canonical_url", "stories", ["canonical_url"], unique=False)
    op.create_index("ix_stories_lead_id", "stories", ["lead_id"], unique=False)
    op.create_index(
        "ix_stories_page_due_at", "stories", ["page_due_at"], postgresql_where=PAGE_DUE, sqlite_where=PAGE_DUE
    )
    op.create_table(
        "story_keys",
        sa.Column("story_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["story_id"], ["stories.id"], name=op.f("fk_story_keys_story_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("story_id", "key", name=op.f("pk_story_keys")),
    )
    op.create_index("ix_story_keys_key_day", "story_keys", ["key", "day"], unique=False)


def downgrade() -> None:
    op.drop_table("story_keys")
    # Of several items at one address only the first can stay.
    op.execute(
        "DELETE FROM stories WHERE EXISTS"
        " (SELECT 1 FROM stories AS first WHERE first.canonical_url = stories.canonical_url AND first.id < stories.id)"
    )
    for table in ("story_texts", "story_search", "assignments", "corrections"):
        op.execute(f"DELETE FROM {table} WHERE story_id NOT IN (SELECT id FROM stories)")  # noqa: S608 - four literals
    op.drop_index("ix_stories_page_due_at", "stories")
    op.drop_index("ix_stories_lead_id", "stories")
    op.drop_index("ix_stories_canonical_url", "stories")
    with op.batch_alter_table("stories") as batch_op:
        batch_op.drop_constraint("uq_stories_source_id_canonical_url", type_="unique")
        batch_op.create_unique_constraint("uq_stories_canonical_url", ["canonical_url"])
        batch_op.drop_constraint("fk_stories_lead_id", type_="foreignkey")
        batch_op.drop_column("page_due_at")
        batch_op.drop_column("feed_hash")
        batch_op.drop_column("lead_id")
    with op.batch_alter_table("sources") as batch_op:
        for column in ("reads_pages", "body_hash", "moved_to", "rest", "failing_since_at"):
            batch_op.drop_column(column)
    op.drop_table("hosts")
