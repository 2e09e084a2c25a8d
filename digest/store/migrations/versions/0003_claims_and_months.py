"""When a batch was claimed; deliveries in months; indexes for what a tick and the retention look for."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

COLUMNS = "subscriber_id, local_on, batch_id, state, reason, detail"
MONTHS = """
DO $$
DECLARE first date;
BEGIN
    FOR first IN SELECT DISTINCT date_trunc('month', local_on)::date FROM {old} LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF {new} FOR VALUES FROM (%L) TO (%L)',
            '{new}_' || to_char(first, 'YYYY_MM'), first, (first + interval '1 month')::date
        );
    END LOOP;
END $$
"""


def upgrade() -> None:
    with op.batch_alter_table("batches") as batch_op:
        batch_op.add_column(sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.create_index("ix_batches_claimed", ["provider", "claimed_at"], unique=False)
    with op.batch_alter_table("subscribers") as batch_op:
        batch_op.drop_index("ix_subscribers_paused")
        batch_op.create_index(
            "ix_subscribers_paused_until",
            ["paused_until_on"],
            unique=False,
            postgresql_where=sa.text("paused_until_on IS NOT NULL"),
            sqlite_where=sa.text("paused_until_on IS NOT NULL"),
        )
    with op.batch_alter_table("suppressions") as batch_op:
        batch_op.create_index("ix_suppressions_event_id", ["event_id"], unique=False)
    if op.get_bind().dialect.name == "postgresql":
        _set_aside()
        _create(in_months=True)
        op.execute("CREATE TABLE deliveries_default PARTITION OF deliveries DEFAULT")
        op.execute(MONTHS.format(old="deliveries_before", new="deliveries"))
        _move()


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _set_aside()
        _create(in_months=False)
        _move()
    with op.batch_alter_table("suppressions") as batch_op:
        batch_op.drop_index("ix_suppressions_event_id")
    with op.batch_alter_table("subscribers") as batch_op:
        batch_op.drop_index("ix_subscribers_paused_until")
        batch_op.create_index(
            "ix_subscribers_paused",
            ["cadence_id"],
            unique=False,
            postgresql_where=sa.text("state = 'paused'"),
            sqlite_where=sa.text("state = 'paused'"),
        )
    with op.batch_alter_table("batches") as batch_op:
        batch_op.drop_index("ix_batches_claimed")
        batch_op.drop_column("claimed_at")


def _set_aside() -> None:
    """Rename the table and free the names of its keys and indexes for the new one."""
    op.execute("ALTER TABLE deliveries RENAME TO deliveries_before")
    for constraint in (
        "fk_deliveries_batch_id",
        "fk_deliveries_subscriber_id",
        "pk_deliveries",
        "ck_deliveries_reason",
    ):
        op.drop_constraint(constraint, "deliveries_before")
    for index in ("ix_deliveries_batch_id", "ix_deliveries_local_on"):
        op.drop_index(index, "deliveries_before")


def _create(*, in_months: bool) -> None:
    op.create_table(
        "deliveries",
        sa.Column("subscriber_id", sa.BigInteger(), nullable=False),
        sa.Column("local_on", sa.Date(), nullable=False),
        sa.Column("batch_id", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(24), nullable=True),
        sa.Column("reason", sa.String(24), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(coalesce(state, '') IN ('skipped', 'failed', 'unknown')) = (reason IS NOT NULL)",
            name=op.f("ck_deliveries_reason"),
        ),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name=op.f("fk_deliveries_batch_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["subscriber_id"], ["subscribers.id"], name=op.f("fk_deliveries_subscriber_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("subscriber_id", "local_on", name=op.f("pk_deliveries")),
        postgresql_partition_by="RANGE (local_on)" if in_months else None,
    )
    op.create_index("ix_deliveries_batch_id", "deliveries", ["batch_id"], unique=False)
    op.create_index("ix_deliveries_local_on", "deliveries", ["local_on"], unique=False)


def _move() -> None:
    op.execute(f"INSERT INTO deliveries ({COLUMNS}) SELECT {COLUMNS} FROM deliveries_before")  # noqa: S608 - two literals
    op.drop_table("deliveries_before")
