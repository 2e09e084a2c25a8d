"""Lists as listmonk, Mailchimp and Buttondown export them: which one it is, and what its cells say in our words.

What a system does not know stays empty. None of the three tells where its readers agreed, so whoever imports has to.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from digest.domain.errors import BadInputError
from digest.domain.language import Language, parse_language_choice
from digest.domain.schedule import is_known_zone
from digest.lists.headings import plain

Cells = Mapping[str, str]
"""Cells by their plain heading; the address by ``email``, whatever its heading."""


@dataclass(frozen=True, slots=True)
class System:
    """A program whose export we know.

    Attributes:
        has: plain headings that only its exports have together.
        read: a row's cells by plain heading -> by our columns.
    """

    name: str
    has: frozenset[str]
    read: Callable[[Cells], dict[str, str]]


def system_of(path: Path, heading: Sequence[str]) -> System | None:
    """The program that an export comes from; None where it is a list of anybody's.

    Raises:
        BadInputError: it is Mailchimp's file of people who never subscribed.
    """
    headings = {plain(one) for one in heading}
    found = next((one for one in SYSTEMS if one.has <= headings), None)
    if found is _MAILCHIMP and plain(path.stem).startswith(("nonsubscribed", "transactional")):
        raise BadInputError("file", path, "holds people who never subscribed (Mailchimp's non-subscribed contacts).")
    return found


def _listmonk(cells: Cells) -> dict[str, str]:
    """An enabled subscriber may have left the list itself, which this export does not tell: export one list's."""
    status, more = cells["status"].strip().lower(), _object(cells["attributes"])
    row = {"email": cells["email"], "name": cells["name"], **_known(more)}
    states = {
        "enabled": {"status": "active", "consent_at": _utc(cells["createdat"])},
        "disabled": {"status": "ended"},
        "blocklisted": {"status": "ended", "reason": "unsubscribed", "suppressed": "operator"},
    }
    return row | states.get(status, {"status": cells["status"]})


def _mailchimp(cells: Cells) -> dict[str, str]:
    """Which of the audience's files it is shows by its last columns; the cleaned one holds who bounced."""
    row = {
        "email": cells["email"],
        "name": " ".join(filter(None, (cells.get("firstname", "").strip(), cells.get("lastname", "").strip()))),
        **_known({"timezone": cells.get("timezone"), "language": cells.get("language")}),
    }
    if "cleantime" in cells:
        return row | _BOUNCED
    if "unsubtime" in cells:
        return row | (_COMPLAINED if "abuse" in cells.get("unsubreason", "").lower() else _LEFT)
    agreed = cells.get("confirmtime", "").strip() or cells.get("optintime", "").strip()
    return row | {"status": "active", "consent_at": _utc(agreed)}


_READS = {"status": "active"}
_ASKED = {"status": "pending"}
_UNWANTED = {"status": "ended", "suppressed": "operator"}
_BOUNCED = {"status": "ended", "reason": "bounced", "suppressed": "bounced"}
_COMPLAINED = {"status": "ended", "reason": "complained", "suppressed": "complained"}
_LEFT = {"status": "ended", "reason": "unsubscribed"}
_BUTTONDOWN_STATES = {
    "regular": _READS,
    "premium": _READS,
    "gifted": _READS,
    "trialed": _READS,
    "unpaid": _READS,
    "churning": _READS,
    "churned": _READS,
    "paused": _READS,
    "past_due": _READS,
    "unactivated": _ASKED,
    "unconfirmed": _ASKED,
    "unsubscribed": _LEFT,
    "removed": {"status": "ended"},
    "spammy": _UNWANTED,
    "blocked": _UNWANTED,
    "undeliverable": _BOUNCED,
    "bounced": _BOUNCED,
    "complained": _COMPLAINED,
}


def _buttondown(cells: Cells) -> dict[str, str]:
    """A paused one has paused the payment and still reads; what it calls a type is the state."""
    kind = (cells.get("type") or cells.get("subscribertype") or "").strip().lower()
    if any(cells.get(one, "").strip() for one in ("unsubscriptiondate", "unsubscribedat")):
        kind = "unsubscribed"
    more = _object(cells.get("metadata", ""))
    name = more.get("name") or " ".join(filter(None, (more.get("first_name"), more.get("last_name"))))
    row = {"email": cells["email"], "name": name, **_known(more)}
    state = _BUTTONDOWN_STATES.get(kind, {"status": kind or "pending"})
    return row | state | ({"consent_at": _utc(cells["creationdate"])} if state["status"] == "active" else {})


def _object(text: str) -> dict[str, str]:
    """The named texts of a JSON object; none where it is no object."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {str(name).lower(): value for name, value in pairs if isinstance(value, str)}


def _known(more: Mapping[str, str | None]) -> dict[str, str]:
    """Language and time zone among a reader's other data, where we have them too; a guess of theirs is no fault."""
    language = (more.get("language") or more.get("lang") or more.get("locale") or "").strip()
    timezone = (more.get("timezone") or more.get("tz") or "").strip()
    found = {"timezone": timezone} if is_known_zone(timezone) else {}
    return found | ({"language": language} if _is_ours(language) else {})


def _is_ours(language: str) -> bool:
    try:
        parse_language_choice(language, Language.ENGLISH)
    except BadInputError:
        return False
    return True


def _utc(text: str) -> str:
    """An instant as these programs write it, without an offset or as Go prints one; empty where it can't be read."""
    parts = text.replace(" UTC", "").split(" ")
    word = parts[0] if len(parts) == 1 else f"{parts[0]}T{''.join(parts[1:3])}"
    try:
        at = datetime.fromisoformat(word)
    except ValueError:
        return ""
    return (at.replace(tzinfo=UTC) if at.tzinfo is None else at).isoformat()


_LISTMONK = System("listmonk", frozenset({"uuid", "email", "name", "attributes", "status", "createdat"}), _listmonk)
_MAILCHIMP = System("Mailchimp", frozenset({"optintime", "confirmtime", "leid"}), _mailchimp)
_BUTTONDOWN = System("Buttondown", frozenset({"metadata", "tags", "creationdate"}), _buttondown)
SYSTEMS = (_LISTMONK, _MAILCHIMP, _BUTTONDOWN)
