"""The return path of each message (VERP): a bounce to it tells whose it is, and only signed ones are believed."""

from collections.abc import Iterable
from email.utils import getaddresses

from digest.links import BadTokenError, Links

LONGEST_LOCAL_PART = 64
"""RFC 5321 §4.5.3.1.1."""
LONGEST_TOKEN = 43
"""The longest key, 26 characters, a dash and the signature."""
LONGEST_MAILBOX = LONGEST_LOCAL_PART - LONGEST_TOKEN - 1


class ReturnPath:
    """Makes and reads return paths ``bounces+TOKEN@example.com``.

    Args:
        mailbox: the address bounces go to, whose server delivers ``mailbox+anything`` there (subaddresses, RFC 5233);
            its local part has at most 20 characters.
        links: signs the tokens.
    """

    def __init__(self, mailbox: str, links: Links) -> None:
        self._local_part, _, self._domain = mailbox.rpartition("@")
        self._links = links

    def for_key(self, key: str) -> str:
        """The envelope sender of the message to this recipient key."""
        return f"{self._local_part}+{self._links.bounce_token(key)}@{self._domain}"

    def key_in(self, headers: Iterable[str]) -> str | None:
        """The recipient key in the first of these header values that holds one of our return paths; None without."""
        for _, address in getaddresses([value[:1000] for value in headers]):
            local_part, _, domain = address.rpartition("@")
            mailbox, plus, token = local_part.partition("+")
            if not plus or mailbox.lower() != self._local_part.lower() or domain.lower() != self._domain.lower():
                continue
            try:
                return self._links.read_bounce_token(token)
            except BadTokenError:
                continue
        return None
