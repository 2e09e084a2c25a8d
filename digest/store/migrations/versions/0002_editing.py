"""Stories that an editor places, a writer's work and its costs, corrections."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    with op.batch_alter_table("stories") as batch_op:
        batch_op.add_column(sa.Column("pinned", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("hidden", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("position", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("flag", sa.Text(), server_default=sa.text("''"), nullable=False))
        batch_op.add_column(
            sa.Column("written_by", sa.String(length=120), server_default=sa.text("''"), nullable=False)
        )
    op.create_table(
        "assignments",
        sa.Column("story_id", ID, nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["story_id"], ["stories.id"], name=op.f("fk_assignments_story_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("story_id", name=op.f("pk_assignments")),
    )
    op.create_index("ix_assignments_due_at", "assignments", ["due_at"])
    op.create_table(
        "drafts",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("texts", sa.JSON(), nullable=False),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("fault", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_drafts")),
    )
    op.create_table(
        "spendings",
        sa.Column("writer", sa.String(length=120), nullable=False),
        sa.Column("spent_on", sa.Date(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("writer", "spent_on", name=op.f("pk_spendings")),
    )
    op.create_table(
        "corrections",
        sa.Column("id", ID, nullable=False),
        sa.Column("story_id", ID, nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["story_id"], ["stories.id"], name=op.f("fk_corrections_story_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_corrections")),
    )
    op.create_table(
        "corrected_briefs",
        sa.Column("correction_id", ID, nullable=False),
        sa.Column("brief_id", ID, nullable=False),
        sa.Column("is_notice", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["correction_id"], ["corrections.id"], name=op.f("fk_corrected_briefs_correction_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["brief_id"], ["briefs.id"], name=op.f("fk_corrected_briefs_brief_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("correction_id", "brief_id", name=op.f("pk_corrected_briefs")),
    )
    op.create_index("ix_corrected_briefs_brief_id", "corrected_briefs", ["brief_id"])


def downgrade() -> None:
    op.drop_table("corrected_briefs")
    op.drop_table("corrections")
    op.drop_table("spendings")
    op.drop_table("drafts")
    op.drop_table("assignments")
    with op.batch_alter_table("stories") as batch_op:
        for column in ("written_by", "flag", "position", "hidden", "pinned"):
            batch_op.drop_column(column)
