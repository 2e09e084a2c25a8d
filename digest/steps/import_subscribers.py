"""A list from elsewhere -> subscribers. Never revives anyone, never activates without a word on consent."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from digest.domain.address import address_key
from digest.domain.errors import BadInputError
from digest.domain.language import Language, LanguageChoice, language_choice, parse_language_choice
from digest.domain.schedule import Cadence, parse_time, parse_timezone, parse_weekdays
from digest.domain.subscriber import EndReason, SubscriberState, topics_key
from digest.steps.check_address import check_address
from digest.store.cadences import cadence_id
from digest.store.database import Sessions
from digest.store.letters import add_letter
from digest.store.subscribers import Wishes, add, find, is_suppressed
from digest.store.tables import Consent

COLUMNS = ("email", "language", "timezone", "time", "weekdays", "topics", "status", "consent_source")
STATES = {state.value: state for state in SubscriberState} | {"": SubscriberState.PENDING}
PAGE = 500
"""Rows that are committed together: a run that is killed keeps what it had and can be started again."""


LONGEST = 400
"""What the columns of topics and of consent hold."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a row gets where it says nothing."""

    language: Language
    timezone: str


@dataclass(slots=True)
class Imported:
    """What became of the rows: how many are new, known already, repeated, refused, each refusal with its row number."""

    new: int = 0
    known: int = 0
    repeated: int = 0
    suppressed: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)
    letters: list[int] = field(default_factory=list)
    by_status: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Row:
    """A checked row."""

    address: str
    languages: LanguageChoice
    cadence: Cadence
    topics: str
    state: SubscriberState
    consent_source: str


def import_subscribers(
    sessions: Sessions,
    rows: Iterable[tuple[int, Mapping[str, str]]],
    defaults: Defaults,
    hashes: Callable[[str], Sequence[str]],
    now: datetime,
) -> Imported:
    """Add the new readers of a list. A row that can't be used is reported with its number and stops no other.

    Args:
        rows: row number and cells by column name, see :data:`COLUMNS`.
        hashes: the keyed hashes of an address, to find erased ones.
    """
    imported = Imported()
    seen: set[str] = set()
    page: list[_Row] = []
    for number, cells in rows:
        try:
            row = _check(cells, defaults)
        except BadInputError as error:
            imported.refused.append((number, str(error)))
            continue
        key = address_key(row.address)
        if key in seen:
            imported.repeated += 1
            continue
        seen.add(key)
        page.append(row)
        if len(page) == PAGE:
            _save(sessions, page, imported, hashes, now)
            page = []
    _save(sessions, page, imported, hashes, now)
    return imported


def _check(cells: Mapping[str, str], defaults: Defaults) -> _Row:
    get = {name: (cells.get(name) or "").strip() for name in COLUMNS}
    status = get["status"].lower()
    if status not in STATES:
        raise BadInputError("status", status, "is not a status: use pending, active, paused or ended.")
    if status in {"active", "paused"} and not get["consent_source"]:
        raise BadInputError("consent_source", "", f"is missing: say where this {status} reader agreed.")
    cadence = Cadence(
        parse_timezone(get["timezone"] or defaults.timezone),
        parse_time(get["time"] or "08:00"),
        parse_weekdays(get["weekdays"]),
    )
    first = defaults.language
    languages = parse_language_choice(get["language"], first) if get["language"] else language_choice(first)
    topics = _fitting("topics", topics_key(get["topics"].replace(";", ",").split(",")))
    _fitting("consent_source", get["consent_source"])
    return _Row(check_address(get["email"]), languages, cadence, topics, STATES[status], get["consent_source"])


def _fitting(column: str, text: str) -> str:
    """The text, where the table can hold it: one row that can't be stored would take its whole page with it."""
    if len(text) > LONGEST or not text.isprintable():
        raise BadInputError(column, text, f"must be at most {LONGEST} characters, without control characters.")
    return text


def _save(
    sessions: Sessions, page: list[_Row], imported: Imported, hashes: Callable[[str], Sequence[str]], now: datetime
) -> None:
    with sessions.begin() as session:
        for row in page:
            if find(session, row.address) is not None:
                imported.known += 1
            elif is_suppressed(session, row.address, hashes(row.address)):
                imported.suppressed += 1
            else:
                imported.letters += _add(session, row, now)
                imported.new += 1
                imported.by_status[row.state.value] += 1


def _add(session: Session, row: _Row, now: datetime) -> list[int]:
    wishes = Wishes(row.languages, cadence_id(session, row.cadence, now), row.topics)
    state = SubscriberState.PENDING if row.state is SubscriberState.ENDED else row.state
    subscriber = add(session, row.address, wishes, state, now)
    if row.state is SubscriberState.ENDED:
        subscriber.state, subscriber.reason = SubscriberState.ENDED, EndReason.IMPORTED
        return []
    consent = Consent(
        subscriber_id=subscriber.id,
        source=row.consent_source or "import",
        languages=wishes.languages,
        cadence_id=wishes.cadence_id,
        topics=wishes.topics,
        requested_at=now,
        confirmed_at=None if row.state is SubscriberState.PENDING else now,
    )
    session.add(consent)
    session.flush()
    return [add_letter(session, "confirm", subscriber, now, consent)] if row.state is SubscriberState.PENDING else []
