"""What a look at the service found: one check, how it came out, and what to know or do."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from digest.domain.notice import Notice, Value, as_json, from_json

CHECKS = (
    "database",
    "connections",
    "broker",
    "clock",
    "disk",
    "scheduler",
    "sending switch",
    "zones of the list",
    "sources",
    "unknown",
    "waiting",
    "tzdata",
    "secrets",
    "provider",
    "fallback provider",
    "site",
    "one-click",
    "SPF",
    "DKIM",
    "DMARC",
    "MX",
    "PTR",
)
"""Every check; the names are labels of metrics, and on pages and in letters words of the reader's language."""


class State(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check, its state and what to know or do.

    Attributes:
        check: stable name; also a metric label.
        said: what is so and, where it is not well, what to do. Holds no secret and no address of a reader.
    """

    check: str
    state: State
    said: Notice

    @property
    def words(self) -> str:
        """What is said, in English."""
        return str(self.said)

    @property
    def stops(self) -> bool:
        """Whether it would stop a brief."""
        return self.state is State.FAULT


def ok(check: str, text: str, /, **values: Value) -> Finding:
    """All is well."""
    return Finding(check, State.OK, Notice(text, values))


def warning(check: str, text: str, /, **values: Value) -> Finding:
    """Briefs leave, and something should be mended."""
    return Finding(check, State.WARNING, Notice(text, values))


def fault(check: str, text: str, /, **values: Value) -> Finding:
    """Briefs don't leave, or not as they must."""
    return Finding(check, State.FAULT, Notice(text, values))


def problems(findings: Iterable[Finding]) -> list[Finding]:
    """Those that are not well, faults first."""
    found = [finding for finding in findings if finding.state is not State.OK]
    return sorted(found, key=lambda finding: not finding.stops)


def as_rows(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """The findings as JSON rows: ``check``, ``state``, ``words`` in English."""
    return [{"check": one.check, "state": one.state.value, "words": one.words} for one in findings]


def to_text(findings: Sequence[Finding]) -> str:
    """The findings as one JSON text, to be kept and told in whatever language later."""
    return json.dumps([[one.check, one.state.value, as_json(one.said)] for one in findings], ensure_ascii=False)


def from_text(text: str) -> list[Finding]:
    """The findings that :func:`to_text` wrote; none of what another version wrote otherwise, or can't be told."""
    try:
        found = [_from_row(row) for row in json.loads(text)]
        return [one for one in found if one.words]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return []


def _from_row(row: Sequence[object]) -> Finding:
    check, state, kept = row
    said = from_json(kept)
    if not isinstance(said, Notice):
        raise TypeError("a finding says something")
    return Finding(str(check), State(str(state)), said)
