"""Who runs the service: people or desks with a role and a token, and the acts that are written down of them."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from hmac import compare_digest

from digest.domain.errors import BadInputError

SHORTEST_TOKEN = 16
"""Characters; a token is typed or pasted once per session, and never has to be remembered."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


class Role(StrEnum):
    """What somebody may do; each may what those before it may."""

    VIEWER = "viewer"
    """Look at everything but addresses, which are masked."""
    EDITOR = "editor"
    """See addresses, too; change stories and sources."""
    OWNER = "owner"
    """Everything: the sending switch, batches, subscriptions, suppressions, erasure."""

    def may(self, needed: "Role") -> bool:
        """Whether this role is at least ``needed``."""
        return list(Role).index(self) >= list(Role).index(needed)


class ActKind(StrEnum):
    """What is written down when somebody of the staff does it."""

    SIGNED_IN = "signed_in"
    SIGN_IN_REFUSED = "sign_in_refused"
    SIGNED_OUT = "signed_out"
    READER_SEEN = "reader_seen"
    READER_EXPORTED = "reader_exported"
    READER_ENDED = "reader_ended"
    READER_ERASED = "reader_erased"
    ADDRESS_BARRED = "address_barred"
    BAR_LIFTED = "bar_lifted"
    SENDING_PAUSED = "sending_paused"
    SENDING_RESUMED = "sending_resumed"
    BATCH_RETRIED = "batch_retried"
    SOURCE_CHANGED = "source_changed"
    SOURCE_WOKEN = "source_woken"
    STORIES_ADDED = "stories_added"
    STORIES_ORDERED = "stories_ordered"
    STORY_EDITED = "story_edited"
    STORY_PLACED = "story_placed"
    STORY_SCHEDULED = "story_scheduled"
    STORY_CORRECTED = "story_corrected"


@dataclass(frozen=True, slots=True)
class Staff:
    """Somebody who may sign in.

    Attributes:
        name: under which their acts are written down.
    """

    name: str
    role: Role
    token: str = field(repr=False)

    def has(self, token: str) -> bool:
        """Whether this is their token; compared as bytes, in a time that says nothing about where they differ."""
        return compare_digest(self.token.encode(), token.strip().encode(errors="replace"))


def parse_staff(text: str) -> tuple[Staff, ...]:
    """The staff in ``name:role:token``, comma-separated.

    Raises:
        BadInputError: names the entry by its number and its name, never by its token.
    """
    found = [_parse(number, entry.strip()) for number, entry in enumerate(text.split(","), 1) if entry.strip()]
    for what, values in (("name", [one.name for one in found]), ("token", [one.token for one in found])):
        if len(set(values)) < len(values):
            raise BadInputError("staff", "", f"has one {what} twice: each is one person's.")
    return tuple(found)


def _parse(number: int, entry: str) -> Staff:
    name, _, rest = entry.partition(":")
    role, _, token = rest.partition(":")
    if not _NAME.fullmatch(name) or role not in set(Role) or not token:
        raise BadInputError("staff", f"entry {number}", "must be name:role:token; roles: viewer, editor, owner.")
    if len(token) < SHORTEST_TOKEN:
        raise BadInputError("staff", name, f"has a token shorter than {SHORTEST_TOKEN} characters: make a longer one.")
    return Staff(name, Role(role), token)
