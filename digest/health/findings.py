"""What a look at the service found: one check, how it came out, and what to know or do."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


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
        words: what is so and, where it is not well, what to do. Holds no secret and no address of a reader.
    """

    check: str
    state: State
    words: str

    @property
    def stops(self) -> bool:
        """Whether it would stop a brief."""
        return self.state is State.FAULT


def ok(check: str, words: str) -> Finding:
    """All is well."""
    return Finding(check, State.OK, words)


def warning(check: str, words: str) -> Finding:
    """Briefs leave, and something should be mended."""
    return Finding(check, State.WARNING, words)


def fault(check: str, words: str) -> Finding:
    """Briefs don't leave, or not as they must."""
    return Finding(check, State.FAULT, words)


def problems(findings: Iterable[Finding]) -> list[Finding]:
    """Those that are not well, faults first."""
    found = [finding for finding in findings if finding.state is not State.OK]
    return sorted(found, key=lambda finding: not finding.stops)


def as_rows(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """The findings as JSON rows: ``check``, ``state``, ``words``."""
    return [{"check": one.check, "state": one.state.value, "words": one.words} for one in findings]


def to_text(findings: Sequence[Finding]) -> str:
    """The findings as one JSON text, to be kept."""
    return json.dumps(as_rows(findings), ensure_ascii=False)


def from_text(text: str) -> list[Finding]:
    """The findings that :func:`to_text` wrote; none of what another version wrote otherwise."""
    try:
        return [Finding(row["check"], State(row["state"]), row["words"]) for row in json.loads(text)]
    except (ValueError, KeyError, TypeError):
        return []
