"""Mail-security scanners open every link of every message before its reader does."""

import re
from email import message_from_bytes, policy

from sqlalchemy import select

from digest.store.tables import Table
from tests.web.conftest import Site
from tests.web.mailbox import paths

BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/143.0 Safari/537.36"}
KINDS = {"confirm", "already_subscribed", "welcome", "address_change", "address_changed", "export_ready", "goodbye"}


def links(site: Site) -> set[str]:
    """The site's own addresses in every header and part of every message that is in the mailbox."""
    pattern = re.compile(re.escape(site.application.links.base_url) + r"(/[^\s\"'<>,)]*)")
    found: set[str] = set()
    for file in site.application.settings.outbox_dir.glob("*.eml"):
        message = message_from_bytes(file.read_bytes(), policy=policy.SMTP)
        parts = [part.get_content() for part in message.walk() if part.get_content_maintype() == "text"]
        for text in [*parts, *map(str, message.values())]:
            found |= {path.replace("&amp;", "&") for path in pattern.findall(text)}
    return found


def rows(site: Site) -> dict[str, list[object]]:
    """Everything the database holds."""
    with site.application.sessions() as session:
        return {
            table.name: sorted(map(repr, session.execute(select(table)).all()))
            for table in Table.metadata.sorted_tables
        }


def write_every_letter(site: Site) -> None:
    """A waiting reader, one who moves house and asks for their data, one who left, and a brief to all who read."""
    client = site.client()
    leaving, moving = site.active("leaving@example.com"), site.active("moving@example.com")
    client.post("/subscribe", data={"email": "waiting@example.com"})
    client.post("/subscribe", data={"email": "moving@example.com"})
    client.post(f"{site.preferences_path(moving)}/export")
    client.post(f"{site.preferences_path(moving)}/address", data={"email": "moved@example.com"})
    client.post(site.unsubscribe_path(leaving))
    site.turn()
    (path,) = paths(site, "moved@example.com", "/address/")
    client.post(path)
    client.post(f"{site.preferences_path(moving)}/address", data={"email": "again@example.com"})
    for hours in (20.95, 0.05):
        site.later(hours=hours)
        site.turn()


def test_uns_01_a_scanner_that_follows_every_link_in_every_mail_changes_nothing(stocked: Site) -> None:
    write_every_letter(stocked)
    assert set(stocked.letters()) == KINDS
    found = links(stocked)
    purposes = {path.split("/")[1] for path in found if "/" in path[1:]}
    assert purposes >= {"confirm", "unsubscribe", "preferences", "address", "export", "briefs", "stories"}
    before, client = rows(stocked), stocked.client(**BROWSER)
    for path in sorted(found):
        for _ in range(2):
            assert client.head(path).status_code == client.get(path).status_code, path
            # The first question about an address is void once another was asked.
            assert client.get(path).status_code in {200, 410}, path
    assert rows(stocked) == before
