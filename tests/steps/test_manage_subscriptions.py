"""The whole life of a subscription; everything in it is safe to repeat."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, time, timedelta
from threading import Barrier

import pytest

from digest.domain.language import LanguageChoice
from digest.domain.schedule import EVERY_DAY, Cadence
from digest.domain.subscriber import EndReason, SubscriberState
from digest.steps.manage_subscriptions import (
    change_wishes,
    come_back,
    look_up_confirmation,
    pause,
    resume,
    send_preferences_link,
    unsubscribe,
    unsubscribe_address,
)
from digest.steps.read_subscribers import find_reader
from tests.steps.world import EN, ZH, World, utc

NOW = utc("2027-06-09T10:00")
SEND = utc("2027-06-10T00:00")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
ENGLISH, CHINESE = LanguageChoice.ENGLISH, LanguageChoice.CHINESE
SHANGHAI = Cadence("Asia/Shanghai")


def planned(world: World) -> int:
    reader = world.reader()
    world.plan(SEND - DAY)
    world.story(SEND - HOUR)
    world.ready(SEND)
    return reader


def waiting(world: World) -> list[date]:
    return [on for on, status, _ in world.states() if status == "ready"]


def sent_letters(world: World) -> list[str]:
    """The kinds of the letters that went out."""
    return world.provider.letters()


def test_looking_at_the_confirm_page_changes_nothing(world: World) -> None:
    consent = world.ask(NOW)
    assert look_up_confirmation(world.sessions, consent, NOW).status == "waiting"
    assert world.subscriber(1).state is SubscriberState.PENDING
    assert world.letters() == ["confirm"]


def test_confirming_activates_and_owes_a_welcome_once(world: World) -> None:
    consent = world.ask(NOW)
    assert [world.confirm(consent, NOW + n * MINUTE).status for n in range(3)] == ["confirmed", "already", "already"]
    assert world.letters() == ["confirm", "welcome"]
    row = world.subscriber(1)
    assert (row.state, row.active_from_at) == (SubscriberState.ACTIVE, NOW)


def test_an_unknown_consent_is_gone(world: World) -> None:
    assert world.confirm(999, NOW).status == "gone"


def test_the_wishes_of_the_request_that_is_confirmed_count(world: World) -> None:
    first = world.ask(NOW, language=EN)
    world.ask(NOW + MINUTE, zone="Europe/Berlin", language=ZH)
    found = world.confirm(first, NOW + HOUR).reader
    assert found is not None
    assert (found.language, found.cadence.timezone) == (EN, "Asia/Shanghai")


def test_leaving_is_once_however_often_it_is_said(world: World) -> None:
    reader = world.join(NOW)
    first = unsubscribe(world.sessions, reader, NOW + HOUR)
    again = [unsubscribe(world.sessions, reader, NOW + n * DAY)[1] for n in range(1, 4)]
    assert (len(first[1]), again) == (1, [[], [], []])
    row = world.subscriber(reader)
    assert (row.state, row.reason, row.changed_at) == (
        SubscriberState.ENDED,
        EndReason.UNSUBSCRIBED,
        NOW + HOUR,
    )
    assert world.letters() == ["confirm", "welcome", "goodbye"]


def test_leaving_when_the_row_is_gone_is_no_error(world: World) -> None:
    assert unsubscribe(world.sessions, 999, NOW) == (None, [])
    assert unsubscribe_address(world.sessions, "nobody@example.com", NOW) is None


def test_the_operator_may_end_a_subscription_by_address(world: World) -> None:
    world.join(NOW)
    found = unsubscribe_address(world.sessions, "READER@EXAMPLE.COM", NOW)
    assert found is not None
    assert found.state is SubscriberState.ENDED


def test_an_old_confirmation_does_not_undo_leaving(world: World) -> None:
    consent = world.ask(NOW)
    world.confirm(consent, NOW)
    unsubscribe(world.sessions, 1, NOW + HOUR)
    assert world.confirm(consent, NOW + 2 * HOUR).status == "gone"
    assert world.subscriber(1).state is SubscriberState.ENDED


@pytest.mark.parametrize("reason", [EndReason.BOUNCED, EndReason.COMPLAINED])
def test_whoever_bounced_or_complained_cannot_come_back_by_an_open_link(world: World, reason: EndReason) -> None:
    consent = world.ask(NOW)
    unsubscribe(world.sessions, 1, NOW, reason=reason)
    assert world.confirm(consent, NOW + DAY).status == "gone"
    assert come_back(world.sessions, 1, NOW + DAY) is not None
    assert world.subscriber(1).state is SubscriberState.ENDED


def test_an_ending_that_is_not_a_farewell_writes_no_goodbye(world: World) -> None:
    reader = world.join(NOW)
    assert unsubscribe(world.sessions, reader, NOW, reason=EndReason.BOUNCED)[1] == []


def test_coming_back_goes_on_where_the_last_brief_ended(world: World) -> None:
    reader = world.reader()
    world.story(SEND - HOUR)
    world.turn(SEND)
    unsubscribe(world.sessions, reader, SEND + HOUR)
    missed = world.story(SEND + 2 * HOUR)
    come_back(world.sessions, reader, SEND + 2 * DAY + HOUR)
    world.turn(SEND + 3 * DAY)
    assert [on.day for _, on in world.sent()] == [10, 13]
    assert missed in world.provider.briefs()[-1].message.text


def test_without_a_yes_there_is_nothing_to_undo(world: World) -> None:
    world.ask(NOW)
    unsubscribe(world.sessions, 1, NOW)
    come_back(world.sessions, 1, NOW)
    assert world.subscriber(1).state is SubscriberState.ENDED


def test_undoing_at_once_keeps_to_one_brief_a_date(world: World) -> None:
    reader = world.reader()
    world.story(SEND - HOUR)
    world.turn(SEND)
    unsubscribe(world.sessions, reader, SEND + MINUTE)
    come_back(world.sessions, reader, SEND + 2 * MINUTE)
    world.turns(SEND + 3 * MINUTE, SEND + 2 * HOUR)
    assert len(world.sent()) == 1


def test_a_change_withdraws_a_brief_that_may_not_leave_yet(world: World) -> None:
    reader = planned(world)
    change_wishes(world.sessions, reader, CHINESE, SHANGHAI, "", SEND - MINUTE)
    assert waiting(world) == []
    world.turn(SEND)
    assert [(t.message.language, t.at) for t in world.provider.briefs()] == [(ZH, SEND)]


def test_a_change_leaves_a_brief_that_may_already_leave(world: World) -> None:
    reader = planned(world)
    change_wishes(world.sessions, reader, CHINESE, SHANGHAI, "", SEND)
    world.turn(SEND)
    assert [t.message.language for t in world.provider.briefs()] == [EN]


@pytest.mark.parametrize("hour", [7, 18])
@pytest.mark.parametrize("read_before", [True, False])
def test_each_story_comes_once_when_the_wishes_changed_while_the_brief_was_leaving(
    world: World, hour: int, *, read_before: bool
) -> None:
    """The old brief goes out after the change; the next one begins where it ended."""
    reader = world.reader()
    if read_before:
        world.story(SEND - DAY - HOUR)
    world.turn(SEND - DAY)
    first = world.story(SEND - HOUR)
    world.ready(SEND)
    change_wishes(world.sessions, reader, ENGLISH, Cadence("Asia/Shanghai", time(hour)), "", SEND + MINUTE)
    world.turn(SEND + 2 * MINUTE)
    second = world.story(SEND + HOUR)
    world.turns(SEND + 2 * HOUR, SEND + 3 * DAY, HOUR)
    texts = [t.message.text for t in world.provider.briefs()]
    assert [sum(title in text for text in texts) for title in (first, second)] == [1, 1]


def test_saying_the_same_again_changes_nothing(world: World) -> None:
    reader = planned(world)
    change_wishes(world.sessions, reader, ENGLISH, SHANGHAI, "", SEND - MINUTE)
    assert waiting(world) == [date(2027, 6, 10)]
    assert world.subscriber(reader).window_start_at is None


def test_after_a_change_of_time_no_story_is_lost(world: World) -> None:
    reader = world.reader()
    world.story(SEND - HOUR)
    world.turn(SEND)
    between = world.story(SEND + HOUR)
    change_wishes(world.sessions, reader, ENGLISH, Cadence("Asia/Shanghai", time(18)), "", SEND + 2 * HOUR)
    world.turns(SEND + 3 * HOUR, SEND + 2 * DAY, HOUR)
    texts = [t.message.text for t in world.provider.briefs()]
    assert [between in text for text in texts] == [False, True]
    assert [on.day for _, on in world.sent()] == [10, 11]


def test_a_change_of_zone_at_midday_never_gives_two_briefs_for_one_date(world: World) -> None:
    reader = world.reader(zone="Pacific/Auckland")
    world.news(SEND - 2 * DAY, SEND + 4 * DAY)
    world.turn(utc("2027-06-09T20:00"))
    change_wishes(world.sessions, reader, ENGLISH, Cadence("America/Los_Angeles"), "", utc("2027-06-09T22:00"))
    world.turns(utc("2027-06-09T23:00"), utc("2027-06-12T20:00"), HOUR)
    dates = [on.day for _, on in world.sent()]
    assert dates == sorted(set(dates))


def test_a_pause_holds_until_its_date_and_nothing_is_lost(world: World) -> None:
    reader = world.reader()
    world.story(SEND - HOUR)
    world.turn(SEND)
    pause(world.sessions, reader, date(2027, 6, 13), SEND + HOUR)
    during = world.story(SEND + DAY)
    world.turns(SEND + 2 * HOUR, SEND + 3 * DAY, 2 * HOUR)
    assert [on.day for _, on in world.sent()] == [10, 13]
    assert during in world.provider.briefs()[-1].message.text
    assert world.subscriber(reader).paused_until_on is None


def test_a_pause_can_be_ended_at_once_and_only_a_pause(world: World) -> None:
    reader = world.reader()
    pause(world.sessions, reader, date(2027, 7, 1), NOW)
    found = resume(world.sessions, reader, NOW + HOUR)
    assert found is not None
    assert (found.state, found.paused_until_on) == (SubscriberState.ACTIVE, None)
    unsubscribe(world.sessions, reader, NOW + 2 * HOUR)
    resume(world.sessions, reader, NOW + 3 * HOUR)
    pause(world.sessions, reader, date(2027, 7, 1), NOW + 3 * HOUR)
    assert world.subscriber(reader).state is SubscriberState.ENDED


def test_a_pause_can_be_moved(world: World) -> None:
    reader = world.reader()
    pause(world.sessions, reader, date(2027, 7, 1), NOW)
    pause(world.sessions, reader, date(2027, 8, 1), NOW)
    assert world.subscriber(reader).paused_until_on == date(2027, 8, 1)


def test_nothing_can_be_changed_for_nobody(world: World) -> None:
    assert change_wishes(world.sessions, 999, ENGLISH, SHANGHAI, "", NOW) is None
    assert pause(world.sessions, 999, date(2027, 7, 1), NOW) is None
    assert find_reader(world.sessions, 999, NOW) is None


def test_a_reader_whose_zone_is_unknown_is_shown_without_a_next_send(world: World) -> None:
    reader = world.reader(zone="Mars/Olympus_Mons")
    found = find_reader(world.sessions, reader, NOW)
    assert found is not None
    assert found.next_send is None


def test_two_clicks_at_the_same_moment_confirm_once(shared_world: World) -> None:
    world = shared_world
    consent = world.ask(NOW)
    start = Barrier(4)

    def click() -> str:
        start.wait(10)
        return world.confirm(consent, NOW + MINUTE).status

    with ThreadPoolExecutor(4) as pool:
        done = sorted(future.result(30) for future in [pool.submit(click) for _ in range(4)])
    assert done == ["already", "already", "already", "confirmed"]
    assert world.letters() == ["confirm", "welcome"]


def test_a_pause_keeps_a_window_that_was_open(world: World) -> None:
    reader = world.join(NOW)
    start = world.subscriber(reader).window_start_at
    pause(world.sessions, reader, date(2027, 6, 12), NOW + HOUR)
    assert world.subscriber(reader).window_start_at == start


def test_a_pause_and_its_early_end_are_told_once_a_day_whatever_is_pressed(world: World) -> None:
    """The page opens from a forwarded brief, too."""
    reader = world.reader()
    for day in range(20, 30):
        pause(world.sessions, reader, date(2027, 6, day), NOW)
        world.turn(NOW)
    assert sent_letters(world) == ["paused"]
    for _ in range(3):
        resume(world.sessions, reader, NOW + HOUR)
        world.turn(NOW + HOUR)
        pause(world.sessions, reader, date(2027, 7, 1), NOW + HOUR)
    assert sent_letters(world) == ["paused", "back"]
    pause(world.sessions, reader, date(2027, 8, 1), NOW + timedelta(days=2))
    pause(world.sessions, reader, date(2027, 8, 1), NOW + timedelta(days=4))
    world.turn(NOW + timedelta(days=4))
    assert sent_letters(world) == ["paused", "back", "paused"]


def test_the_end_of_a_pause_is_told_also_to_who_changed_their_wishes_meanwhile(world: World) -> None:
    reader = world.reader()
    pause(world.sessions, reader, date(2027, 7, 1), NOW)
    change_wishes(world.sessions, reader, ENGLISH, Cadence("Europe/Berlin"), "", NOW + HOUR)
    world.turn(NOW + HOUR)
    resume(world.sessions, reader, NOW + 2 * HOUR)
    world.turn(NOW + 2 * HOUR)
    assert sent_letters(world) == ["paused", "back"]


@pytest.mark.parametrize("weekdays", [EVERY_DAY, 0b1000], ids=["daily", "on Thursdays"])
def test_skipping_the_next_brief_and_a_pause_that_runs_out_send_no_letter(world: World, weekdays: int) -> None:
    reader = world.reader(weekdays=weekdays)
    for hours in (0, 2):
        pause(world.sessions, reader, date(2027, 6, 11), NOW + hours * HOUR)
        resume(world.sessions, reader, NOW + (hours + 1) * HOUR)
    pause(world.sessions, reader, date(2027, 6, 11), NOW + 4 * HOUR)
    world.turn(utc("2027-06-11T00:00"))
    assert world.subscriber(reader).state is SubscriberState.ACTIVE
    assert sent_letters(world) == []


def test_a_letter_on_a_pause_that_is_over_meanwhile_is_not_sent(world: World) -> None:
    reader = world.reader()
    pause(world.sessions, reader, date(2027, 7, 1), NOW)
    resume(world.sessions, reader, NOW + HOUR)
    world.turn(NOW + HOUR)
    assert sent_letters(world) == ["back"]


def test_the_link_to_the_settings_goes_to_the_owner_of_the_address_and_to_nobody_who_left(world: World) -> None:
    reader = world.reader("Reader@example.com")
    assert send_preferences_link(world.sessions, "reader@EXAMPLE.com", NOW) is not None
    world.turn(NOW)
    (told,) = world.provider.taken
    assert (told.address, told.message.kind) == ("Reader@example.com", "preferences_link")
    assert world.press.links.preferences(reader) in told.message.text
    unsubscribe(world.sessions, reader, NOW)
    assert send_preferences_link(world.sessions, "reader@example.com", NOW) is None
    assert send_preferences_link(world.sessions, "nobody@example.com", NOW) is None
