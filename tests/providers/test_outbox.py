import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from digest.domain.delivery import DeliveryReason
from digest.ports import Message, Recipient, Sender
from digest.providers.outbox import FolderMailbox, OutboxProvider, Posted, list_messages, read_message

Readers = Callable[..., list[Recipient]]


class Counting:
    """A mailbox that keeps nothing but what it was given; may be full."""

    def __init__(self, room: int = 1000) -> None:
        self.posted: list[Posted] = []
        self.room = room

    def put(self, posted: Posted) -> None:
        if len(self.posted) >= self.room:
            raise OSError(28, "No space left on device")
        self.posted.append(posted)


@pytest.fixture
def provider(sender: Sender, tmp_path: Path) -> OutboxProvider:
    return OutboxProvider(sender, FolderMailbox(tmp_path / "outbox"))


def test_every_reader_has_one_whole_file_named_by_the_message_id(
    provider: OutboxProvider, tmp_path: Path, message: Message, readers: Readers, now: datetime
) -> None:
    given = provider.hand_over(message, readers(3), now)
    assert len(given.accepted) == 3
    assert sorted(path.name for path in (tmp_path / "outbox").iterdir()) == [
        f"brief-12.{number}-20261202.eml" for number in range(3)
    ]


def test_handing_over_the_same_delivery_again_makes_no_second_file(
    provider: OutboxProvider, tmp_path: Path, message: Message, readers: Readers, now: datetime
) -> None:
    provider.hand_over(message, readers(1), now)
    before = (tmp_path / "outbox" / "brief-12.0-20261202.eml").read_bytes()
    given = provider.hand_over(message, readers(1), now + timedelta(hours=1))
    assert len(given.accepted) == 1
    assert [path.read_bytes() for path in (tmp_path / "outbox").iterdir()] == [before]


def test_threads_that_hand_over_the_same_readers_leave_one_file_each_and_no_scraps(
    provider: OutboxProvider, tmp_path: Path, message: Message, readers: Readers, now: datetime
) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: provider.hand_over(message, readers(20), now), range(4)))
    assert len(list((tmp_path / "outbox").iterdir())) == 20


def test_kept_mail_is_for_its_owner_only(
    provider: OutboxProvider, tmp_path: Path, message: Message, readers: Readers, now: datetime
) -> None:
    provider.hand_over(message, readers(1), now)
    (kept,) = (tmp_path / "outbox").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_full_disk_is_an_alarm_and_leaves_the_rest_for_later(
    sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    mailbox = Counting(room=2)
    given = OutboxProvider(sender, mailbox).hand_over(message, readers(5), now)
    assert (len(given.accepted), len(given.again)) == (2, 3)
    assert "No space left" in given.alarm


def test_a_folder_that_cannot_be_is_an_alarm_and_not_an_error(
    sender: Sender, tmp_path: Path, message: Message, readers: Readers, now: datetime
) -> None:
    (tmp_path / "file").write_text("in the way")
    provider = OutboxProvider(sender, FolderMailbox(tmp_path / "file" / "outbox"))
    given = provider.hand_over(message, readers(2), now)
    assert given.alarm
    assert len(given.again) == 2


def test_any_mailbox_gets_the_message_its_reader_and_the_instant(
    sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    mailbox = Counting()
    OutboxProvider(sender, mailbox).hand_over(message, readers(2), now)
    assert [posted.recipient.key for posted in mailbox.posted] == ["0-20261202", "1-20261202"]
    assert {(posted.message.key, posted.at) for posted in mailbox.posted} == {("brief-12", now)}
    assert mailbox.posted[0].identifier == "<brief-12.0-20261202@example.com>"
    assert "example.org" not in repr(mailbox.posted)


@pytest.mark.parametrize("address", ["broken@", "a@example.com,b@example.com", "用户@example.org", "a@b c"])
def test_an_address_that_cannot_be_sent_to_is_refused_and_the_others_are_kept(
    provider: OutboxProvider, message: Message, readers: Readers, now: datetime, address: str
) -> None:
    given = provider.hand_over(message, readers(2, address), now)
    assert given.refused["2-20261202"].reason is DeliveryReason.INVALID_ADDRESS
    assert len(given.accepted) == 2


def test_a_kept_message_is_read_back_as_it_was_written(
    provider: OutboxProvider, tmp_path: Path, message: Message, readers: Readers, now: datetime
) -> None:
    provider.hand_over(message, readers(1), now)
    (listed,) = list_messages(tmp_path / "outbox")
    opened = read_message(tmp_path / "outbox", listed.name)
    assert opened is not None
    assert (opened.subject, opened.to, opened.date) == (message.subject, "reader0@example.org", now)
    assert (listed.subject, listed.to, listed.date) == (opened.subject, opened.to, opened.date)
    url = "https://brief.example.com/unsubscribe/0.x"
    assert opened.html == message.html.replace("@@u7k2@@", url)
    assert opened.text == message.text.replace("@@u7k2@@", url)
    assert f"\nList-Unsubscribe: <{url}>\n" in opened.source
    assert "example.org" not in repr(opened).replace(opened.to, "")


def test_the_newest_message_is_listed_first_and_only_as_many_as_asked_for(
    provider: OutboxProvider, tmp_path: Path, message: Message, readers: Readers, now: datetime
) -> None:
    provider.hand_over(message, readers(5), now)
    for number, path in enumerate(sorted((tmp_path / "outbox").iterdir())):
        os.utime(path, (number, number))
    assert [one.name for one in list_messages(tmp_path / "outbox", limit=2)] == [
        "brief-12.4-20261202.eml",
        "brief-12.3-20261202.eml",
    ]


def test_a_folder_that_is_not_there_yet_lists_nothing(tmp_path: Path) -> None:
    assert list_messages(tmp_path / "none") == []


@pytest.mark.parametrize(
    "name",
    [
        "../secret.eml",
        "..%2fsecret.eml",
        "/etc/passwd",
        "sub/one.eml",
        ".hidden.eml",
        "link.eml",
        "missing.eml",
        "one.txt",
        "one.eml\n",
        "one.eml\x00",
        "",
    ],
)
def test_nothing_but_the_folder_s_own_messages_can_be_read(tmp_path: Path, name: str) -> None:
    outbox = tmp_path / "outbox"
    (outbox / "sub").mkdir(parents=True)
    for place in (tmp_path / "secret.eml", outbox / ".hidden.eml", outbox / "sub" / "one.eml", outbox / "one.txt"):
        place.write_bytes(b"Subject: secret\r\n\r\nsecret")
    (outbox / "link.eml").symlink_to(tmp_path / "secret.eml")
    assert read_message(outbox, name) is None
    assert list_messages(outbox) == []


def test_a_file_that_is_no_message_is_shown_and_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "odd.eml").write_bytes(b"\xff\xfe\x00 no header here")
    (listed,) = list_messages(tmp_path)
    opened = read_message(tmp_path, listed.name)
    assert opened is not None
    assert (opened.subject, opened.date, opened.html) == ("", None, "")
