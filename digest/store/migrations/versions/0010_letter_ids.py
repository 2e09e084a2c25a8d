"""A letter's id is never given again, on SQLite too: it is in Message-IDs and in what providers report."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
OPEN = "state IN ('ready', 'sending')"


def upgrade() -> None:
    _remake(keeps_ids=True)


def downgrade() -> None:
    _remake(keeps_ids=False)


def _remake(*, keeps_ids: bool) -> None:
    # PostgreSQL's sequences never go back. SQLite can only be told so when a table is made.
    if op.get_bind().dialect.name == "sqlite":
        options = {"sqlite_autoincrement": keeps_ids}
        with op.batch_alter_table("letters", recreate="always", copy_from=_letters(), table_kwargs=options):
            pass


def _letters() -> sa.Table:
    # Named in full, since SQLite does not tell its checks.
    return sa.Table(
        "letters",
        sa.MetaData(),
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("consent_id", ID, nullable=True),
        sa.Column("language", sa.String(24), nullable=False),
        sa.Column("state", sa.String(24), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("not_before_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("nudged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.CheckConstraint("(state = 'sending') = (lease_until_at IS NOT NULL)", name=op.f("ck_letters_lease")),
        sa.ForeignKeyConstraint(
            ["consent_id"], ["consents.id"], name=op.f("fk_letters_consent_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["subscriber_id"], ["subscribers.id"], name=op.f("fk_letters_subscriber_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_letters")),
        sa.Index("ix_letters_open", "state", "not_before_at", sqlite_where=sa.text(OPEN)),
        sa.Index("ix_letters_subscriber_id_kind_created_at", "subscriber_id", "kind", "created_at"),
    )
