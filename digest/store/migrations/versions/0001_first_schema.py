"""First schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cadences",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("send_time", sa.Time(), nullable=False),
        sa.Column("weekdays", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("weekdays BETWEEN 1 AND 127", name=op.f("ck_cadences_weekdays")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cadences")),
        sa.UniqueConstraint("timezone", "send_time", "weekdays", name=op.f("uq_cadences_timezone_send_time_weekdays")),
    )
    op.create_table(
        "editions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("send_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("local_on", sa.Date(), nullable=False),
        sa.Column("window_start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("window_end_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_editions")),
        sa.UniqueConstraint(
            "send_at",
            "local_on",
            "window_start_at",
            "window_end_at",
            name=op.f("uq_editions_send_at_local_on_window_start_at_window_end_at"),
        ),
    )
    with op.batch_alter_table("editions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_editions_local_on"), ["local_on"], unique=False)

    op.create_table(
        "sources",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("feed_url", sa.Text(), nullable=True),
        sa.Column("home_url", sa.Text(), nullable=False),
        sa.Column("language", sa.String(24), nullable=True),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=False),
        sa.Column("last_modified", sa.Text(), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("fetch_after_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
        sa.UniqueConstraint("feed_url", name=op.f("uq_sources_feed_url")),
        sa.UniqueConstraint("name", name=op.f("uq_sources_name")),
    )
    op.create_table(
        "switches",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_switches")),
    )
    op.create_table(
        "briefs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("edition_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("language", sa.String(24), nullable=False),
        sa.Column("topics", sa.String(length=400), nullable=False),
        sa.Column("state", sa.String(24), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("nudged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("compiled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("html", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("slots", sa.JSON(), nullable=False),
        sa.Column("story_ids", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["edition_id"], ["editions.id"], name=op.f("fk_briefs_edition_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_briefs")),
        sa.UniqueConstraint("edition_id", "language", "topics", name=op.f("uq_briefs_edition_id_language_topics")),
    )
    with op.batch_alter_table("briefs", schema=None) as batch_op:
        batch_op.create_index(
            "ix_briefs_planned",
            ["id"],
            unique=False,
            postgresql_where=sa.text("state = 'planned'"),
            sqlite_where=sa.text("state = 'planned'"),
        )

    op.create_table(
        "mornings",
        sa.Column("cadence_id", sa.Integer(), nullable=False),
        sa.Column("local_on", sa.Date(), nullable=False),
        sa.Column("edition_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("planned_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("missed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cadence_id"], ["cadences.id"], name=op.f("fk_mornings_cadence_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["edition_id"], ["editions.id"], name=op.f("fk_mornings_edition_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("cadence_id", "local_on", name=op.f("pk_mornings")),
    )
    op.create_table(
        "stories",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("source_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("slug", sa.String(length=160), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("canonical_url", sa.Text(), nullable=False),
        sa.Column("identifier", sa.Text(), nullable=False),
        sa.Column("language", sa.String(24), nullable=False),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("enters_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("edited", sa.Boolean(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_stories_source_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stories")),
        sa.UniqueConstraint("canonical_url", name=op.f("uq_stories_canonical_url")),
        sa.UniqueConstraint("slug", name=op.f("uq_stories_slug")),
        sa.UniqueConstraint("source_id", "identifier", name=op.f("uq_stories_source_id_identifier")),
    )
    with op.batch_alter_table("stories", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_stories_enters_at"), ["enters_at"], unique=False)
        batch_op.create_index(
            "ix_stories_unwritten",
            ["id"],
            unique=False,
            postgresql_where=sa.text("written_at IS NULL"),
            sqlite_where=sa.text("written_at IS NULL"),
        )

    op.create_table(
        "subscribers",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("email_key", sa.String(length=320), nullable=False),
        sa.Column("state", sa.String(24), nullable=False),
        sa.Column("reason", sa.String(24), nullable=True),
        sa.Column("language", sa.String(24), nullable=False),
        sa.Column("cadence_id", sa.Integer(), nullable=False),
        sa.Column("topics", sa.String(length=400), nullable=False),
        sa.Column("active_from_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("window_start_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paused_until_on", sa.Date(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("(state = 'ended') = (reason IS NOT NULL)", name=op.f("ck_subscribers_reason")),
        sa.CheckConstraint("(state = 'paused') OR (paused_until_on IS NULL)", name=op.f("ck_subscribers_pause")),
        sa.ForeignKeyConstraint(["cadence_id"], ["cadences.id"], name=op.f("fk_subscribers_cadence_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscribers")),
        sa.UniqueConstraint("email_key", name=op.f("uq_subscribers_email_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("subscribers", schema=None) as batch_op:
        batch_op.create_index(
            "ix_subscribers_due",
            ["cadence_id", "language", "topics", "window_start_at"],
            unique=False,
            postgresql_where=sa.text("state = 'active'"),
            sqlite_where=sa.text("state = 'active'"),
        )
        batch_op.create_index(
            "ix_subscribers_paused",
            ["cadence_id"],
            unique=False,
            postgresql_where=sa.text("state = 'paused'"),
            sqlite_where=sa.text("state = 'paused'"),
        )

    op.create_table(
        "batches",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("brief_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("doubtful", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(24), nullable=False),
        sa.Column("reason", sa.String(24), nullable=True),
        sa.Column("not_before_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("nudged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("receipt", sa.String(length=200), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.CheckConstraint("(state = 'sending') = (lease_until_at IS NOT NULL)", name=op.f("ck_batches_lease")),
        sa.CheckConstraint(
            "(state IN ('skipped', 'failed', 'unknown')) = (reason IS NOT NULL)", name=op.f("ck_batches_reason")
        ),
        sa.CheckConstraint("state <> 'sent' OR sent_at IS NOT NULL", name=op.f("ck_batches_sent_at")),
        sa.ForeignKeyConstraint(["brief_id"], ["briefs.id"], name=op.f("fk_batches_brief_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
    )
    with op.batch_alter_table("batches", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_batches_brief_id"), ["brief_id"], unique=False)
        batch_op.create_index(
            "ix_batches_open",
            ["state", "not_before_at"],
            unique=False,
            postgresql_where=sa.text("state IN ('planned', 'ready', 'sending', 'unknown')"),
            sqlite_where=sa.text("state IN ('planned', 'ready', 'sending', 'unknown')"),
        )

    op.create_table(
        "consents",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("subscriber_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("source", sa.String(length=400), nullable=False),
        sa.Column("wording", sa.String(length=40), nullable=False),
        sa.Column("language", sa.String(24), nullable=False),
        sa.Column("cadence_id", sa.Integer(), nullable=False),
        sa.Column("topics", sa.String(length=400), nullable=False),
        sa.Column("remote", sa.String(length=64), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["cadence_id"], ["cadences.id"], name=op.f("fk_consents_cadence_id")),
        sa.ForeignKeyConstraint(
            ["subscriber_id"], ["subscribers.id"], name=op.f("fk_consents_subscriber_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consents")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("consents", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_consents_subscriber_id_requested_at"), ["subscriber_id", "requested_at"], unique=False
        )

    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("identifier", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(24), nullable=False),
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("subscriber_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("local_on", sa.Date(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["subscriber_id"], ["subscribers.id"], name=op.f("fk_events_subscriber_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.UniqueConstraint("provider", "identifier", name=op.f("uq_events_provider_identifier")),
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_events_subscriber_id_local_on"), ["subscriber_id", "local_on"], unique=False
        )

    op.create_table(
        "story_texts",
        sa.Column("story_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("language", sa.String(24), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("quick_answer", sa.Text(), nullable=False),
        sa.Column("quick_take", sa.Text(), nullable=False),
        sa.Column("key_points", sa.JSON(), nullable=False),
        sa.Column("what_happened", sa.Text(), nullable=False),
        sa.Column("key_evidence", sa.JSON(), nullable=False),
        sa.Column("why_it_matters", sa.Text(), nullable=False),
        sa.Column("what_to_watch", sa.Text(), nullable=False),
        sa.Column("source_excerpt", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["story_id"], ["stories.id"], name=op.f("fk_story_texts_story_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("story_id", "language", name=op.f("pk_story_texts")),
    )
    op.create_table(
        "deliveries",
        sa.Column("subscriber_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("local_on", sa.Date(), nullable=False),
        sa.Column("batch_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
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
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_deliveries_batch_id"), ["batch_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_deliveries_local_on"), ["local_on"], unique=False)

    op.create_table(
        "letters",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("subscriber_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("consent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
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
    )
    with op.batch_alter_table("letters", schema=None) as batch_op:
        batch_op.create_index(
            "ix_letters_open",
            ["state", "not_before_at"],
            unique=False,
            postgresql_where=sa.text("state IN ('ready', 'sending')"),
            sqlite_where=sa.text("state IN ('ready', 'sending')"),
        )
        batch_op.create_index(
            batch_op.f("ix_letters_subscriber_id_kind_created_at"),
            ["subscriber_id", "kind", "created_at"],
            unique=False,
        )

    op.create_table(
        "suppressions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("email_key", sa.String(length=320), nullable=True),
        sa.Column("address_hash", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.String(24), nullable=False),
        sa.Column("event_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("(email_key IS NULL) <> (address_hash IS NULL)", name=op.f("ck_suppressions_one_form")),
        sa.ForeignKeyConstraint(
            ["event_id"], ["events.id"], name=op.f("fk_suppressions_event_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suppressions")),
        sa.UniqueConstraint("address_hash", name=op.f("uq_suppressions_address_hash")),
        sa.UniqueConstraint("email_key", name=op.f("uq_suppressions_email_key")),
    )


def downgrade() -> None:
    op.drop_table("suppressions")
    with op.batch_alter_table("letters", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_letters_subscriber_id_kind_created_at"))
        batch_op.drop_index(
            "ix_letters_open",
            postgresql_where=sa.text("state IN ('ready', 'sending')"),
            sqlite_where=sa.text("state IN ('ready', 'sending')"),
        )

    op.drop_table("letters")
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_deliveries_local_on"))
        batch_op.drop_index(batch_op.f("ix_deliveries_batch_id"))

    op.drop_table("deliveries")
    op.drop_table("story_texts")
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_events_subscriber_id_local_on"))

    op.drop_table("events")
    with op.batch_alter_table("consents", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_consents_subscriber_id_requested_at"))

    op.drop_table("consents")
    with op.batch_alter_table("batches", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_batches_open",
            postgresql_where=sa.text("state IN ('planned', 'ready', 'sending', 'unknown')"),
            sqlite_where=sa.text("state IN ('planned', 'ready', 'sending', 'unknown')"),
        )
        batch_op.drop_index(batch_op.f("ix_batches_brief_id"))

    op.drop_table("batches")
    with op.batch_alter_table("subscribers", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_subscribers_paused",
            postgresql_where=sa.text("state = 'paused'"),
            sqlite_where=sa.text("state = 'paused'"),
        )
        batch_op.drop_index(
            "ix_subscribers_due", postgresql_where=sa.text("state = 'active'"), sqlite_where=sa.text("state = 'active'")
        )

    op.drop_table("subscribers")
    with op.batch_alter_table("stories", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_stories_unwritten",
            postgresql_where=sa.text("written_at IS NULL"),
            sqlite_where=sa.text("written_at IS NULL"),
        )
        batch_op.drop_index(batch_op.f("ix_stories_enters_at"))

    op.drop_table("stories")
    op.drop_table("mornings")
    with op.batch_alter_table("briefs", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_briefs_planned",
            postgresql_where=sa.text("state = 'planned'"),
            sqlite_where=sa.text("state = 'planned'"),
        )

    op.drop_table("briefs")
    op.drop_table("switches")
    op.drop_table("sources")
    with op.batch_alter_table("editions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_editions_local_on"))

    op.drop_table("editions")
    op.drop_table("cadences")
