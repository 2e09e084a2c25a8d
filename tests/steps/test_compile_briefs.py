"""A brief gets its words once, and its batches follow it."""

from datetime import timedelta

from digest.domain.brief import BriefState
from digest.domain.delivery import BatchState, DeliveryReason
from digest.steps.compile_briefs import MOST_ATTEMPTS, compile_brief
from digest.steps.plan_editions import plan_editions
from digest.store.planning import settle_batches
from digest.store.tables import Brief
from tests.steps.world import EN, ZH, World, utc

SEND = utc("2027-06-10T00:00")
LEAD = SEND - timedelta(minutes=10)


def planned(world: World) -> int:
    """One planned brief; returns its id."""
    world.plan(LEAD - timedelta(days=1))
    world.plan(LEAD)
    return world.briefs()[-1].id


def test_a_compiled_brief_sets_its_batches_free(world: World) -> None:
    world.reader()
    title = world.story(LEAD - timedelta(hours=1))
    brief_id = planned(world)
    assert compile_brief(world.sessions, world.press, brief_id, LEAD) is BriefState.READY
    with world.sessions() as session:
        brief = session.get_one(Brief, brief_id)
        assert title in brief.html
        assert title in brief.text
        assert brief.slots
        assert len(brief.story_ids) == 1
    assert world.batches()[-1].state is BatchState.READY


def test_the_window_takes_its_start_and_leaves_its_end(world: World) -> None:
    world.reader()
    first = world.story(LEAD - timedelta(days=1))
    world.story(LEAD - timedelta(days=1, microseconds=1))
    last = world.story(LEAD - timedelta(microseconds=1))
    world.story(LEAD)
    brief_id = planned(world)
    compile_brief(world.sessions, world.press, brief_id, LEAD)
    with world.sessions() as session:
        text = session.get_one(Brief, brief_id).text
    assert [f"Story {n}" in text for n in range(1, 5)] == [True, False, True, False]
    assert (first, last) == ("Story 1", "Story 3")


def test_an_empty_brief_skips_its_batches_as_nothing_new(world: World) -> None:
    world.reader()
    brief_id = planned(world)
    assert compile_brief(world.sessions, world.press, brief_id, LEAD) is BriefState.EMPTY
    batch = world.batches()[-1]
    assert (batch.state, batch.reason) == (BatchState.SKIPPED, DeliveryReason.NOTHING_NEW)


def test_stories_on_other_topics_or_in_the_other_language_only_make_no_brief(world: World) -> None:
    world.reader("chips@example.com", topics="chips")
    world.reader("zh@example.com", language=ZH)
    world.story(LEAD - timedelta(hours=1), topics=("models",), both=False)
    world.plan(LEAD - timedelta(days=1))
    world.plan(LEAD)
    world.compile(LEAD)
    assert [entry.reason for entry in world.ledger() if entry.send_at == SEND] == ["nothing_new", "nothing_new"]


def test_a_batch_planned_after_its_brief_was_compiled_is_ready_at_once(world: World) -> None:
    world.reader("early@example.com")
    world.story(LEAD - timedelta(hours=1))
    compile_brief(world.sessions, world.press, planned(world), LEAD)
    world.reader("late@example.com")
    plan_editions(world.sessions, SEND, world.policy, 10)
    assert world.batches()[-1].state is BatchState.READY
    assert len([brief for brief in world.briefs() if brief.state is BriefState.READY]) == 1


def test_a_batch_planned_while_its_brief_was_being_compiled_is_brought_along(world: World) -> None:
    world.reader("early@example.com")
    world.story(LEAD - timedelta(hours=1))
    brief_id = planned(world)
    with world.sessions.begin() as session:
        session.get_one(Brief, brief_id).state = BriefState.READY
        settle_batches(session)
    assert world.batches()[-1].state is BatchState.READY


def test_a_brief_that_ends_its_process_every_time_is_failed_after_the_last_try(world: World) -> None:
    """Its fifth attempt was counted before it died; the next look gives up."""
    world.reader()
    world.story(LEAD - timedelta(hours=1))
    brief_id = planned(world)
    with world.sessions.begin() as session:
        session.get_one(Brief, brief_id).attempts = MOST_ATTEMPTS
    assert compile_brief(world.sessions, world.press, brief_id, LEAD) is BriefState.FAILED
    batch = world.batches()[-1]
    assert (batch.state, batch.reason) == (BatchState.FAILED, DeliveryReason.NOT_COMPILED)


def test_every_attempt_is_counted_before_it_can_fail(world: World) -> None:
    world.reader()
    world.story(LEAD - timedelta(hours=1))
    brief_id = planned(world)
    compile_brief(world.sessions, world.press, brief_id, LEAD)
    with world.sessions() as session:
        assert session.get_one(Brief, brief_id).attempts == 1


def test_of_two_compilations_the_first_words_stay(world: World) -> None:
    world.reader()
    world.story(LEAD - timedelta(hours=1))
    brief_id = planned(world)
    compile_brief(world.sessions, world.press, brief_id, LEAD)
    with world.sessions() as session:
        slots = session.get_one(Brief, brief_id).slots
    world.story(LEAD - timedelta(hours=2))
    assert compile_brief(world.sessions, world.press, brief_id, LEAD) is BriefState.READY
    with world.sessions() as session:
        assert session.get_one(Brief, brief_id).slots == slots


def test_a_brief_that_is_gone_counts_as_failed(world: World) -> None:
    assert compile_brief(world.sessions, world.press, 999, LEAD) is BriefState.FAILED


def test_each_language_gets_its_own_words(world: World) -> None:
    world.reader("en@example.com", language=EN)
    world.reader("zh@example.com", language=ZH)
    world.story(LEAD - timedelta(hours=1))
    world.plan(LEAD - timedelta(days=1))
    world.plan(LEAD)
    world.compile(LEAD)
    ready = [brief for brief in world.briefs() if brief.state is BriefState.READY]
    assert len({brief.subject for brief in ready}) == 2
