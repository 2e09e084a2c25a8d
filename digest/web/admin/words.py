"""The ledger's words as sentences, in the language of whoever looks."""

from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from digest.domain.delivery import DeliveryReason
from digest.domain.event import EventKind
from digest.domain.explanation import Why
from digest.domain.language import Language
from digest.domain.schedule import is_known_zone
from digest.domain.staff import ActKind, Role
from digest.domain.subscriber import EndReason
from digest.rendering.dates import local_time, short_date
from digest.steps.explain_reader import Day, Explained
from digest.web.phrases import marked, say

REASONS: Mapping[DeliveryReason, str] = {
    DeliveryReason.NOTHING_NEW: marked("There was no new story for these topics and this language."),
    DeliveryReason.MISSED: marked("The scheduler did not run until the grace was over."),
    DeliveryReason.LATE: marked("It could not be handed over within the grace."),
    DeliveryReason.UNSUBSCRIBED: marked("The reader had left before it was handed over."),
    DeliveryReason.PAUSED: marked("The reader had paused before it was handed over."),
    DeliveryReason.SUPPRESSED: marked("The address is suppressed."),
    DeliveryReason.NOT_COMPILED: marked("The brief could not be compiled."),
    DeliveryReason.REFUSED: marked("The provider refused this reader for good."),
    DeliveryReason.INVALID_ADDRESS: marked("The address is not one that mail can be sent to."),
    DeliveryReason.LEASE_EXPIRED: marked("The process that handed it over ended before it wrote down the answer."),
    DeliveryReason.ANSWER_LOST: marked("The connection broke before the provider answered."),
    DeliveryReason.TRIED_OUT: marked("There was no definite answer after the last try."),
    DeliveryReason.NEVER_TAKEN: marked("The provider never saw it, and it is too late to give it again."),
    DeliveryReason.LEDGER_LOST: marked("The database came back from an older backup: it may have gone out before."),
    DeliveryReason.UNKNOWN_TIMEZONE: marked("The tzdata in use has no rules for the reader’s zone."),
}
"""Why a delivery was skipped, failed or is unknown."""

SHORT: Mapping[DeliveryReason, str] = {
    DeliveryReason.NOTHING_NEW: marked("nothing new"),
    DeliveryReason.MISSED: marked("missed"),
    DeliveryReason.LATE: marked("too late"),
    DeliveryReason.UNSUBSCRIBED: marked("left"),
    DeliveryReason.PAUSED: marked("paused"),
    DeliveryReason.SUPPRESSED: marked("suppressed"),
    DeliveryReason.UNKNOWN_TIMEZONE: marked("no zone rules"),
}
"""Why deliveries are skipped, as labels in a table."""

ENDINGS: Mapping[EndReason, str] = {
    EndReason.UNSUBSCRIBED: marked("the reader unsubscribed"),
    EndReason.COMPLAINED: marked("the reader reported a brief as spam"),
    EndReason.BOUNCED: marked("the address bounced"),
    EndReason.IMPORTED: marked("it came with an import as ended already"),
}

WHYS: Mapping[Why, str] = {
    Why.DELIVERED: marked("Handed over at {sent}; the mailbox took it."),
    Why.SENT: marked("Handed over at {sent}; the provider took it, and no report of the mailbox is here."),
    Why.BOUNCED: marked("Handed over at {sent}, and bounced: the address is dead."),
    Why.SOFT_BOUNCED: marked("Handed over at {sent}; the mailbox was full or out of reach until the provider gave up."),
    Why.BLOCKED: marked("Handed over at {sent}; the receiver refused it for policy, reputation or content: our fault."),
    Why.DROPPED: marked("Handed over at {sent}, and dropped by the provider before it was sent."),
    Why.SKIPPED: marked("Skipped. {reason}"),
    Why.FAILED: marked("Failed. {reason}"),
    Why.UNKNOWN: marked("May or may not have gone out. {reason}"),
    Why.WAITING: marked("Waits: may leave from {from} on."),
    Why.HELD: marked("Waits: the operator has paused the sending."),
    Why.ZONE_UNKNOWN: marked("The tzdata in use has no rules for the reader’s zone."),
    Why.OTHER_DAYS: marked("Not one of the reader’s days."),
    Why.NOT_YET: marked("Still to come: due at {due}."),
    Why.BARRED: marked("Nothing will go out: the address is suppressed."),
    Why.BEFORE_SIGN_UP: marked("Before the reader signed up."),
    Why.UNCONFIRMED: marked("Not confirmed: nobody pressed the button in the confirmation message."),
    Why.INACTIVE_THEN: marked("Not active then: confirmed, resumed or came back on {active}."),
    Why.ENDED: marked("The subscription had ended on {changed}: {ending}."),
    Why.PAUSED: marked("Paused since {changed}."),
    Why.MISSED: marked("Nobody with this zone and hour got one: the scheduler did not run until the grace was over."),
    Why.FORGOTTEN: marked("The ledger does not reach back so far."),
    Why.CHANGED_THEN: marked(
        "The settings changed on {changed}; by those of before it was not due, or was taken back."
    ),
    Why.NO_TRACE: marked("The ledger says nothing, which must not be: run digest audit."),
}
"""Why a morning came out as it did."""

STATUSES: Mapping[str, str] = {
    "planned": marked("planned"),
    "ready": marked("ready"),
    "sending": marked("sending"),
    "sent": marked("sent"),
    "skipped": marked("skipped"),
    "failed": marked("failed"),
    "unknown": marked("unknown"),
    "delivered": marked("delivered"),
    "bounced": marked("bounced"),
    "none": marked("none"),
    "pending": marked("pending"),
    "active": marked("active"),
    "paused": marked("paused"),
    "ended": marked("ended"),
    "empty": marked("empty"),
    "compiled": marked("compiled"),
    "missed": marked("missed"),
    "waiting": marked("waiting"),
    "due": marked("due"),
}
"""States of deliveries, batches, briefs and subscribers, as labels."""

EVENTS: Mapping[EventKind, str] = {
    EventKind.PROCESSED: marked("processed"),
    EventKind.DEFERRED: marked("deferred"),
    EventKind.DELIVERED: marked("delivered"),
    EventKind.BOUNCED: marked("bounced"),
    EventKind.SOFT_BOUNCED: marked("soft-bounced"),
    EventKind.BLOCKED: marked("blocked"),
    EventKind.DROPPED: marked("dropped"),
    EventKind.COMPLAINED: marked("reported as spam"),
    EventKind.UNSUBSCRIBED: marked("unsubscribed"),
    EventKind.OPENED: marked("opened"),
    EventKind.CLICKED: marked("clicked"),
    EventKind.OTHER: marked("something else"),
}
"""What providers report, as labels."""

OUTCOMES: Mapping[str, str] = {"done": marked("done"), "refused": marked("refused"), "failed": marked("failed")}
"""How an act of the staff went."""

ROLES: Mapping[Role, str] = {
    Role.VIEWER: marked("viewer"),
    Role.EDITOR: marked("editor"),
    Role.OWNER: marked("owner"),
}
"""Who somebody of the staff is."""

ACTS: Mapping[ActKind, str] = {
    ActKind.SIGNED_IN: marked("signed in"),
    ActKind.SIGN_IN_REFUSED: marked("sign-in refused"),
    ActKind.SIGNED_OUT: marked("signed out"),
    ActKind.READER_SEEN: marked("looked at a reader"),
    ActKind.READER_EXPORTED: marked("downloaded a reader’s data"),
    ActKind.READER_ENDED: marked("ended a subscription"),
    ActKind.READER_ERASED: marked("erased a reader"),
    ActKind.ADDRESS_BARRED: marked("suppressed an address"),
    ActKind.BAR_LIFTED: marked("lifted a suppression"),
    ActKind.SENDING_PAUSED: marked("paused the sending"),
    ActKind.SENDING_RESUMED: marked("resumed the sending"),
    ActKind.BATCH_RETRIED: marked("gave a batch again"),
    ActKind.SOURCE_CHANGED: marked("changed a source"),
    ActKind.SOURCE_WOKEN: marked("woke a source"),
    ActKind.STORIES_ADDED: marked("added stories"),
    ActKind.STORIES_ORDERED: marked("ordered stories"),
    ActKind.STORY_EDITED: marked("edited a story"),
    ActKind.STORY_PLACED: marked("pinned, hid or released a story"),
    ActKind.STORY_SCHEDULED: marked("scheduled a story"),
    ActKind.STORY_CORRECTED: marked("corrected a story"),
}
"""What the staff did, for the audit log."""

GOOD = frozenset({Why.DELIVERED, Why.SENT})
BAD = frozenset({Why.BOUNCED, Why.SOFT_BOUNCED, Why.BLOCKED, Why.DROPPED, Why.FAILED, Why.UNKNOWN, Why.MISSED})
BAD |= {Why.NO_TRACE, Why.ZONE_UNKNOWN, Why.HELD}


def tone_of(why: Why) -> str:
    """How a line is coloured: ``good``, ``bad`` or ``calm``."""
    return "good" if why in GOOD else "bad" if why in BAD else "calm"


def status_word(status: str, language: Language) -> str:
    """A state as a label; one that is not known stays as it is."""
    return say(STATUSES[status], language) if status in STATUSES else status


def event_word(kind: str, language: Language) -> str:
    """What a provider reported, as a label."""
    return say(EVENTS[EventKind(kind)], language)


def outcome_word(outcome: str | None, language: Language) -> str:
    """How an act went; a question mark while nobody knows."""
    return say(OUTCOMES[outcome], language) if outcome and outcome in OUTCOMES else outcome or "?"


def role_word(role: Role, language: Language) -> str:
    """A role as a label."""
    return say(ROLES[role], language)


def reason_words(reason: str | None, language: Language) -> str:
    """A delivery's reason as a sentence; empty without one."""
    if not reason:
        return ""
    return say(REASONS[DeliveryReason(reason)], language) if reason in set(DeliveryReason) else reason


def reason_short(reason: str, language: Language) -> str:
    """A reason for a skip as a label; one that is not among them stays as it is."""
    return say(SHORT[DeliveryReason(reason)], language) if reason in SHORT else reason


def why_words(day: Day, found: Explained, language: Language) -> str:
    """The sentence that answers why, with the reader's own local times in it."""
    reader, given = found.reader, day.given
    zone = ZoneInfo(reader.cadence.timezone) if is_known_zone(reader.cadence.timezone) else ZoneInfo("UTC")

    def moment(at: datetime | None) -> str:
        local = at.astimezone(zone) if at else None
        return f"{short_date(local.date(), language)} {local_time(local.time(), language)}" if local else "—"

    ending = say(ENDINGS[reader.reason], language) if reader.reason else ""
    values = {
        "sent": moment(given.sent_at if given else None),
        "from": moment(given.not_before_at if given else None),
        "due": moment(day.send.at if day.send else None),
        "active": moment(found.active_from_at),
        "changed": moment(found.changed_at),
        "reason": reason_words(given.reason if given else None, language),
        "ending": ending,
    }
    return say(WHYS[day.why], language, **values)


def act_word(kind: str, language: Language) -> str:
    """An act as the audit log tells it."""
    return say(ACTS[ActKind(kind)], language)
