"""What the reader's pages need: reasons for leaving, changes of address, the search."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FULL_TEXT = (
    "CREATE VIRTUAL TABLE story_search_fts USING fts5(words, content='story_search', content_rowid='id')",
    """CREATE TRIGGER story_search_added AFTER INSERT ON story_search BEGIN
        INSERT INTO story_search_fts (rowid, words) VALUES (new.id, new.words);
    END""",
    """CREATE TRIGGER story_search_removed AFTER DELETE ON story_search BEGIN
        INSERT INTO story_search_fts (story_search_fts, rowid, words) VALUES ('delete', old.id, old.words);
    END""",
    """CREATE TRIGGER story_search_changed AFTER UPDATE ON story_search BEGIN
        INSERT INTO story_search_fts (story_search_fts, rowid, words) VALUES ('delete', old.id, old.words);
        INSERT INTO story_search_fts (rowid, words) VALUES (new.id, new.words);
    END""",
)


def upgrade() -> None:
    op.add_column("subscribers", sa.Column("left_because", sa.String(length=24), nullable=True))
    op.create_index(
        "ix_subscribers_pending",
        "subscribers",
        ["id"],
        postgresql_where=sa.text("state = 'pending'"),
        sqlite_where=sa.text("state = 'pending'"),
    )
    op.create_table(
        "address_changes",
        sa.Column("id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("previous_email", sa.String(length=320), nullable=False),
        sa.Column("asked_letter_id", ID, nullable=True),
        sa.Column("told_letter_id", ID, nullable=True),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["subscriber_id"], ["subscribers.id"], name=op.f("fk_address_changes_subscriber_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["asked_letter_id"], ["letters.id"], name=op.f("fk_address_changes_asked_letter_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["told_letter_id"], ["letters.id"], name=op.f("fk_address_changes_told_letter_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_address_changes")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_address_changes_subscriber_id_requested_at"), "address_changes", ["subscriber_id", "requested_at"]
    )
    op.create_index(op.f("ix_address_changes_asked_letter_id"), "address_changes", ["asked_letter_id"])
    op.create_table(
        "story_search",
        sa.Column("id", ID, nullable=False),
        sa.Column("story_id", ID, nullable=False),
        sa.Column("language", sa.String(length=24), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["story_id"], ["stories.id"], name=op.f("fk_story_search_story_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_story_search")),
        sa.UniqueConstraint("story_id", "language", name=op.f("uq_story_search_story_id_language")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.create_index(
            "ix_story_search_words",
            "story_search",
            [sa.text("array_to_tsvector(string_to_array(words, ' '))")],
            postgresql_using="gin",
        )
    else:
        for statement in FULL_TEXT:
            op.execute(statement)


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE story_search_fts")
    op.drop_table("story_search")
    op.drop_table("address_changes")
    op.drop_index("ix_subscribers_pending", table_name="subscribers")
    op.drop_column("subscribers", "left_because")
