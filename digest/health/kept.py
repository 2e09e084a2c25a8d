"""The newest examination, kept in the database so that pages and metrics show it without asking the world again."""

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from digest.health.findings import Finding, from_text, to_text
from digest.store.tables import Switch

EXAMINED = "examined"


@dataclass(frozen=True, slots=True)
class Kept:
    """An examination by the workers.

    Attributes:
        at: when; None where there was none yet.
        tzdata: the release of the rules that the workers use.
    """

    at: datetime | None = None
    tzdata: str = ""
    findings: list[Finding] = field(default_factory=list)

    def of(self, check: str) -> Finding | None:
        """What it said of one check."""
        return next((finding for finding in self.findings if finding.check == check), None)


def kept_findings(session: Session) -> Kept:
    """The newest examination that is kept."""
    row = session.get(Switch, EXAMINED)
    if row is None:
        return Kept()
    tzdata, _, text = row.value.partition("\n")
    return Kept(row.changed_at, tzdata, from_text(text))


def keep_findings(session: Session, findings: list[Finding], tzdata: str, now: datetime) -> None:
    """Keep these as the newest."""
    session.merge(Switch(name=EXAMINED, value=f"{tzdata}\n{to_text(findings)}", changed_at=now))
