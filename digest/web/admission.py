"""How many sign-ups are taken: per network, per mail domain and overall. Counted in Redis where the broker is one, so
that all processes count together, else in this process; the same code either way.

The limit per address is kept by the sign-up itself, in the database, and shows in no answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address, ip_network
from typing import cast

import structlog
from fastapi import HTTPException
from limits import RateLimitItem, parse_many
from limits.errors import StorageError
from limits.storage import MemoryStorage, Storage, storage_from_string

from digest.domain.slips import is_mailbox_domain
from digest.settings import Settings
from digest.store.database import Sessions
from digest.store.subscribers import has_more_pending_than
from digest.web.windows import Quota, windows_in

IPV4_NETWORK, IPV6_NETWORK = 24, 64
"""Prefix lengths: what one household or one office usually has of the address space."""
GUESSES = "60/minute;600/hour"
"""Links that are none of ours, per network; the right ones are never counted."""
SIGN_INS = "10/minute;60/hour"
"""Tries at the door of the staff, right ones too, per network: a guess is told nothing once there were too many."""
REDIS_OPTIONS: Mapping[str, float | str] = {
    "socket_timeout": 0.5,
    "socket_connect_timeout": 0.5,
    "key_prefix": "digest-limits",
}
LOOK_AGAIN_AFTER = timedelta(seconds=30)
FULL_FOR_SECONDS = 3600

log = structlog.get_logger()


def network_of(remote: str) -> str:
    """The /24 or /64 of a network address; one name for all whose address is not known."""
    try:
        address = ip_address(remote)
    except ValueError:
        return "unknown"
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return str(ip_network((address, IPV4_NETWORK if address.version == 4 else IPV6_NETWORK), strict=False))  # noqa: PLR2004 - IPv4


@dataclass
class Admission:
    """Counts what comes in, and says how long to wait where it is too much."""

    settings: Settings
    sessions: Sessions
    _looked_at: datetime | None = None
    _is_full: bool = False
    _spare: Storage = field(default_factory=MemoryStorage)

    def __post_init__(self) -> None:
        broker = self.settings.broker_url
        in_process = broker.startswith("memory:")
        storage = self._spare if in_process else cast("Storage", storage_from_string(broker, **REDIS_OPTIONS))
        self._windows = [windows_in(storage), windows_in(self._spare)]
        settings = self.settings
        self._quotas: Mapping[str, Sequence[RateLimitItem]] = {
            "network": parse_many(settings.limit_network),
            "domain": parse_many(settings.limit_domain),
            "overall": parse_many(settings.limit_overall),
            "guesses": parse_many(GUESSES),
            "sign_ins": parse_many(SIGN_INS),
        }

    def admit(self, remote: str, address: str, now: datetime) -> None:
        """Take a sign-up in.

        Raises:
            HTTPException: 429 where its network, its mail domain or everybody together had too many lately, 503 where
                too many wait for confirmation; both say when to come again.
        """
        if self._has_too_many_pending(now):
            raise HTTPException(503, "Too many wait for confirmation.", {"Retry-After": str(FULL_FOR_SECONDS)})
        domain = address.rpartition("@")[2].lower()
        # One network's excess must not use up what everybody has together.
        keys = {"network": network_of(remote), "domain": domain, "overall": "all"}
        if is_mailbox_domain(domain):
            del keys["domain"]
        if seconds := self._wait(keys):
            raise HTTPException(429, "Too many sign-ups just now.", {"Retry-After": str(seconds)})

    def may_guess(self, remote: str) -> int:
        """Count a link that is none of ours; returns the seconds to wait, 0 where it was not one of many."""
        return self._wait({"guesses": network_of(remote)})

    def may_sign_in(self, remote: str) -> int:
        """Count a try at the door of the staff; returns the seconds to wait, 0 where it may be looked at."""
        return self._wait({"sign_ins": network_of(remote)})

    def _wait(self, keys: Mapping[str, str]) -> int:
        quotas = [self._quota(name, key) for name, key in keys.items()]
        for windows in self._windows:
            try:
                return max((limit.get_expiry() for limit in windows.used_up(quotas)), default=0)
            except StorageError as error:
                log.warning("limits_kept_in_process", why=type(error.storage_error).__name__)
        raise AssertionError("memory fails nobody")

    def _quota(self, name: str, key: str) -> Quota:
        # What is counted is nobody's to read out of Redis.
        return Quota(name, blake2b(key.encode(), digest_size=12).hexdigest(), self._quotas[name])

    def _has_too_many_pending(self, now: datetime) -> bool:
        if self._looked_at is None or not timedelta(0) <= now - self._looked_at < LOOK_AGAIN_AFTER:
            self._looked_at = now
            with self.sessions() as session:
                self._is_full = has_more_pending_than(session, self.settings.most_pending)
        return self._is_full
