"""Import and erasure: never revives anyone, never forgets a promise."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy import func, select

from digest.domain.errors import BadInputError
from digest.domain.language import Language
from digest.domain.subscriber import EndReason, SubscriberState
from digest.steps.check_address import check_address
from digest.steps.erase_subscribers import erase_subscriber
from digest.steps.import_subscribers import Defaults, Imported, import_subscribers
from digest.steps.manage_subscriptions import unsubscribe
from digest.steps.request_subscriptions import request_subscription
from digest.store.database import Sessions
from digest.store.subscribers import find
from digest.store.tables import Consent, Delivery, Letter, Subscriber, Suppression
from tests.steps.world import World, utc

NOW = utc("2027-06-09T10:00")
DEFAULTS = Defaults(Language.ENGLISH, "Asia/Shanghai")


def hashes(address: str) -> Sequence[str]:
    return [sha256(address.lower().encode()).hexdigest()]


def take(sessions: Sessions, *rows: Mapping[str, str]) -> Imported:
    return import_subscribers(sessions, list(enumerate(rows, 2)), DEFAULTS, hashes, NOW)


def found(sessions: Sessions, address: str) -> Subscriber:
    with sessions() as session:
        row = find(session, address)
    assert row is not None
    return row


def test_only_the_address_is_needed_and_confirmation_is_asked_for(database: Sessions) -> None:
    imported = take(database, {"email": "reader@example.com"})
    assert (imported.new, imported.letters) == (1, 1)
    row = found(database, "reader@example.com")
    assert (row.state, row.language, row.cadence_row.timezone) == (SubscriberState.PENDING, "en", "Asia/Shanghai")


def test_an_active_row_needs_a_word_on_consent(database: Sessions) -> None:
    imported = take(
        database,
        {"email": "a@example.com", "status": "active"},
        {"email": "b@example.com", "status": "active", "consent_source": "form of 2025"},
    )
    assert (imported.new, [number for number, _ in imported.refused]) == (1, [2])
    with database() as session:
        consent = session.scalars(select(Consent)).one()
    assert (consent.source, consent.confirmed_at) == ("form of 2025", NOW)


def test_every_column_is_read(database: Sessions) -> None:
    take(
        database,
        {
            "email": "a@example.com",
            "language": "zh-CN",
            "timezone": "Europe/Berlin",
            "time": "7:30",
            "weekdays": "weekdays",
            "topics": "Chips; models",
            "status": "Active",
            "consent_source": "x",
        },
    )
    row = found(database, "a@example.com")
    assert (row.language, row.topics, row.cadence_row.cadence.weekdays) == ("zh", "chips,models", 31)
    assert (row.cadence_row.timezone, row.cadence_row.send_time.isoformat()) == ("Europe/Berlin", "07:30:00")


def test_an_ended_row_stays_ended_and_gets_no_mail(database: Sessions) -> None:
    imported = take(database, {"email": "a@example.com", "status": "ended"})
    row = found(database, "a@example.com")
    assert (row.state, row.reason, imported.letters) == (SubscriberState.ENDED, EndReason.IMPORTED, 0)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("email", "no address"),
        ("email", ""),
        ("language", "de"),
        ("timezone", "Mars"),
        ("time", "25:00"),
        ("weekdays", "someday"),
        ("status", "maybe"),
        ("topics", ",".join(f"topic{number}" for number in range(100))),
        ("topics", "chips\0models"),
        ("consent_source", "x" * 401),
        ("consent_source", "a\0b"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_stops_no_other(database: Sessions, column: str, value: str) -> None:
    bad = {"email": "bad@example.com", "status": "active", "consent_source": "x"} | {column: value}
    imported = take(database, {"email": "a@example.com"}, bad, {"email": "c@example.com"})
    assert (imported.new, [number for number, _ in imported.refused]) == (2, [3])
    assert imported.refused[0][1].startswith(f"{column}: ")
    assert imported.refused[0][1].isprintable()


def test_nobody_is_revived_or_changed_by_an_import(world: World) -> None:
    reader = world.reader()
    unsubscribe(world.sessions, reader, NOW)
    imported = take(world.sessions, {"email": "READER@example.com", "status": "active", "consent_source": "x"})
    assert (imported.new, imported.known) == (0, 1)
    assert world.subscriber(reader).state is SubscriberState.ENDED


def test_a_repeated_row_counts_once(database: Sessions) -> None:
    imported = take(database, {"email": "a@example.com"}, {"email": "A@EXAMPLE.com"})
    assert (imported.new, imported.repeated) == (1, 1)


def test_erasure_leaves_nothing_but_a_hash(world: World) -> None:
    reader = world.join(NOW)
    world.story(NOW + timedelta(hours=1))
    world.turns(NOW, NOW + timedelta(days=1), timedelta(hours=2))
    assert erase_subscriber(world.sessions, " Reader@EXAMPLE.com", hashes("reader@example.com")[0], NOW)
    with world.sessions() as session:
        for table in (Subscriber, Consent, Letter, Delivery):
            assert session.scalar(select(func.count()).select_from(table)) == 0
        (left,) = session.scalars(select(Suppression)).all()
    assert (left.email_key, left.address_hash) == (None, hashes("reader@example.com")[0])
    assert reader == 1


def test_an_erased_address_is_neither_imported_nor_signed_up_again(database: Sessions) -> None:
    erase_subscriber(database, "a@example.com", hashes("a@example.com")[0], NOW)
    assert take(database, {"email": "a@example.com"}).suppressed == 1
    assert request_subscription(database, World.request("a@example.com"), hashes("a@example.com"), NOW) == []


def test_erasing_nobody_says_so_and_twice_does_no_harm(database: Sessions) -> None:
    assert not erase_subscriber(database, "a@example.com", "f" * 64, NOW)
    assert not erase_subscriber(database, "a@example.com", "f" * 64, NOW)


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("Reader@Example.COM", "Reader@example.com"),
        ("reader@bücher.example", "reader@xn--bcher-kva.example"),
        ("ｒｅａｄｅｒ＠example。com", "reader@example.com"),
        ("reader+tag@example.com", "reader+tag@example.com"),
    ],
)
def test_an_address_is_written_as_mail_needs_it(typed: str, address: str) -> None:
    assert check_address(typed) == address


@pytest.mark.parametrize(
    "typed",
    ["", "reader", "a@b@c", "读者@example.com", "reader@", "@example.com", "a" * 300 + "@example.com", "a\n@b.example"],
)
def test_what_cannot_receive_mail_is_refused_by_name(typed: str) -> None:
    with pytest.raises(BadInputError) as refused:
        check_address(typed)
    assert refused.value.field == "email"
    assert str(refused.value).isprintable()
