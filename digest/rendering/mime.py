"""Messages as mail servers read them (RFC 5322), encoded once; per recipient only their own parts are spliced in.

Both bodies are base64 (RFC 2045 §6.8): mail is 7-bit whatever the language, and no line is longer than 76 characters
however the HTML is laid out. Base64 works on groups of three bytes, so text around a slot is encoded beforehand for
each of the three offsets at which it may begin. A decoder ignores line breaks, so a line may be short.
"""

import re
import threading
from binascii import b2a_base64
from collections.abc import Mapping
from datetime import datetime
from email.header import Header
from email.utils import format_datetime
from functools import lru_cache
from hashlib import sha256
from textwrap import wrap

from digest.domain.errors import PermanentError
from digest.ports import Message, Recipient, Sender

LINE = 76
"""Longest line of base64 (RFC 2045 §6.8) and of a header with encoded words (RFC 2047 §2)."""
LONGEST_LINE = 998
"""Octets a line may hold at all (RFC 5322 §2.1.1)."""
_LONGEST_NAME = 60
"""Characters of a display name that is not encoded; what is longer has to be folded, which encoded words do safely."""
_SHORTEST_CHUNK = 2
"""Bytes between two slots that allow encoding them beforehand: up to two complete the group before."""

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_ATOMS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+( [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_DOT_ATOM = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_BARE_ADDRESS = re.compile(r"[^\s<>,;:\"()\[\]\\@\x00-\x1f\x7f-\x9f]+@[^\s<>,;:\"()\[\]\\@\x00-\x1f\x7f-\x9f]+")
_LINK = re.compile(r"https?://[!#-;=?-~]+")
"""An address that can stand between angle brackets: no space, quote, bracket or control (RFC 2369 §2)."""


class UnsafeHeaderError(PermanentError):
    """A value that would break, or break out of, the header it is meant for. Names the header, never the value."""

    def __init__(self, header: str) -> None:
        super().__init__(f"{header}: the value cannot stand in this header")


def clean(text: str) -> str:
    """The text on one line: controls, line and paragraph separators and lone surrogates become one space."""
    return _CONTROLS.sub(" ", text).strip()


def unstructured(name: str, text: str) -> str:
    """The whole header ``name`` with a free text as its value, folded with CRLF; decodes to ``clean(text)``.

    Text beyond ASCII is encoded from its first to its last character (RFC 2047): words left bare beside encoded ones
    are where folding loses and doubles spaces. ASCII stays readable unless a reader could take it for encoded.
    """
    kept = clean(text)
    lines = wrap(f"{name}: {kept}", LINE, break_long_words=False, break_on_hyphens=False)
    plain = kept.isascii() and "=?" not in kept and "  " not in kept
    if plain and lines[0] != f"{name}:" and max(map(len, lines)) <= LINE:
        return "\r\n ".join(lines)
    return f"{name}: {_encoded_words(kept, name)}"


def phrase(name: str, header: str) -> str:
    """A display name as RFC 5322 §3.2.5 wants it: bare words, a quoted string, or encoded words."""
    kept = clean(name)
    if _ATOMS.fullmatch(kept) and "=?" not in kept and len(kept) <= _LONGEST_NAME:
        return kept
    if kept.isascii() and "=?" not in kept and len(kept) <= _LONGEST_NAME:
        return '"' + re.sub(r'(["\\])', r"\\\1", kept) + '"'
    return _encoded_words(kept, header)


def named(header: str, name: str, address: str) -> str:
    """The whole header with one ``name <address>``, in From or List-Id; folded before the bracket where it is long."""
    shown = phrase(name, header) if clean(name) else ""
    last = f"{header}: {shown}".rpartition("\r\n")[2]
    gap = "\r\n " if shown and len(last) + len(address) + 3 > LINE else " " if shown else ""
    return f"{header}: {shown}{gap}<{address}>"


def unsubscribe_headers(url: str) -> dict[str, str]:
    """List-Unsubscribe and List-Unsubscribe-Post (RFC 8058 §3.1); the address is never encoded or broken.

    Raises:
        UnsafeHeaderError: the address is not absolute, or holds what ends a header or a bracket.
    """
    if not _LINK.fullmatch(url) or len(url) > LONGEST_LINE - len("List-Unsubscribe: <>"):
        raise UnsafeHeaderError("List-Unsubscribe")
    return {"List-Unsubscribe": f"<{url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def message_id(message: Message, recipient: Recipient, sender: Sender) -> str:
    """The Message-ID of this message to this recipient: the same at every hand-over, without an address.

    Raises:
        UnsafeHeaderError: a key holds more than letters, digits, ``-``, ``_`` and single dots.
    """
    left = f"{message.key}.{recipient.key}"
    if not _DOT_ATOM.fullmatch(left):
        raise UnsafeHeaderError("Message-ID")
    return f"<{left}@{sender.address.rpartition('@')[2]}>"


class Encoded:
    """A message as MIME: ``multipart/alternative``, plain text first (RFC 2046 §5.1.4)."""

    def __init__(self, message: Message, sender: Sender) -> None:
        if not _BARE_ADDRESS.fullmatch(sender.address) or not sender.address.isascii():
            raise UnsafeHeaderError("From")
        if not _DOT_ATOM.fullmatch(sender.list_id):
            raise UnsafeHeaderError("List-Id")
        self.message = message
        self._sender = sender
        # "_" is no base64 digit, so no body can hold the boundary.
        boundary = f"=_{sha256(message.key.encode()).hexdigest()[:24]}"
        plain, html = (
            f"--{boundary}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n".encode()
            for kind in ("text/plain", "text/html")
        )
        self._before_text = _shared_headers(message, sender, boundary).encode("ascii") + plain
        self._before_html = html
        self._end = f"--{boundary}--\r\n".encode()
        # Line breaks of plain text are CRLF before encoding (RFC 2045 §6.8); in HTML they are only space.
        self._text = _Spliced("\r\n".join(re.split(r"\r\n|\r|\n", message.text)), message.slots)
        self._html = _Spliced(message.html, message.slots)

    def for_recipient(self, recipient: Recipient, now: datetime) -> bytes:
        """The finished message, lines ended by CRLF; 7-bit unless the recipient's address is not (RFC 6532).

        Args:
            recipient: who gets it; has a value for every slot.
            now: aware; the Date.

        Raises:
            UnsafeHeaderError: address, key or unsubscribe address can't stand in a header.
        """
        values = {name: recipient.values[name].encode("utf-8", "replace") for name in self.message.slots}
        # Joined once: every further join would copy the whole brief again.
        out = [self._own_headers(recipient, now).encode("utf-8"), self._before_text]
        self._text.fill(values, out)
        out.append(self._before_html)
        self._html.fill(values, out)
        out.append(self._end)
        return b"".join(out)

    def _own_headers(self, recipient: Recipient, now: datetime) -> str:
        if not _BARE_ADDRESS.fullmatch(recipient.address):
            raise UnsafeHeaderError("To")
        lines = [
            f"To: {recipient.address}",
            f"Date: {_date(now)}",
            f"Message-ID: {message_id(self.message, recipient, self._sender)}",
        ]
        if recipient.unsubscribe_url is not None:
            lines += [f"{name}: {value}" for name, value in unsubscribe_headers(recipient.unsubscribe_url).items()]
        return "\r\n".join(lines) + "\r\n"


@lru_cache(maxsize=8)
def _date(now: datetime) -> str:
    """The Date, which all messages of a hand-over share."""
    return format_datetime(now)


class Encoder:
    """Makes :class:`Encoded` messages and keeps the last one: batches of one brief follow each other."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._lock = threading.Lock()
        self._last: Encoded | None = None

    def encode(self, message: Message) -> Encoded:
        """The message encoded, anew only when it differs from the last one."""
        with self._lock:
            if self._last is None or self._last.message != message:
                self._last = Encoded(message, self._sender)
            return self._last


def _shared_headers(message: Message, sender: Sender, boundary: str) -> str:
    headers = (
        named("From", sender.name, sender.address),
        unstructured("Subject", message.subject),
        named("List-Id", sender.list_name, sender.list_id),
        "Auto-Submitted: auto-generated",
        f"Content-Language: {message.language.tag}",
        "MIME-Version: 1.0",
        f'Content-Type: multipart/alternative;\r\n boundary="{boundary}"',
    )
    return "".join(f"{header}\r\n" for header in headers) + "\r\n"


def _encoded_words(text: str, header: str) -> str:
    return Header(text, "utf-8", maxlinelen=LINE, header_name=header).encode(linesep="\r\n")


def _base64_lines(body: bytes) -> bytes:
    digits = b2a_base64(body, newline=False)
    return b"".join(digits[at : at + LINE] + b"\r\n" for at in range(0, len(digits), LINE))


_Phase = tuple[bytes, bytes, bytes]
"""Of a chunk that follows a slot: bytes that complete the group before, the encoded middle, bytes left for the next."""


class _Spliced:
    """A body with slots, encoded everywhere but around them."""

    def __init__(self, body: str, slots: Mapping[str, str]) -> None:
        chunks, runs = _cut(body, slots)
        last = len(chunks) - 1
        _, self._start, self._carry = _phase(chunks[0], 0, is_last=last == 0)
        self._steps = [
            (run, tuple(_phase(chunk, skip, is_last=number == last) for skip in range(3)))
            for number, (run, chunk) in enumerate(zip(runs, chunks[1:], strict=True), 1)
        ]

    def fill(self, values: Mapping[str, bytes], out: list[bytes]) -> None:
        """Add the base64 lines of the body, with the values in their places, to ``out``."""
        out.append(self._start)
        carry = self._carry
        for run, phases in self._steps:
            own = carry
            for piece in run:
                own += values[piece] if isinstance(piece, str) else piece
            head, encoded, carry = phases[-len(own) % 3]
            digits = b2a_base64(own + head, newline=False)
            for at in range(0, len(digits), LINE):
                out += (digits[at : at + LINE], b"\r\n")
            out.append(encoded)


def _phase(chunk: bytes, skip: int, *, is_last: bool) -> _Phase:
    head, rest = chunk[:skip], chunk[skip:]
    end = len(rest) if is_last else len(rest) - len(rest) % 3
    return head, _base64_lines(rest[:end]), rest[end:]


def _cut(body: str, slots: Mapping[str, str]) -> tuple[list[bytes], list[tuple[str | bytes, ...]]]:
    """The body as chunk, run, chunk, …, chunk: a run is slot names and the few bytes between neighbouring slots."""
    names = {marker: name for name, marker in slots.items()}
    pattern = "|".join(re.escape(marker) for marker in sorted(names, key=len, reverse=True))
    parts = re.split(f"({pattern})", body) if pattern else [body]
    literals = [part.encode("utf-8", "replace") for part in parts[::2]]
    chunks: list[bytes] = [literals[0]]
    runs: list[tuple[str | bytes, ...]] = []
    run: list[str | bytes] = []
    for marker, literal in zip(parts[1::2], literals[1:], strict=True):
        run.append(names[marker])
        if len(literal) < _SHORTEST_CHUNK:
            run.append(literal)
            continue
        runs.append(tuple(run))
        chunks.append(literal)
        run = []
    if run:
        runs.append(tuple(run))
        chunks.append(b"")
    return chunks, runs
