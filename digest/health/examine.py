"""Everything that a brief depends on, looked at from here. Sends nothing to anybody."""

from datetime import datetime

from digest.bootstrap import Application
from digest.health.carrier import look_at_carriers
from digest.health.findings import Finding
from digest.health.kept import kept_findings
from digest.health.ledger import LOOKS
from digest.health.machine import look_at_disk, look_at_secrets, look_at_zone_rules, newest_release
from digest.health.public_site import look_at_site
from digest.health.sender_dns import look_at_sender_dns, resolver_for
from digest.health.servers import look_at_broker, look_at_clock, look_at_connections, look_at_database


def examine(app: Application, now: datetime) -> list[Finding]:
    """Every check, those over the network too; what needs the database only where it can be reached.

    DNS, the site and IANA are asked where the site is public.
    """
    settings = app.settings
    found = look_here(app, now)
    workers = ""
    if not found[0].stops:
        with app.sessions() as session:
            workers = kept_findings(session).tzdata
    newest = newest_release(settings.tzdata_url) if settings.is_public and settings.tzdata_url else ""
    found += [look_at_zone_rules(newest, workers), look_at_secrets(app), *look_at_carriers(app, now)]
    if settings.is_public:
        found += [*look_at_site(app.links, now), *look_at_sender_dns(settings, resolver_for(settings))]
    return found


def look_here(app: Application, now: datetime) -> list[Finding]:
    """The checks that ask nobody outside: quick, for pages and probes. The database comes first."""
    found = [look_at_database(app.engine)]
    if not found[0].stops and app.engine.dialect.name == "postgresql":
        found.append(look_at_connections(app.engine))
    found += [look_at_broker(app), look_at_clock(app, now), look_at_disk(app.settings)]
    if not found[0].stops:
        with app.sessions() as session:
            found += [look(session, now) for look in LOOKS]
    return found
