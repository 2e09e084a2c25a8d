"""One row of a list from elsewhere -> what it asks for, checked. Rows alike but for the address are checked once."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import NamedTuple

from digest.domain.address import address_key
from digest.domain.errors import BadInputError
from digest.domain.language import Language, LanguageChoice, language_choice, parse_language_choice
from digest.domain.schedule import Cadence, parse_time, parse_timezone, parse_weekdays
from digest.domain.subscriber import EndReason, SubscriberState, topics_key
from digest.domain.suppression import SuppressionReason
from digest.steps.check_address import LONGEST, check_address

COLUMNS = ("email", "language", "timezone", "time", "weekdays", "topics", "status", "consent_source")
"""What every list may hold; only the first is needed."""
MORE_COLUMNS = ("name", "reason", "paused_until", "consent_at", "consent_wording", "suppressed")
"""What an export holds besides, so that it imports again unchanged."""
LONGEST_TEXT = 400
"""What the columns of topics and of consent hold."""
LONGEST_NAME = 200
LONGEST_WORDING = 40
ERASED = "erased:"
"""Stands for the address of somebody who was erased, before its keyed hash."""
BARRED = "suppressed"
"""The status of an address that nobody subscribes with and that must not be written to."""

_ALIKE = (*COLUMNS[1:], "reason", "paused_until", "consent_wording", "suppressed")
_PLAIN = re.compile(r"([A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)@([A-Za-z0-9.-]{1,189})")
"""An address that nothing can be wrong with but its domain, which is checked once."""
_HASH = re.compile(re.escape(ERASED) + "[0-9a-f]{64}")
_MOST_KEPT = 10_000
_LONGEST_LOCAL = 64
_LOST = "\N{REPLACEMENT CHARACTER}"
_STATES: dict[str, tuple[SubscriberState | None, EndReason | None]] = {
    "": (SubscriberState.PENDING, None),
    **{state.value: (state, None) for state in SubscriberState},
    **dict.fromkeys(("subscribed", "confirmed", "enabled", "已订阅", "有效"), (SubscriberState.ACTIVE, None)),
    **dict.fromkeys(("unconfirmed", "待确认", "未确认"), (SubscriberState.PENDING, None)),
    **dict.fromkeys(("unsubscribed", "opted-out", "已退订", "退订"), (SubscriberState.ENDED, EndReason.UNSUBSCRIBED)),
    **dict.fromkeys(("bounced", "cleaned", "已退信"), (SubscriberState.ENDED, EndReason.BOUNCED)),
    **dict.fromkeys(("complained", "spam", "已投诉"), (SubscriberState.ENDED, EndReason.COMPLAINED)),
    BARRED: (None, None),
}
_BARS = {
    EndReason.BOUNCED: SuppressionReason.BOUNCED,
    EndReason.COMPLAINED: SuppressionReason.COMPLAINED,
}


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a row gets where it says nothing.

    Attributes:
        consent_source: where the readers of this list agreed; empty: each row has to say so itself.
    """

    language: Language
    timezone: str
    consent_source: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a row asks for besides the address: the same for thousands of rows.

    Attributes:
        state: None for an address that is only barred.
        bar: why the address must not be written to, if it must not.
        said: which columns the row filled in.
    """

    languages: LanguageChoice
    cadence: Cadence
    topics: str
    state: SubscriberState | None
    reason: EndReason | None
    bar: SuppressionReason | None
    consent_source: str
    consent_wording: str
    paused_until_on: date | None
    said: frozenset[str] = field(compare=False)


class Row(NamedTuple):
    """A checked row; a tuple, since a million of them go by."""

    number: int
    address: str
    key: str
    name: str
    consent_at: datetime | None
    standing: Standing


class Fault(NamedTuple):
    """A row that can't be used, and why."""

    number: int
    words: str


class RowReader:
    """Checks rows one after the other.

    Args:
        defaults: what a row gets where it says nothing.
        now: consent is not given in the future.
    """

    def __init__(self, defaults: Defaults, now: datetime) -> None:
        self._defaults, self._now = defaults, now
        self._standings: dict[tuple[str | None, ...], Standing] = {}
        self._domains: dict[str, str] = {}

    def read(self, rows: Iterable[tuple[int, Mapping[str, str]]]) -> Iterator[Row | Fault]:
        """Every row, checked."""
        for number, cells in rows:
            try:
                yield self._row(number, cells)
            except BadInputError as error:
                yield Fault(number, str(error))

    def _row(self, number: int, cells: Mapping[str, str]) -> Row:
        alike = tuple(map(cells.get, _ALIKE))
        standing = self._standings.get(alike)
        if standing is None:
            standing = self._keep(alike, self._standing(cells))
        address, key = self._address(cells.get("email") or "", standing)
        name, since = cells.get("name"), cells.get("consent_at")
        return Row(
            number,
            address,
            key,
            _one_line(name) if name else "",
            self._instant(since) if since else None,
            standing,
        )

    def _keep(self, alike: tuple[str | None, ...], standing: Standing) -> Standing:
        if len(self._standings) >= _MOST_KEPT:
            self._standings.clear()
        self._standings[alike] = standing
        return standing

    def _address(self, text: str, standing: Standing) -> tuple[str, str]:
        """The address as it is kept, and the key under which it is unique."""
        found = _PLAIN.fullmatch(text.strip())
        if found and len(found[1]) <= _LONGEST_LOCAL:
            domain = self._domains.get(found[2]) or self._domain(found[2], text)
            address = f"{found[1]}@{domain}"
            if len(address) <= LONGEST:
                return address, address.lower()
        elif standing.state is None and _HASH.fullmatch(text.strip()):
            return text.strip(), ""
        address = check_address(text)
        return address, address_key(address)

    def _domain(self, domain: str, text: str) -> str:
        checked = check_address(text).rpartition("@")[2]
        if len(self._domains) >= _MOST_KEPT:
            self._domains.clear()
        self._domains[domain] = checked
        return checked

    def _instant(self, text: str) -> datetime | None:
        """When consent was given; None where the cell is blank."""
        if not text.strip():
            return None
        try:
            at = datetime.fromisoformat(text.strip())
        except ValueError as error:
            raise BadInputError("consent_at", text, "is not an instant: write 2026-12-03T00:00:00Z.") from error
        instant = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        if instant > self._now:
            raise BadInputError("consent_at", text, "lies in the future.")
        return instant

    def _standing(self, cells: Mapping[str, str]) -> Standing:
        get = {name: (cells.get(name) or "").strip() for name in _ALIKE}
        state, reason = _state(get)
        bar = _bar(get["suppressed"]) if "suppressed" in cells else _BARS.get(reason) if reason else None
        if state is None:
            bar = bar or SuppressionReason.OPERATOR
        defaults = self._defaults
        source = _fitting("consent_source", get["consent_source"])
        if not source and state is not SubscriberState.ENDED:
            source = defaults.consent_source
        if state in {SubscriberState.ACTIVE, SubscriberState.PAUSED} and not source:
            raise BadInputError(
                "consent_source", "", f"is missing: say where this {get['status'].lower()} reader agreed."
            )
        return Standing(
            languages=parse_language_choice(get["language"], defaults.language)
            if get["language"]
            else language_choice(defaults.language),
            cadence=Cadence(
                parse_timezone(get["timezone"] or defaults.timezone),
                parse_time(get["time"] or "08:00"),
                parse_weekdays(get["weekdays"]),
            ),
            topics=_fitting("topics", topics_key(get["topics"].replace(";", ",").split(","))),
            state=state,
            reason=reason,
            bar=bar,
            consent_source=source,
            consent_wording=_fitting("consent_wording", get["consent_wording"], LONGEST_WORDING),
            paused_until_on=_date(get["paused_until"]) if state is SubscriberState.PAUSED else None,
            said=frozenset(name for name, cell in get.items() if cell),
        )


def _state(get: Mapping[str, str]) -> tuple[SubscriberState | None, EndReason | None]:
    """State and, for one that ended, why."""
    word = get["status"].lower()
    if word not in _STATES:
        raise BadInputError("status", get["status"], "is not a status: use pending, active, paused or ended.")
    state, reason = _STATES[word]
    if state is not SubscriberState.ENDED:
        return state, None
    said = get["reason"].lower()
    if said and said not in set(EndReason):
        raise BadInputError("reason", said, f"is not a reason: use {', '.join(EndReason)}.")
    return state, EndReason(said) if said else reason or EndReason.IMPORTED


def _bar(word: str) -> SuppressionReason | None:
    if not word:
        return None
    if word.lower() not in set(SuppressionReason):
        raise BadInputError("suppressed", word, f"is not a reason: use {', '.join(SuppressionReason)}.")
    return SuppressionReason(word.lower())


def _date(text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise BadInputError("paused_until", text, "is not a date: write 2026-12-03.") from error


def _fitting(column: str, text: str, most: int = LONGEST_TEXT) -> str:
    """The text, where the table can hold it."""
    if len(text) > most or not text.isprintable() or _LOST in text:
        raise BadInputError(column, text, f"must be at most {most} characters, without control characters.")
    return text


def _one_line(name: str) -> str:
    """A name without line breaks and what else can't be printed, which it may not bring into a mail header."""
    if _LOST in name:
        raise BadInputError("name", name, "has characters that can't be read: say in which --encoding the file is.")
    if not name.isprintable():
        name = "".join(c if c.isprintable() else " " for c in name)
    return " ".join(name.split())[:LONGEST_NAME]
