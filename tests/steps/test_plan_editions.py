"""Due dates become deliveries: once, for everyone who is due, whoever plans and however often."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from threading import Barrier

import pytest
from sqlalchemy import select

from digest.domain.edition import Policy
from digest.domain.schedule import parse_weekdays
from digest.steps import change_months
from digest.steps.plan_editions import Planned, plan_editions
from digest.store.tables import Delivery, Edition
from tests.steps.world import EN, ZH, World, utc

SEND = utc("2027-06-10T00:00")
LEAD = SEND - timedelta(minutes=10)
TENTH = date(2027, 6, 10)


def quiet(world: World) -> None:
    """Let yesterday's morning be planned and over."""
    world.plan(SEND - timedelta(days=1))


def editions(world: World) -> list[Edition]:
    with world.sessions() as session:
        return list(session.scalars(select(Edition).where(Edition.on >= TENTH).order_by(Edition.id)))


def test_nothing_is_planned_before_the_lead(world: World) -> None:
    world.reader()
    quiet(world)
    assert world.plan(LEAD - timedelta(seconds=1)).deliveries == 0


def test_the_lead_opens_the_morning_and_nothing_may_leave_before_the_instant(world: World) -> None:
    world.reader()
    quiet(world)
    planned = world.plan(LEAD)
    assert (planned.deliveries, len(planned.editions), planned.missed) == (1, 1, 0)
    batch = world.batches()[-1]
    assert (batch.not_before_at, batch.expires_at) == (SEND, SEND + timedelta(hours=4))


def test_planning_again_adds_nothing(world: World) -> None:
    world.reader()
    quiet(world)
    world.plan(LEAD)
    later = [world.plan(LEAD + timedelta(minutes=minutes)).deliveries for minutes in range(1, 240, 7)]
    assert sum(later) == 0
    assert [entry.on for entry in world.ledger()].count(TENTH) == 1


def test_the_close_at_the_instant_takes_in_whoever_joined_since_the_lead(world: World) -> None:
    world.reader("early@example.com")
    quiet(world)
    world.plan(LEAD)
    world.reader("late@example.com")
    assert world.plan(SEND - timedelta(seconds=1)).deliveries == 0
    assert world.plan(SEND).deliveries == 1
    assert [entry.email for entry in world.ledger() if entry.on == TENTH] == ["early@example.com", "late@example.com"]


def test_after_the_close_nobody_is_taken_in(world: World) -> None:
    world.reader("early@example.com")
    quiet(world)
    world.plan(SEND)
    world.reader("late@example.com")
    assert world.plan(SEND + timedelta(minutes=5)).deliveries == 0


def test_whoever_confirmed_after_the_instant_waits_for_tomorrow(world: World) -> None:
    world.join(SEND + timedelta(seconds=1))
    assert world.plan(SEND + timedelta(minutes=1)).deliveries == 0
    assert world.plan(SEND + timedelta(days=1)).deliveries == 1


def test_readers_are_grouped_by_language_and_topics(world: World) -> None:
    world.reader("a@example.com")
    world.reader("b@example.com")
    world.reader("c@example.com", language=ZH)
    world.reader("d@example.com", topics="chips,models")
    quiet(world)
    planned = world.plan(LEAD)
    assert (planned.deliveries, len(planned.editions)) == (4, 1)
    shared = [(brief.language, brief.topics) for brief in world.briefs() if brief.edition_id == editions(world)[0].id]
    assert sorted(shared) == [("en", ""), ("en", "chips,models"), ("zh", "")]


def test_zones_that_share_the_instant_and_the_date_share_the_edition(world: World) -> None:
    world.reader("a@example.com", "Asia/Shanghai")
    world.reader("b@example.com", "Asia/Singapore")
    world.reader("c@example.com", "Asia/Tokyo", at=time(9))
    quiet(world)
    assert world.plan(LEAD).deliveries == 3
    assert len(editions(world)) == 1


def test_one_instant_on_two_dates_makes_two_editions(world: World) -> None:
    world.reader("a@example.com", "Pacific/Pago_Pago")
    world.reader("b@example.com", "Pacific/Apia")
    send = utc("2027-06-09T19:00")
    world.plan(send - timedelta(days=1))
    assert len(world.plan(send).editions) == 2
    found = {(entry.email, entry.on) for entry in world.ledger() if entry.send_at == send}
    assert found == {("a@example.com", date(2027, 6, 9)), ("b@example.com", TENTH)}


def test_batches_are_cut_evenly_and_nobody_is_left_out(world: World) -> None:
    world.provider.batch_size = 4
    for number in range(10):
        world.reader(f"r{number}@example.com")
    quiet(world)
    world.plan(LEAD)
    per_batch = [entry.batch for entry in world.ledger() if entry.on == TENTH]
    sizes = sorted(per_batch.count(batch) for batch in set(per_batch))
    assert sizes == [2, 4, 4]
    assert len(per_batch) == 10


def test_only_the_active_are_planned(world: World) -> None:
    world.ask(SEND - timedelta(days=1), "pending@example.com")
    assert world.plan(LEAD).deliveries == 0


def test_a_weekday_that_is_not_wanted_gets_none(world: World) -> None:
    world.reader(weekdays=parse_weekdays("mon"))
    quiet(world)
    assert world.plan(SEND).deliveries == 0


def test_a_monday_reader_gets_the_week(world: World) -> None:
    world.reader(weekdays=parse_weekdays("mon"))
    monday = utc("2027-06-14T00:00")
    world.plan(monday - timedelta(days=7))
    world.plan(monday)
    edition = editions(world)[-1]
    assert edition.window_end_at - edition.window_start_at == timedelta(days=7)


def test_mornings_that_went_by_are_recorded_as_missed(world: World) -> None:
    world.reader()
    world.plan(utc("2027-06-07T00:00"))
    planned = world.plan(utc("2027-06-10T02:10"))
    assert (planned.missed, planned.deliveries) == (2, 1)
    assert world.states()[-3:] == [
        (date(2027, 6, 8), "skipped", "missed"),
        (date(2027, 6, 9), "skipped", "missed"),
        (TENTH, "planned", None),
    ]


def test_after_missed_mornings_the_window_reaches_back_over_them(world: World) -> None:
    world.reader()
    world.plan(utc("2027-06-07T00:00"))
    world.plan(utc("2027-06-10T02:10"))
    edition = editions(world)[-1]
    assert (edition.window_start_at, edition.window_end_at) == (utc("2027-06-06T23:50"), utc("2027-06-09T23:50"))


def test_a_missed_morning_is_nobodys_who_joined_after_it(world: World) -> None:
    world.reader("old@example.com")
    world.plan(utc("2027-06-07T00:00"))
    world.reader("new@example.com", since=utc("2027-06-09T12:00"))
    world.plan(utc("2027-06-10T02:10"))
    assert world.states("new@example.com") == [(TENTH, "planned", None)]


def test_the_morning_inside_the_grace_is_planned_and_past_it_missed(world: World) -> None:
    world.reader("a@example.com", "Asia/Shanghai")
    quiet(world)
    world.policy = Policy(grace=timedelta(hours=4))
    assert world.plan(SEND + timedelta(hours=3, minutes=59)).deliveries == 1
    world.reader("b@example.com", "Asia/Shanghai", at=time(8, 30), since=SEND - timedelta(hours=1))
    planned = world.plan(SEND + timedelta(hours=4, minutes=31))
    assert (planned.deliveries, planned.missed) == (0, 1)


def test_a_zone_the_data_does_not_know_is_named_and_the_others_go_on(world: World) -> None:
    world.reader("lost@example.com", "Mars/Olympus_Mons")
    world.reader("found@example.com")
    quiet(world)
    planned = world.plan(LEAD)
    assert (planned.deliveries, planned.unknown_zones) == (1, ["Mars/Olympus_Mons"])


def test_a_reader_with_a_window_of_their_own_shares_the_instant_but_not_the_brief(world: World) -> None:
    world.reader("many@example.com")
    quiet(world)
    world.own_window(world.reader("new@example.com"), SEND - timedelta(hours=3))
    world.plan(LEAD)
    found = {(edition.send_at, edition.window_start_at) for edition in editions(world)}
    assert found == {(SEND, LEAD - timedelta(days=1)), (SEND, SEND - timedelta(hours=3))}


def test_an_own_window_reaches_back_a_week_at_most(world: World) -> None:
    reader = world.reader()
    quiet(world)
    world.own_window(reader, utc("2027-05-01T00:00"))
    world.plan(LEAD)
    (edition,) = editions(world)
    assert edition.window_end_at - edition.window_start_at == timedelta(days=7)


@pytest.mark.parametrize("moment", [LEAD, SEND, SEND + timedelta(hours=1)])
def test_planners_at_the_same_moment_give_one_set(shared_world: World, moment: datetime) -> None:
    world = shared_world
    for number in range(40):
        zone, language = (("Asia/Shanghai", ZH), ("Asia/Singapore", EN))[number % 2]
        world.reader(f"r{number}@example.com", zone, language)
    quiet(world)
    start = Barrier(6)

    def plan() -> Planned:
        start.wait(10)
        return plan_editions(world.sessions, moment, world.policy, 7)

    with ThreadPoolExecutor(6) as pool:
        done = [future.result(30) for future in [pool.submit(plan) for _ in range(6)]]
    todays = [entry for entry in world.ledger() if entry.on == TENTH]
    assert sum(planned.deliveries for planned in done) == len(todays) == 40
    assert len({entry.email for entry in todays}) == 40
    assert len({entry.batch for entry in todays}) == len([b for b in world.batches() if b.not_before_at == SEND])


def test_a_spread_morning_leaves_after_its_instant_in_another_order_each_day(world: World) -> None:
    world.policy = replace(world.policy, spread=timedelta(minutes=20))
    world.provider.batch_size = 1
    for number in range(6):
        world.reader(f"reader{number}@example.com")
    orders = []
    for day in range(2):
        send = SEND + timedelta(days=day)
        world.story(send - timedelta(hours=1))
        world.ready(send)
        own = [one for one in world.batches() if one.expires_at == send + world.policy.grace]
        delays = [one.not_before_at - send for one in own]
        assert min(delays) >= timedelta(0)
        assert max(delays) < timedelta(minutes=20)
        assert max(delays) - min(delays) > timedelta(minutes=8)
        orders.append(sorted(range(6), key=lambda number, delays=delays: delays[number]))
    assert orders[0] != orders[1]


def test_a_month_that_cannot_be_made_now_holds_nobody_up_and_ends_nobody(
    shared_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another turn is at work on the deliveries; without their month the new ones go where all others go."""
    monkeypatch.setattr(change_months, "TRIES", 1)
    world = shared_world
    world.reader()
    with world.sessions.begin() as at_work:
        at_work.execute(select(Delivery.on)).all()
        assert world.plan(SEND).deliveries == 1
    assert [entry.on for entry in world.ledger()][-1] == TENTH
