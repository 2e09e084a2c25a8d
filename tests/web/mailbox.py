"""What lies in the outbox of a site."""

import re
from email import message_from_bytes, policy

from tests.web.conftest import Site


def paths(site: Site, to: str, part: str) -> list[str]:
    """The paths of the site that begin with ``part`` and stand on a line of their own in the mail to an address."""
    pattern = rf"^{re.escape(site.application.links.base_url)}({part}[^\s/]+)\s*$"
    return [path for text in texts(site, to) for path in re.findall(pattern, text, re.MULTILINE)]


def texts(site: Site, to: str) -> list[str]:
    """The plain text of the messages to an address."""
    files = sorted(site.application.settings.outbox_dir.glob("*.eml"))
    messages = [message_from_bytes(file.read_bytes(), policy=policy.SMTP) for file in files]
    parts = [message.get_body(["plain"]) for message in messages if to in str(message["To"])]
    return [part.get_content() for part in parts if part is not None]
