"""Whoever carries the mail: whether it knows us and lets us send, asked without sending anything."""

from datetime import datetime

from digest.bootstrap import Application
from digest.domain.notice import notice
from digest.health.findings import Finding, fault, ok, warning
from digest.health.machine import unwritable
from digest.providers.probes import Probed, probe_sendgrid, probe_smtp
from digest.settings import Settings


def look_at_carriers(app: Application, now: datetime) -> list[Finding]:
    """The provider, and the one that takes over where there is one."""
    settings = app.settings
    found = [_judge("provider", settings.provider, settings, now)]
    if settings.fallback_provider:
        found.append(_judge("fallback provider", settings.fallback_provider, settings, now))
    return found


def _judge(check: str, name: str, settings: Settings, now: datetime) -> Finding:
    if name == "outbox":
        return _outbox(check, settings)
    if name == "sendgrid":
        probed = probe_sendgrid(settings.sendgrid_api_key.get_secret_value(), settings.sendgrid_host, now)
    else:
        probed = probe_smtp(settings.smtp_url.get_secret_value())
    return _finding(check, name, probed)


def _outbox(check: str, settings: Settings) -> Finding:
    folder = str(settings.outbox_dir)
    if why := unwritable(settings.outbox_dir):
        return fault(check, "outbox: {folder} can't be written to: {why}", folder=folder, why=why)
    return warning(check, "outbox: messages are kept in {folder}, not sent", folder=folder)


def _finding(check: str, name: str, probed: Probed) -> Finding:
    if probed.refused:
        return fault(check, "{name}: {what}: {mend}", name=name, what=probed.refused, mend=probed.mend)
    if probed.doubt:
        return warning(check, "{name}: {what}: {mend}", name=name, what=probed.doubt, mend=probed.mend)
    return ok(check, "{name}: {what}; nothing was sent", name=name, what=probed.ready or notice("answers"))
