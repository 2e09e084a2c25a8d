"""Addresses that readers follow, absolute and signed. One purpose per token; rotation keeps old mail working.

A token is the row's id and an HMAC-SHA256 over it, so it holds no address and can't be guessed or counted up.
"""

from base64 import b32encode
from binascii import b2a_base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from hashlib import sha256
from hmac import HMAC, compare_digest
from hmac import new as hmac
from urllib.parse import urlsplit

from itsdangerous import BadSignature, Signer

from digest.domain.errors import PermanentError
from digest.domain.language import Language

URL_SAFE = bytes.maketrans(b"+/", b"-_")
"""The alphabet of RFC 4648 §5."""


class BadTokenError(PermanentError):
    """The token was not made by us, or for another purpose."""


class ExpiredTokenError(PermanentError):
    """The token was ours and is too old."""


@dataclass(frozen=True)
class Links:
    """Makes and reads the site's addresses.

    Attributes:
        base_url: public address without a trailing slash; may hold a path prefix.
        secret_keys: newest first; the newest signs, all verify.
        confirm_for: how long a confirmation link works.
        return_for: how long a change of address can be taken back.
        export_for: how long a reader's data can be fetched.
    """

    base_url: str
    secret_keys: Sequence[str]
    confirm_for: timedelta = timedelta(days=7)
    return_for: timedelta = timedelta(days=30)
    export_for: timedelta = timedelta(days=1)

    @cached_property
    def prefix(self) -> str:
        """The path prefix of the site, without a trailing slash; empty at the root of a host."""
        return urlsplit(self.base_url).path.rstrip("/")

    def home(self, language: Language) -> str:
        """The front page."""
        return f"{self.base_url}/?lang={language}"

    def brief(self, on: date, language: Language, brief_id: int | None = None) -> str:
        """A brief on the web; with an id that very brief, else the main one of that date."""
        return f"{self.base_url}/briefs/{on.isoformat()}/{language}" + (f"?brief={brief_id}" if brief_id else "")

    def story(self, slug: str, language: Language) -> str:
        """A story's page."""
        return f"{self.base_url}/stories/{slug}?lang={language}"

    def confirm(self, consent_id: int, now: datetime) -> str:
        """The page that confirms one consent; the token carries the second it was made."""
        return f"{self.base_url}/confirm/{self._sign('confirm', _dated(consent_id, now))}"

    def unsubscribe(self, subscriber_id: int) -> str:
        """The page and RFC 8058 endpoint that unsubscribes; never expires."""
        return f"{self.base_url}/unsubscribe/{self._sign('unsubscribe', str(subscriber_id))}"

    def preferences(self, subscriber_id: int) -> str:
        """The reader's settings; never expires."""
        return f"{self.base_url}/preferences/{self._sign('preferences', str(subscriber_id))}"

    def new_address(self, change_id: int, now: datetime) -> str:
        """The page where the owner of a new address agrees; works as long as a confirmation link."""
        return f"{self.base_url}/address/{self._sign('address', _dated(change_id, now))}"

    def former_address(self, change_id: int, now: datetime) -> str:
        """The page where the owner of the former address takes a change back; see ``return_for``."""
        return f"{self.base_url}/address/back/{self._sign('return', _dated(change_id, now))}"

    def export(self, subscriber_id: int, now: datetime) -> str:
        """The page where a reader fetches all that is kept about them; see ``export_for``."""
        return f"{self.base_url}/export/{self._sign('export', _dated(subscriber_id, now))}"

    def bounce_token(self, key: str) -> str:
        """The signed name of a message for the local part of its return path: short, and the same in any case."""
        return f"{key}-{_short_signature(self.secret_keys[0], key)}"

    def read_bounce_token(self, token: str) -> str:
        """The key in a bounce token, however a mail server spelled it; raises BadTokenError."""
        key, _, signature = token.lower().rpartition("-")
        if signature.isascii() and any(
            compare_digest(signature, _short_signature(secret, key)) for secret in self.secret_keys
        ):
            return key
        raise BadTokenError("the return path is not one of ours")

    def read_confirm(self, token: str, now: datetime) -> int:
        """The consent id in a confirm token.

        Raises:
            BadTokenError: not ours.
            ExpiredTokenError: older than ``confirm_for``.
        """
        return self._read_dated("confirm", token, now, self.confirm_for)

    def read_old_confirm(self, token: str) -> int:
        """The consent id in a confirm token of any age, for sending a new one; raises BadTokenError."""
        return int(self._read("confirm", token).partition(".")[0])

    def read_new_address(self, token: str, now: datetime) -> int:
        """The change's id in the token of :meth:`new_address`; raises as :meth:`read_confirm` does."""
        return self._read_dated("address", token, now, self.confirm_for)

    def read_former_address(self, token: str, now: datetime) -> int:
        """The change's id in the token of :meth:`former_address`; raises as :meth:`read_confirm` does."""
        return self._read_dated("return", token, now, self.return_for)

    def read_export(self, token: str, now: datetime) -> int:
        """The subscriber's id in the token of :meth:`export`; raises as :meth:`read_confirm` does."""
        return self._read_dated("export", token, now, self.export_for)

    def read_unsubscribe(self, token: str) -> int:
        """The subscriber id in an unsubscribe token; raises BadTokenError."""
        return int(self._read("unsubscribe", token))

    def read_preferences(self, token: str) -> int:
        """The subscriber id in a preferences token; raises BadTokenError."""
        return int(self._read("preferences", token))

    @cached_property
    def _signers(self) -> dict[str, Signer]:
        oldest_first = [key.encode() for key in reversed(self.secret_keys)]
        return {
            purpose: Signer(oldest_first, salt=f"digest.{purpose}", digest_method=sha256, key_derivation="hmac")
            for purpose in ("confirm", "unsubscribe", "preferences", "address", "return", "export")
        }

    @cached_property
    def _keyed(self) -> dict[str, HMAC]:
        """HMACs that have taken in their key and nothing else, to be copied."""
        return {purpose: hmac(signer.derive_key(), digestmod=sha256) for purpose, signer in self._signers.items()}

    def _sign(self, purpose: str, payload: str) -> str:
        """What :meth:`Signer.sign` makes; the key is taken in once, for every reader of a brief has two of these."""
        signing = self._keyed[purpose].copy()
        signing.update(payload.encode())
        signature = b2a_base64(signing.digest(), newline=False).translate(URL_SAFE, b"=")
        return f"{payload}.{signature.decode()}"

    def _read_dated(self, purpose: str, token: str, now: datetime, good_for: timedelta) -> int:
        row_id, _, made = self._read(purpose, token).partition(".")
        if now - datetime.fromtimestamp(int(made), UTC) > good_for:
            raise ExpiredTokenError("the link has expired")
        return int(row_id)

    def _read(self, purpose: str, token: str) -> str:
        try:
            return self._signers[purpose].unsign(token.encode("utf-8", "surrogatepass")).decode("ascii")
        except (BadSignature, UnicodeError) as error:
            raise BadTokenError("the link is not one of ours, or is incomplete") from error


def _dated(row_id: int, now: datetime) -> str:
    return f"{row_id}.{int(now.timestamp())}"


def _short_signature(secret: str, key: str) -> str:
    """80 bits, of which base32 makes 16 letters: a guess takes a letter to the mailbox each, and 2⁷⁹ of them."""
    digest = hmac(secret.encode(), b"digest.bounce:" + key.encode("utf-8", "surrogatepass"), sha256).digest()
    return b32encode(digest[:10]).decode("ascii").lower()
