"""Every table, in one module so that relations need no cycles.

The constraints make wrong states impossible: one address once, one delivery per subscriber and local date, one row per
event. Columns end in ``_at`` for instants (UTC) and ``_on`` for dates.
"""

from datetime import date, datetime, time
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Date,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    Time,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState, DeliveryReason, DeliveryState
from digest.domain.event import EventKind
from digest.domain.language import Language, LanguageChoice
from digest.domain.news import News
from digest.domain.schedule import Cadence
from digest.domain.source import RestReason
from digest.domain.staff import ActKind, Role
from digest.domain.subscriber import EndReason, LeaveReason, SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.store.types import UtcDateTime, Word

Id = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts up only a column declared INTEGER."""

KEEPS_IDS = {"sqlite_autoincrement": True}
"""Ids stand in signed links and Message-IDs that outlive rows, so SQLite must never give a deleted row's id again."""


class Table(DeclarativeBase):
    """Base of the tables."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it from the class
        datetime: UtcDateTime(),
        Language: Word(Language),
        LanguageChoice: Word(LanguageChoice),
        SubscriberState: Word(SubscriberState),
        EndReason: Word(EndReason),
        LeaveReason: Word(LeaveReason),
        BriefState: Word(BriefState),
        BatchState: Word(BatchState),
        DeliveryState: Word(DeliveryState),
        DeliveryReason: Word(DeliveryReason),
        EventKind: Word(EventKind),
        News: Word(News),
        SuppressionReason: Word(SuppressionReason),
        RestReason: Word(RestReason),
        Role: Word(Role),
        ActKind: Word(ActKind),
        dict[str, Any]: JSON,
        list[Any]: JSON,
    }


class Source(Table):
    """A feed, or the name under which imported stories came."""

    __tablename__ = "sources"
    __table_args__ = (UniqueConstraint("name"), UniqueConstraint("feed_url"))

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    feed_url: Mapped[str | None] = mapped_column(Text)
    home_url: Mapped[str] = mapped_column(Text, default="")
    language: Mapped[Language | None]
    topics: Mapped[list[Any]] = mapped_column(default=list)
    weight: Mapped[float] = mapped_column(default=0.6)
    etag: Mapped[str] = mapped_column(Text, default="")
    last_modified: Mapped[str] = mapped_column(Text, default="")
    fetched_at: Mapped[datetime | None]
    error: Mapped[str] = mapped_column(Text, default="")
    failures: Mapped[int] = mapped_column(default=0)
    fetch_after_at: Mapped[datetime | None]
    failing_since_at: Mapped[datetime | None]
    rest: Mapped[RestReason | None]
    """Why it is no longer fetched by itself."""
    moved_to: Mapped[str | None] = mapped_column(Text)
    """Where the last fetch was redirected for good; the next one confirms it."""
    body_hash: Mapped[str | None] = mapped_column(String(64))
    """Of the last document that was whole, so that the same one again costs nothing."""
    reads_pages: Mapped[bool] = mapped_column(default=False, server_default=false())
    """The full text is read from the pages its items link to."""
    created_at: Mapped[datetime]


class Host(Table):
    """When a web server may next be asked: the mark that all workers share."""

    __tablename__ = "hosts"

    name: Mapped[str] = mapped_column(String(255), primary_key=True)
    free_at: Mapped[datetime]


class Story(Table):
    """One item of a source; its texts are rows of their own.

    Items that report one event are a group: the first of them leads it, the others point to it and are in no list.
    """

    __tablename__ = "stories"
    __table_args__ = (
        UniqueConstraint("slug"),
        UniqueConstraint("source_id", "canonical_url"),
        UniqueConstraint("source_id", "identifier"),
        Index(None, "canonical_url"),
        Index(None, "enters_at"),
        Index(None, "lead_id"),
        Index(
            "ix_stories_page_due_at",
            "page_due_at",
            postgresql_where=text("page_due_at IS NOT NULL"),
            sqlite_where=text("page_due_at IS NOT NULL"),
        ),
        Index(
            "ix_stories_unwritten",
            "id",
            postgresql_where=text("written_at IS NULL"),
            sqlite_where=text("written_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"))
    slug: Mapped[str] = mapped_column(String(160))
    url: Mapped[str] = mapped_column(Text)
    canonical_url: Mapped[str] = mapped_column(Text)
    identifier: Mapped[str] = mapped_column(Text)
    language: Mapped[Language]
    topics: Mapped[list[Any]] = mapped_column(default=list)
    published_at: Mapped[datetime | None]
    seen_at: Mapped[datetime]
    enters_at: Mapped[datetime]
    body: Mapped[str] = mapped_column(Text, default="")
    lead_id: Mapped[int | None] = mapped_column(ForeignKey("stories.id", ondelete="SET NULL"))
    """The story that leads its group; empty for one that leads itself."""
    feed_hash: Mapped[str | None] = mapped_column(String(64))
    """Of what the feed said of it, to tell when that changes."""
    page_due_at: Mapped[datetime | None]
    """When its page is to be read; empty where it is not, or was."""
    edited: Mapped[bool] = mapped_column(default=False)
    """Its texts came from a person's file: what a feed says later does not overwrite them."""
    pinned: Mapped[bool] = mapped_column(default=False, server_default=false())
    hidden: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Taken off every list and page by an editor."""
    position: Mapped[int | None]
    """Where an editor put it among the others; the lowest first."""
    flag: Mapped[str] = mapped_column(Text, default="", server_default=text("''"))
    """Why an editor should look at its texts; empty where nobody need."""
    written_by: Mapped[str] = mapped_column(String(120), default="", server_default=text("''"))
    """Which editor wrote its texts: a model and the version of its prompt, or empty for the source's own words."""
    written_at: Mapped[datetime | None]
    """When the editor went over its texts; empty until then."""

    source: Mapped[Source] = relationship(lazy="raise")
    texts: Mapped[list["StoryTextRow"]] = relationship(lazy="raise", cascade="all, delete-orphan", passive_deletes=True)


class StoryKey(Table):
    """A name, number or link by which another report of the same event is found."""

    __tablename__ = "story_keys"
    __table_args__ = (Index(None, "key", "day"),)

    story_id: Mapped[int] = mapped_column(ForeignKey("stories.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(String(80), primary_key=True)
    day: Mapped[int]
    """Days since 1970 to the story's publication, else to the first sight of it."""


class StoryTextRow(Table):
    """A story's text in one language."""

    __tablename__ = "story_texts"

    story_id: Mapped[int] = mapped_column(ForeignKey("stories.id", ondelete="CASCADE"), primary_key=True)
    language: Mapped[Language] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    quick_answer: Mapped[str] = mapped_column(Text, default="")
    quick_take: Mapped[str] = mapped_column(Text, default="")
    key_points: Mapped[list[Any]] = mapped_column(default=list)
    what_happened: Mapped[str] = mapped_column(Text, default="")
    key_evidence: Mapped[list[Any]] = mapped_column(default=list)
    why_it_matters: Mapped[str] = mapped_column(Text, default="")
    what_to_watch: Mapped[str] = mapped_column(Text, default="")
    source_excerpt: Mapped[str] = mapped_column(Text, default="")


class Assignment(Table):
    """A story that waits for the writer. The row is the work to do, and is gone when it is done or given up."""

    __tablename__ = "assignments"
    __table_args__ = (Index(None, "due_at"),)

    story_id: Mapped[int] = mapped_column(ForeignKey("stories.id", ondelete="CASCADE"), primary_key=True)
    due_at: Mapped[datetime]
    lease_until_at: Mapped[datetime | None]
    """Set while a worker is at it; one that died lets the lease run out."""
    attempts: Mapped[int] = mapped_column(default=0)


class DraftRow(Table):
    """What a writer made of a source's text, so that the same text is never paid for twice."""

    __tablename__ = "drafts"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    """A hash of the writer, its prompt, its glossary and the text."""
    texts: Mapped[dict[str, Any]]
    topics: Mapped[list[Any]]
    fault: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime]


class Spending(Table):
    """What a writer has used up on one day, UTC."""

    __tablename__ = "spendings"

    writer: Mapped[str] = mapped_column(String(120), primary_key=True)
    on: Mapped[date] = mapped_column("spent_on", Date, primary_key=True)
    tokens: Mapped[int] = mapped_column(BigInteger, default=0)


class Correction(Table):
    """What was wrong in a story, for those who got it so."""

    __tablename__ = "corrections"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    story_id: Mapped[int] = mapped_column(ForeignKey("stories.id", ondelete="CASCADE"))
    notes: Mapped[dict[str, Any]]
    """Language -> what was wrong and what is right."""
    created_at: Mapped[datetime]


class CorrectedBrief(Table):
    """A brief that went out with the wrong text, or one that carries the notice."""

    __tablename__ = "corrected_briefs"
    __table_args__ = (Index(None, "brief_id"),)

    correction_id: Mapped[int] = mapped_column(ForeignKey("corrections.id", ondelete="CASCADE"), primary_key=True)
    brief_id: Mapped[int] = mapped_column(ForeignKey("briefs.id", ondelete="CASCADE"), primary_key=True)
    is_notice: Mapped[bool] = mapped_column(default=False)


class StorySearch(Table):
    """The words by which a story is found in one language: Latin words, and Han text in pieces of one and two signs.

    SQLite has a full-text table beside it that triggers keep up to date.
    """

    __tablename__ = "story_search"
    __table_args__ = (
        UniqueConstraint("story_id", "language"),
        Index(
            "ix_story_search_words", text("array_to_tsvector(string_to_array(words, ' '))"), postgresql_using="gin"
        ).ddl_if(dialect="postgresql"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    story_id: Mapped[int] = mapped_column(ForeignKey("stories.id", ondelete="CASCADE"))
    language: Mapped[Language]
    words: Mapped[str] = mapped_column(Text)


class CadenceRow(Table):
    """A distinct (time zone, local time, weekdays) of the list; a tick reads these few rows, never the subscribers."""

    __tablename__ = "cadences"
    __table_args__ = (
        UniqueConstraint("timezone", "send_time", "weekdays"),
        CheckConstraint("weekdays BETWEEN 1 AND 127", name="weekdays"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    timezone: Mapped[str] = mapped_column(String(64))
    send_time: Mapped[time] = mapped_column(Time)
    weekdays: Mapped[int]
    created_at: Mapped[datetime]

    @property
    def cadence(self) -> Cadence:
        """The value the schedule's rules take."""
        return Cadence(self.timezone, self.send_time, self.weekdays)


class Subscriber(Table):
    """An address with its standing request."""

    __tablename__ = "subscribers"
    __table_args__ = (
        UniqueConstraint("email_key"),
        CheckConstraint("(state = 'ended') = (reason IS NOT NULL)", name="reason"),
        CheckConstraint("(state = 'paused') OR (paused_until_on IS NULL)", name="pause"),
        Index(
            "ix_subscribers_paused_until",
            "paused_until_on",
            postgresql_where=text("paused_until_on IS NOT NULL"),
            sqlite_where=text("paused_until_on IS NOT NULL"),
        ),
        Index(
            "ix_subscribers_due",
            "cadence_id",
            "language",
            "topics",
            "window_start_at",
            postgresql_where=text("state = 'active'"),
            sqlite_where=text("state = 'active'"),
        ),
        Index(
            "ix_subscribers_pending",
            "id",
            postgresql_where=text("state = 'pending'"),
            sqlite_where=text("state = 'pending'"),
        ),
        KEEPS_IDS,
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    email: Mapped[str] = mapped_column(String(320))
    email_key: Mapped[str] = mapped_column(String(320))
    name: Mapped[str] = mapped_column(String(200), default="", server_default=text("''"))
    """As an imported list had it; no mail says it."""
    state: Mapped[SubscriberState]
    reason: Mapped[EndReason | None]
    left_because: Mapped[LeaveReason | None]
    """What they said about it, if they did."""
    languages: Mapped[LanguageChoice] = mapped_column("language")
    cadence_id: Mapped[int] = mapped_column(ForeignKey("cadences.id"))
    topics: Mapped[str] = mapped_column(String(400), default="")
    active_from_at: Mapped[datetime | None]
    """Mornings before this instant are not theirs; empty for readers who came with an import."""
    window_start_at: Mapped[datetime | None]
    """A window start of their own, for the next brief only (after joining, or a change of time, zone or language)."""
    paused_until_on: Mapped[date | None] = mapped_column(Date)
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime]

    cadence_row: Mapped[CadenceRow] = relationship(lazy="raise")

    @property
    def language(self) -> Language:
        """The first of :attr:`languages`."""
        return self.languages.language


class Consent(Table):
    """One request to be subscribed and, once confirmed, the proof of it: when, from where, which words."""

    __tablename__ = "consents"
    __table_args__ = (Index(None, "subscriber_id", "requested_at"), KEEPS_IDS)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    subscriber_id: Mapped[int] = mapped_column(ForeignKey("subscribers.id", ondelete="CASCADE"))
    source: Mapped[str] = mapped_column(String(400))
    """``form``, ``api``, or what an import's ``consent_source`` says."""
    wording: Mapped[str] = mapped_column(String(40), default="")
    """Version of the words the reader saw."""
    languages: Mapped[LanguageChoice] = mapped_column("language")
    cadence_id: Mapped[int] = mapped_column(ForeignKey("cadences.id"))
    topics: Mapped[str] = mapped_column(String(400), default="")
    remote: Mapped[str] = mapped_column(String(64), default="")
    """Network address the request came from."""
    requested_at: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]

    @property
    def language(self) -> Language:
        """The first of :attr:`languages`."""
        return self.languages.language


class Morning(Table):
    """A cadence's local date that the scheduler has dealt with: planned, closed, or missed."""

    __tablename__ = "mornings"

    cadence_id: Mapped[int] = mapped_column(ForeignKey("cadences.id", ondelete="CASCADE"), primary_key=True)
    on: Mapped[date] = mapped_column("local_on", Date, primary_key=True)
    edition_id: Mapped[int | None] = mapped_column(ForeignKey("editions.id", ondelete="SET NULL"))
    planned_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    """Set by the first planning at or after the instant, which takes in whoever joined since the lead."""
    missed: Mapped[bool] = mapped_column(default=False)


class Edition(Table):
    """One send instant and local date, and one window of stories."""

    __tablename__ = "editions"
    __table_args__ = (
        UniqueConstraint("send_at", "local_on", "window_start_at", "window_end_at"),
        Index(None, "local_on"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    send_at: Mapped[datetime]
    on: Mapped[date] = mapped_column("local_on", Date)
    window_start_at: Mapped[datetime]
    window_end_at: Mapped[datetime]


class Brief(Table):
    """The words of one edition in one language for one set of topics."""

    __tablename__ = "briefs"
    __table_args__ = (
        UniqueConstraint("edition_id", "language", "topics"),
        Index(
            "ix_briefs_planned",
            "id",
            postgresql_where=text("state = 'planned'"),
            sqlite_where=text("state = 'planned'"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    edition_id: Mapped[int] = mapped_column(ForeignKey("editions.id", ondelete="CASCADE"))
    languages: Mapped[LanguageChoice] = mapped_column("language")
    topics: Mapped[str] = mapped_column(String(400), default="")
    state: Mapped[BriefState]
    attempts: Mapped[int] = mapped_column(default=0)
    nudged_at: Mapped[datetime | None]
    compiled_at: Mapped[datetime | None]
    subject: Mapped[str] = mapped_column(Text, default="")
    html: Mapped[str] = mapped_column(Text, default="", deferred=True)
    text: Mapped[str] = mapped_column(Text, default="", deferred=True)
    slots: Mapped[dict[str, Any]] = mapped_column(default=dict)
    story_ids: Mapped[list[Any]] = mapped_column(default=list)

    edition: Mapped[Edition] = relationship(lazy="raise")

    @property
    def language(self) -> Language:
        """The first of :attr:`languages`."""
        return self.languages.language


class Batch(Table):
    """Subscribers of one brief that are handed to the provider together: the unit of claiming and recovery."""

    __tablename__ = "batches"
    __table_args__ = (
        CheckConstraint("(state = 'sending') = (lease_until_at IS NOT NULL)", name="lease"),
        CheckConstraint("(state IN ('skipped', 'failed', 'unknown')) = (reason IS NOT NULL)", name="reason"),
        CheckConstraint("state <> 'sent' OR sent_at IS NOT NULL", name="sent_at"),
        Index(None, "brief_id"),
        Index(
            "ix_batches_open",
            "state",
            "not_before_at",
            postgresql_where=text("state IN ('planned', 'ready', 'sending', 'unknown')"),
            sqlite_where=text("state IN ('planned', 'ready', 'sending', 'unknown')"),
        ),
        Index("ix_batches_claimed", "provider", "claimed_at"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    brief_id: Mapped[int] = mapped_column(ForeignKey("briefs.id", ondelete="CASCADE"))
    number: Mapped[int]
    """Where it stands among the batches planned with it."""
    state: Mapped[BatchState]
    reason: Mapped[DeliveryReason | None]
    doubtful: Mapped[bool] = mapped_column(default=False)
    """It was *unknown* once: some of its readers may have the brief, so it never counts as not sent."""
    not_before_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    lease_until_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    nudged_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    claimed_at: Mapped[datetime | None]
    """When the newest hand-over began."""
    provider: Mapped[str] = mapped_column(String(20), default="")
    receipt: Mapped[str] = mapped_column(String(200), default="")
    detail: Mapped[str] = mapped_column(Text, default="")

    brief: Mapped[Brief] = relationship(lazy="raise")


class Delivery(Table):
    """One subscriber, one local date: at most one row, ever. Its state is its batch's unless it has one of its own.

    On PostgreSQL each month is a partition, so that old months go as a whole.
    """

    __tablename__ = "deliveries"
    __table_args__ = (
        CheckConstraint(
            "(coalesce(state, '') IN ('skipped', 'failed', 'unknown')) = (reason IS NOT NULL)", name="reason"
        ),
        Index(None, "batch_id"),
        Index(None, "local_on"),
        {"postgresql_partition_by": "RANGE (local_on)"},
    )

    subscriber_id: Mapped[int] = mapped_column(ForeignKey("subscribers.id", ondelete="CASCADE"), primary_key=True)
    on: Mapped[date] = mapped_column("local_on", Date, primary_key=True)
    batch_id: Mapped[int] = mapped_column(ForeignKey("batches.id", ondelete="CASCADE"))
    state: Mapped[DeliveryState | None]
    reason: Mapped[DeliveryReason | None]
    detail: Mapped[str | None] = mapped_column(Text)


class Event(Table):
    """A fact from the provider; append-only, once."""

    __tablename__ = "events"
    __table_args__ = (
        UniqueConstraint("provider", "identifier"),
        Index(None, "subscriber_id", "local_on"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    provider: Mapped[str] = mapped_column(String(20))
    identifier: Mapped[str] = mapped_column(String(200))
    kind: Mapped[EventKind]
    occurred_at: Mapped[datetime]
    received_at: Mapped[datetime]
    subscriber_id: Mapped[int | None] = mapped_column(ForeignKey("subscribers.id", ondelete="CASCADE"))
    on: Mapped[date | None] = mapped_column("local_on", Date)
    detail: Mapped[str] = mapped_column(Text, default="")
    raw: Mapped[str] = mapped_column(Text, default="")


class EventPost(Table):
    """A provider's post of events, byte for byte, until a worker has read it; then only that it came."""

    __tablename__ = "event_posts"
    __table_args__ = (
        Index(
            "ix_event_posts_open",
            "id",
            postgresql_where=text("closed_at IS NULL"),
            sqlite_where=text("closed_at IS NULL"),
        ),
        Index(None, "received_at"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    provider: Mapped[str] = mapped_column(String(20))
    body: Mapped[bytes] = mapped_column(LargeBinary)
    received_at: Mapped[datetime]
    not_before_at: Mapped[datetime]
    nudged_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    closed_at: Mapped[datetime | None]
    detail: Mapped[str] = mapped_column(Text, default="")


class Suppression(Table):
    """An address that must not be written to. In clear while needed to hold mail back; a keyed hash after erasure."""

    __tablename__ = "suppressions"
    __table_args__ = (
        UniqueConstraint("email_key"),
        UniqueConstraint("address_hash"),
        CheckConstraint("(email_key IS NULL) <> (address_hash IS NULL)", name="one_form"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    email_key: Mapped[str | None] = mapped_column(String(320))
    address_hash: Mapped[str | None] = mapped_column(String(64))
    reason: Mapped[SuppressionReason]
    event_id: Mapped[int | None] = mapped_column(ForeignKey("events.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime]


class Letter(Table):
    """One transactional e-mail that a person waits for: the queue of intent is this table, the broker only a nudge."""

    __tablename__ = "letters"
    __table_args__ = (
        CheckConstraint("(state = 'sending') = (lease_until_at IS NOT NULL)", name="lease"),
        Index(
            "ix_letters_open",
            "state",
            "not_before_at",
            postgresql_where=text("state IN ('ready', 'sending')"),
            sqlite_where=text("state IN ('ready', 'sending')"),
        ),
        Index(None, "subscriber_id", "kind", "created_at"),
        KEEPS_IDS,
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    kind: Mapped[str] = mapped_column(String(24))
    subscriber_id: Mapped[int] = mapped_column(ForeignKey("subscribers.id", ondelete="CASCADE"))
    consent_id: Mapped[int | None] = mapped_column(ForeignKey("consents.id", ondelete="CASCADE"))
    language: Mapped[Language]
    state: Mapped[BatchState]
    created_at: Mapped[datetime]
    not_before_at: Mapped[datetime]
    lease_until_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    nudged_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    detail: Mapped[str] = mapped_column(Text, default="")


class AddressChange(Table):
    """A reader's wish to be written to at another address; it moves when that one's owner agrees."""

    __tablename__ = "address_changes"
    __table_args__ = (Index(None, "subscriber_id", "requested_at"), Index(None, "asked_letter_id"), KEEPS_IDS)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    subscriber_id: Mapped[int] = mapped_column(ForeignKey("subscribers.id", ondelete="CASCADE"))
    email: Mapped[str] = mapped_column(String(320))
    previous_email: Mapped[str] = mapped_column(String(320))
    asked_letter_id: Mapped[int | None] = mapped_column(ForeignKey("letters.id", ondelete="SET NULL"))
    """The letter to the new address; none where nobody is to be asked."""
    told_letter_id: Mapped[int | None] = mapped_column(ForeignKey("letters.id", ondelete="SET NULL"))
    """The letter to the former one, once it has moved."""
    requested_at: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]


class Erasure(Table):
    """An address that a provider has still to be told to forget; gone once it was."""

    __tablename__ = "erasures"
    __table_args__ = (Index(None, "provider", "not_before_at"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    provider: Mapped[str] = mapped_column(String(20))
    email: Mapped[str] = mapped_column(String(320))
    created_at: Mapped[datetime]
    not_before_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0)
    detail: Mapped[str] = mapped_column(Text, default="")


class Announcement(Table):
    """Something that other programs may be told, in ids; once by name."""

    __tablename__ = "announcements"
    __table_args__ = (
        UniqueConstraint("name"),
        Index(
            "ix_announcements_new",
            "id",
            postgresql_where=text("taken_at IS NULL"),
            sqlite_where=text("taken_at IS NULL"),
        ),
        Index(None, "created_at"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    kind: Mapped[News]
    facts: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    taken_at: Mapped[datetime | None]
    """When its calls were written down, one for each address then set."""


class Call(Table):
    """One announcement for one address of another program: told, or to be told again."""

    __tablename__ = "calls"
    __table_args__ = (
        UniqueConstraint("announcement_id", "url"),
        Index(
            "ix_calls_open",
            "id",
            postgresql_where=text("closed_at IS NULL"),
            sqlite_where=text("closed_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    announcement_id: Mapped[int] = mapped_column(ForeignKey("announcements.id", ondelete="CASCADE"))
    url: Mapped[str] = mapped_column(Text)
    not_before_at: Mapped[datetime]
    nudged_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    closed_at: Mapped[datetime | None]
    detail: Mapped[str] = mapped_column(Text, default="")

    announcement: Mapped[Announcement] = relationship(lazy="raise")


class Figures(Table):
    """The counts of one instant and local date, so that pages and metrics read a row and not a million deliveries."""

    __tablename__ = "figures"

    send_at: Mapped[datetime] = mapped_column(primary_key=True)
    on: Mapped[date] = mapped_column("local_on", Date, primary_key=True)
    counted_at: Mapped[datetime]
    zones: Mapped[dict[str, Any]]
    """Time zone -> ``status``, ``events`` and ``late``, each a word -> how many; see ``digest.store.figures``."""


class TallyRow(Table):
    """A counter that all processes share."""

    __tablename__ = "tallies"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    label: Mapped[str] = mapped_column(String(80), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, default=0)


class Act(Table):
    """What somebody of the staff did: written down before it is done, with how it went after. Holds no address."""

    __tablename__ = "acts"
    __table_args__ = (Index(None, "target", "id"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    acted_at: Mapped[datetime]
    who: Mapped[str] = mapped_column(String(40))
    role: Mapped[Role]
    kind: Mapped[ActKind]
    target: Mapped[str] = mapped_column(String(80), default="")
    """What it was done to: ``subscriber 17``, ``batch 9``, …"""
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    remote: Mapped[str] = mapped_column(String(64), default="")
    """Network address it was done from."""
    outcome: Mapped[str] = mapped_column(String(200), default="")
    """``done``, or why not; empty where the process ended in between."""


class Switch(Table):
    """An operator's switch or a mark of the scheduler that every process must see and a restart must keep."""

    __tablename__ = "switches"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime]
