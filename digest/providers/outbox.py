"""The mailbox at home: real messages, kept in a folder instead of sent, and read back for the page that shows them."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from email.policy import SMTP
from email.utils import parsedate_to_datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Protocol

from digest.domain.delivery import DeliveryReason
from digest.ports import HandOver, Message, Recipient, Refusal, Sender
from digest.providers.mailbox_syntax import needs_smtputf8
from digest.providers.tally import Tally
from digest.rendering.mime import Encoder, message_id

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*\.eml")


@dataclass(frozen=True, slots=True)
class Posted:
    """A finished message on its way into a mailbox.

    Attributes:
        identifier: its Message-ID, the same whenever this delivery is handed over.
        at: when it was handed over, aware.
        source: the message as a mail server would get it.
    """

    identifier: str
    message: Message
    recipient: Recipient
    at: datetime
    source: bytes = field(repr=False)


class Mailbox(Protocol):
    """Where an outbox puts its messages."""

    def put(self, posted: Posted) -> None:
        """Keep the message; putting one with a known identifier again changes nothing.

        Raises:
            OSError: it could not be kept.
        """
        ...


class FolderMailbox:
    """One ``.eml`` file per message, whole or not there, named by its Message-ID."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, posted: Posted) -> None:
        """Write the file under another name first, then rename it; see :meth:`Mailbox.put`."""
        place = self.folder / f"{posted.identifier.strip('<>').partition('@')[0]}.eml"
        if place.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=self.folder, prefix=".", suffix=".part", delete=False) as file:
            try:
                file.write(posted.source)
                file.close()
                os.replace(file.name, place)  # noqa: PTH105 # the temporary file gives a name, not a Path
            except BaseException:
                os.unlink(file.name)  # noqa: PTH108 # likewise
                raise


class OutboxProvider:
    """Hands messages to a mailbox.

    ========================  =====================================================
    what happens              what it is
    ========================  =====================================================
    kept                      accepted
    address not sendable      refused, ``INVALID_ADDRESS``
    folder can't be written   alarm; this one and the rest *again*
    ========================  =====================================================
    """

    name = "outbox"
    batch_size = 500

    def __init__(self, sender: Sender, mailbox: Mailbox) -> None:
        self._sender = sender
        self._mailbox = mailbox
        self._encoder = Encoder(sender)

    def hand_over(self, message: Message, recipients: Sequence[Recipient], now: datetime) -> HandOver:
        """Keep the message for each recipient; see :class:`digest.ports.Provider`."""
        tally = Tally(recipients)
        tally.refuse_unsendable()
        encoded = self._encoder.encode(message)
        for recipient in list(tally.waiting.values()):
            if needs_smtputf8(recipient.address):
                tally.refuse(recipient, Refusal(DeliveryReason.INVALID_ADDRESS, "needs SMTPUTF8"))
                continue
            identifier = message_id(message, recipient, self._sender)
            try:
                self._mailbox.put(Posted(identifier, message, recipient, now, encoded.for_recipient(recipient, now)))
            except OSError as error:
                tally.alarm = f"outbox: the message could not be kept ({error.strerror or type(error).__name__})"
                break
            tally.accept([recipient])
        return tally.result()

    def close(self) -> None:
        """Nothing is held open."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A kept message in a list: its file name and what a mailbox shows of it."""

    name: str
    subject: str
    to: str
    date: datetime | None


@dataclass(frozen=True, slots=True)
class Opened(Listed):
    """A kept message with its two bodies and its source as it would have been sent."""

    html: str = field(repr=False)
    text: str = field(repr=False)
    source: str = field(repr=False)


def list_messages(folder: Path, limit: int = 200) -> list[Listed]:
    """The newest messages first, by the time they were kept; nothing where there is no folder yet."""
    newest = sorted(_files(folder), key=lambda kept: (-kept[0], kept[1]))[:limit]
    parser = BytesHeaderParser(policy=SMTP)
    listed = []
    for _, name in newest:
        with (folder / name).open("rb") as file:
            listed.append(_listed(name, parser.parse(file)))
    return listed


def read_message(folder: Path, name: str) -> Opened | None:
    """One kept message; None when there is none of that name. ``name`` may be hostile: it can't leave the folder."""
    if not _NAME.fullmatch(name) or not (folder / name).is_file() or (folder / name).is_symlink():
        return None
    source = (folder / name).read_bytes()
    found = message_from_bytes(source, policy=SMTP)
    head = _listed(name, found)
    return Opened(
        name=name,
        subject=head.subject,
        to=head.to,
        date=head.date,
        html=_body(found, "html"),
        text=_body(found, "plain").replace("\r\n", "\n"),
        source=source.decode("utf-8", "replace").replace("\r\n", "\n"),
    )


def _files(folder: Path) -> Iterator[tuple[int, str]]:
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                yield entry.stat().st_mtime_ns, entry.name


def _listed(name: str, found: EmailMessage) -> Listed:
    return Listed(name, str(found["Subject"] or ""), str(found["To"] or ""), _date(found))


def _date(found: EmailMessage) -> datetime | None:
    try:
        return parsedate_to_datetime(str(found["Date"]))
    except ValueError:
        return None


def _body(found: EmailMessage, kind: str) -> str:
    part = found.get_body((kind,))
    content = part.get_payload(decode=True) if part is not None else b""
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
