"""Tells the operator: alarms, the morning report, and the dead man's switch that falls silent when all is not well."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

import httpx2
import structlog

from digest.bootstrap import Application
from digest.domain.language import Language
from digest.health.findings import Finding, problems
from digest.health.kept import kept_findings
from digest.health.reports import GOOD, REPORTED, Report, mark, morning_to_report, report_of
from digest.health.wording import check_names, finding_line
from digest.ports import Recipient
from digest.rendering.letters import Alarm, Letter, render_letter
from digest.rendering.letters import Report as Words
from digest.store.tables import Switch

SECONDS = 10.0
MOST_NOTES = 12

log = structlog.get_logger()


def report_morning(app: Application, now: datetime) -> Report | None:
    """Report the newest morning that is over and was not reported; None where there is none.

    It is marked before it is told: of two workers one tells it, and one that dies costs a mail, not two.
    """
    with app.sessions.begin() as session:
        on = morning_to_report(session, now)
        if on is None:
            return None
        report = report_of(session, on)
        mark(session, REPORTED, on, now)
        wrong = problems(kept_findings(session).findings)[:MOST_NOTES]
    notes = [finding_line(one, _language(app)) for one in wrong]
    log.info("morning_reported", on=on.isoformat(), good=report.is_good, flaws=report.flaws, due=report.total.due)
    tell_operator(app, f"report-{on:%Y%m%d}", _words(app, report, notes), now)
    return report


def _words(app: Application, report: Report, notes: Sequence[str]) -> Words:
    total = report.total
    skipped = Counter[str]()
    for word, number in total.status.items():
        status, _, reason = word.partition(":")
        skipped[reason] += number if status == "skipped" else 0
    counts = {
        "due": total.due,
        "sent": total.of("sent"),
        "delivered": total.events["delivered"],
        "bounced": report.bounced,
        "failed": total.of("failed"),
        "unknown": total.of("unknown"),
        "skipped": skipped.total(),
    }
    reasons = {reason: number for reason, number in skipped.most_common() if number}
    return Words(report.on, report.is_good, report.flaws, counts, reasons, notes, _admin(app))


def _language(app: Application) -> Language:
    return Language(app.settings.operator_language)


def _admin(app: Application) -> str:
    return f"{app.links.base_url}/admin"


def alarm(app: Application, faults: Sequence[Finding], now: datetime) -> None:
    """Tell of checks that have just become faults."""
    for one in faults:
        log.error("alarm", check=one.check, words=one.words)
    if not faults:
        return
    zone = app.settings.default_timezone
    what = check_names(faults, _language(app))
    details = [finding_line(one, _language(app)) for one in faults]
    letter = Alarm(what, details, now.astimezone(ZoneInfo(zone)), zone, _admin(app))
    tell_operator(app, f"alarm-{now:%Y%m%d%H%M}", letter, now)


def tell_operator(app: Application, key: str, letter: Letter, now: datetime) -> None:
    """Hand one letter to the provider, for the operator; what it can't take is told to the log and not tried again."""
    address = app.settings.operator_email
    if not address:
        return
    message = render_letter(app.templates, app.links, app.site, key=key, language=_language(app), letter=letter)
    given = app.provider.hand_over(message, [Recipient(key=key, address=address)], now)
    if not given.accepted:
        log.error("operator_not_told", kind=letter.kind, why=given.alarm or given.delayed or "not taken")


def show_life(app: Application, now: datetime) -> bool:
    """Ask the dead man's switch, once for each good morning; tried again at the next look where that failed."""
    url = app.settings.alive_url.get_secret_value()
    with app.sessions() as session:
        reported, good = session.get(Switch, REPORTED), session.get(Switch, GOOD)
        if reported is None or (good is not None and good.value == reported.value):
            return False
        on = date.fromisoformat(reported.value)
        is_good = report_of(session, on).is_good
    if not is_good:
        return False
    if url and (why := _ask(url)):
        log.warning("life_not_shown", why=why)
        return False
    with app.sessions.begin() as session:
        mark(session, GOOD, on, now)
    return True


def _ask(url: str) -> str:
    """Why it did not hear us; empty when it did. The address is a secret and is not repeated."""
    try:
        answer = httpx2.get(url, timeout=SECONDS, follow_redirects=True)
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        return type(error).__name__
    return "" if answer.is_success else f"answered {answer.status_code}"
