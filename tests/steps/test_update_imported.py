"""A list that changes readers who are there: many at once, by the very rules of a reader's own page."""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, time, timedelta

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from digest.domain.language import Language, LanguageChoice
from digest.domain.schedule import Cadence
from digest.domain.subscriber import EndReason, SubscriberState
from digest.domain.suppression import SuppressionReason
from digest.steps import update_imported
from digest.steps.import_subscribers import Defaults, Imported, Plan, import_subscribers
from digest.steps.manage_subscriptions import change_wishes, pause, unsubscribe
from digest.store.cadences import cadence_id
from digest.store.subscribers import get, lock_free, set_state, suppress
from digest.store.tables import Letter, Subscriber, Suppression
from tests.steps.world import World, utc
from tests.workers.waiting import eventually

SEND_AT = utc("2027-06-10T00:00")
NOW = SEND_AT - timedelta(minutes=4)
BERLIN = Cadence("Europe/Berlin", time(9), 0b001_1111)
ROW = {"language": "zh", "timezone": "Europe/Berlin", "time": "09:00", "weekdays": "mon,tue,wed,thu,fri"}


def update(world: World, *rows: Mapping[str, str], at_minutes: int = 0) -> Imported:
    defaults, now = Defaults(Language.ENGLISH, "UTC"), NOW + timedelta(minutes=at_minutes)
    return import_subscribers(world.sessions, list(enumerate(rows, 2)), defaults, lambda _: [], now, Plan(updates=True))


def standing(world: World, subscriber_id: int) -> dict[str, object]:
    """Everything that a change may touch."""
    row = world.subscriber(subscriber_id)
    names = ("state", "reason", "languages", "cadence_id", "topics", "window_start_at", "changed_at", "paused_until_on")
    return {name: getattr(row, name) for name in names}


def a_morning_before(world: World) -> None:
    """Readers who got yesterday's brief and for whom today's is planned, one who joined since, one who paused."""
    world.news(SEND_AT - timedelta(days=3), SEND_AT)
    for how in ("page", "list"):
        for who in ("daily", "paused"):
            world.reader(f"{who}-{how}@example.com")
    world.turn(SEND_AT - timedelta(days=1, minutes=5))
    world.turn(SEND_AT - timedelta(days=1))
    for how in ("page", "list"):
        world.reader(f"joined-{how}@example.com", since=SEND_AT - timedelta(hours=5))
        pause(world.sessions, ids(world)[f"paused-{how}@example.com"], date(2027, 7, 1), SEND_AT - timedelta(hours=9))
    world.ready(SEND_AT)


def ids(world: World) -> dict[str, int]:
    with world.sessions() as session:
        return {row.email: row.id for row in session.execute(select(Subscriber.email, Subscriber.id))}


def test_a_list_changes_readers_as_their_own_pages_do_and_takes_back_what_is_planned(shared_world: World) -> None:
    world = shared_world
    a_morning_before(world)
    known = ids(world)
    assert {entry.email for entry in world.ledger() if entry.status == "ready"} == {
        f"{who}-{how}@example.com" for who in ("daily", "joined") for how in ("page", "list")
    }
    for address, subscriber_id in known.items():
        if "-page" in address:
            change_wishes(world.sessions, subscriber_id, LanguageChoice.CHINESE, BERLIN, "chips", NOW)
    imported = update(world, *({"email": one, "topics": "chips", **ROW} for one in known if "-list" in one))

    assert (imported.updated, imported.new) == (3, 0)
    for who in ("daily", "joined", "paused"):
        by_page, by_list = (standing(world, known[f"{who}-{how}@example.com"]) for how in ("page", "list"))
        assert by_list == by_page
        assert by_list["languages"] is LanguageChoice.CHINESE
    assert not [entry for entry in world.ledger() if entry.status == "ready"]
    assert standing(world, known["daily-list@example.com"])["window_start_at"] is not None
    assert update(world, *({"email": one, "topics": "chips", **ROW} for one in known), at_minutes=1).updated == 0


def test_who_left_or_moved_meanwhile_stays_so_and_who_is_being_changed_comes_last(shared_world: World) -> None:
    world = shared_world
    readers = [world.reader(f"reader{number}@example.com") for number in range(4)]
    rows = [{"email": f"reader{number}@example.com", **ROW} for number in range(4)]
    rows[2]["status"] = "bounced"
    with world.sessions() as session, ThreadPoolExecutor(1) as other:
        session.begin()
        leaving, moving = (get(session, one, lock=True) for one in readers[1:3])
        assert leaving is not None
        assert moving is not None
        importing = other.submit(update, world, *rows)
        eventually(lambda: world.subscriber(readers[3]).languages is LanguageChoice.CHINESE)
        assert not importing.done()
        assert world.subscriber(readers[1]).languages is LanguageChoice.ENGLISH
        set_state(session, leaving, SubscriberState.ENDED, NOW, EndReason.UNSUBSCRIBED)
        moving.email = moving.email_key = "moved@example.com"
        session.commit()
        assert importing.result().updated == 2
    assert standing(world, readers[1])["state"] is SubscriberState.ENDED
    assert standing(world, readers[1])["languages"] is LanguageChoice.ENGLISH
    assert standing(world, readers[2])["state"] is SubscriberState.ACTIVE
    with world.sessions() as session:
        assert session.scalars(select(Suppression.email_key)).all() == []


def test_who_makes_the_same_cadence_first_may_still_have_the_reader(shared_world: World) -> None:
    """A sign-up makes its cadence before it locks the reader: an update that held the reader would lock both up."""
    world = shared_world
    reader = world.reader(at=time(9))
    with world.sessions() as session, world.sessions() as other, ThreadPoolExecutor(1) as operator:
        session.begin()
        cadence_id(session, Cadence("Europe/Berlin", time(9)), NOW)
        importing = operator.submit(update, world, {"email": "reader@example.com", "timezone": "Europe/Berlin"})
        eventually(lambda: other.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))
        assert get(session, reader, lock=True) is not None
        session.commit()
        assert importing.result().updated == 1


def test_an_update_that_was_killed_half_way_goes_on_where_it_was(
    shared_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, rows = shared_world, [{"email": f"reader{number}@example.com", **ROW} for number in range(5)]
    for row in rows:
        world.reader(row["email"])
    monkeypatch.setattr(update_imported, "AT_ONCE", 2)

    def killed(session: Session, ids: Collection[int]) -> Sequence[Subscriber]:
        if world.subscriber(min(ids) - 1 or 1).languages is LanguageChoice.CHINESE:
            raise KeyboardInterrupt
        return lock_free(session, ids)

    with monkeypatch.context() as dying:
        dying.setattr(update_imported, "lock_free", killed)
        with pytest.raises(KeyboardInterrupt):
            update(world, *rows)
    languages = [world.subscriber(one).languages for one in ids(world).values()]
    assert sorted(languages) == [LanguageChoice.ENGLISH] * 3 + [LanguageChoice.CHINESE] * 2
    assert update(world, *rows, at_minutes=1).updated == 3
    assert {world.subscriber(one).languages for one in ids(world).values()} == {LanguageChoice.CHINESE}


def test_endings_of_a_list_bar_by_the_hardest_reason_and_owe_no_goodbye(world: World) -> None:
    ann, bo, eve = (world.reader(f"{name}@example.com") for name in ("ann", "bo", "eve"))
    unsubscribe(world.sessions, eve, NOW - timedelta(days=1))
    with world.sessions.begin() as session:
        suppress(session, "bo@example.com", SuppressionReason.COMPLAINED, NOW - timedelta(days=2))
    before = standing(world, eve)
    imported = update(
        world,
        {"email": "Ann@Example.com", "status": "unsubscribed"},
        {"email": "bo@example.com", "status": "bounced"},
        {"email": "eve@example.com", "status": "complained"},
    )
    assert imported.updated == 2
    assert [standing(world, one)["reason"] for one in (ann, bo)] == [EndReason.IMPORTED, EndReason.BOUNCED]
    assert standing(world, eve) == before
    with world.sessions() as session:
        assert session.scalars(select(Letter.kind).where(Letter.subscriber_id != eve)).all() == []
        barred = {row.email_key: row.reason for row in session.scalars(select(Suppression))}
    assert barred == {"bo@example.com": SuppressionReason.COMPLAINED}
