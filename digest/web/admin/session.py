"""A session of the staff: a signed cookie that is good for a shift and ends after half an hour without a page."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest, digest
from secrets import token_urlsafe
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from digest.domain.language import Language
from digest.domain.staff import Role, Staff

IDLE = timedelta(minutes=30)
SHIFT = timedelta(hours=8)
RENEW_AFTER = timedelta(minutes=1)
_SALT = "digest.admin"


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in.

    Attributes:
        csrf: what every form of the session carries.
        began_at: the sign-in.
        seen_at: the newest page, to the minute.
        language: which language they chose for the pages; None leaves it to the browser.
    """

    name: str
    role: Role
    csrf: str = field(repr=False)
    began_at: datetime
    seen_at: datetime
    language: Language | None = None

    def is_over(self, now: datetime) -> bool:
        """Whether they have to sign in again; one from the future was made under a clock that was wrong."""
        too_old = now - self.began_at > SHIFT or now - self.seen_at > IDLE
        return too_old or self.seen_at - now > IDLE

    def renewed(self, now: datetime, language: Language | None) -> "Session | None":
        """The session as its next cookie keeps it; None where the one it has will do."""
        if language is None and now - self.seen_at < RENEW_AFTER:
            return None
        return replace(self, seen_at=now, language=language or self.language)


def new_session(member: Staff, now: datetime) -> Session:
    """The session of somebody who just signed in."""
    return Session(member.name, member.role, token_urlsafe(16), now, now)


class Cookies:
    """Writes sessions into cookies and reads them.

    Args:
        secret_keys: newest first; the newest signs, all verify.
        everyone: who may sign in now. A cookie of somebody whose token or role changed is worth nothing any more.
    """

    def __init__(self, secret_keys: Sequence[str], everyone: Sequence[Staff]) -> None:
        self._serializer = URLSafeSerializer(
            [key.encode() for key in reversed(secret_keys)],
            salt=_SALT,
            signer_kwargs={"digest_method": sha256, "key_derivation": "hmac"},
        )
        self._everyone = {member.name: member for member in everyone}

    def write(self, session: Session) -> str:
        """The cookie of a session."""
        values = {
            "name": session.name,
            "proof": _proof(self._everyone[session.name], session.csrf),
            "csrf": session.csrf,
            "began": int(session.began_at.timestamp()),
            "seen": int(session.seen_at.timestamp()),
            "language": str(session.language or ""),
        }
        return str(self._serializer.dumps(values))

    def read(self, cookie: str, now: datetime) -> Session | None:
        """The session in a cookie; None for one that is not ours, is over, or is of somebody who may not any more."""
        try:
            values: dict[str, Any] = self._serializer.loads(cookie)
        except BadData:
            return None
        member = self._everyone.get(values["name"])
        if member is None or not compare_digest(_proof(member, values["csrf"]), values["proof"]):
            return None
        session = Session(
            name=member.name,
            role=member.role,
            csrf=values["csrf"],
            began_at=datetime.fromtimestamp(values["began"], UTC),
            seen_at=datetime.fromtimestamp(values["seen"], UTC),
            language=Language(values["language"]) if values["language"] else None,
        )
        return None if session.is_over(now) else session


def _proof(member: Staff, csrf: str) -> str:
    """Holds a session to the token and role it was opened with, without telling the token."""
    return digest(member.token.encode(), f"{member.name}:{member.role}:{csrf}".encode(), "sha256").hex()[:32]
