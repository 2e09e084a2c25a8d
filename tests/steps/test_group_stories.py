"""Reports of one event are one story: for the lists, the score, the briefs and the editors."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

from digest.domain.brief import Candidate
from digest.domain.language import Language
from digest.domain.story import Story, StoryText
from digest.sources.matching import TitleMatcher
from digest.steps.edit_stories import place_story, split_story
from digest.steps.keep_sources import find_source, remove_source
from digest.steps.read_archive import front_stories
from digest.steps.read_briefs import web_story
from digest.store.collecting import save_stories
from digest.store.sources import source_named
from digest.store.stories import candidates, listed
from digest.store.tables import Story as Row
from digest.store.writing import assign_new, take_assignments
from tests.steps.world import EN, ZH, World, utc

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MORNING = utc("2027-06-10T00:00")
SEEN = MORNING - 10 * HOUR

BUN = "Anthropic acquires Bun as Claude Code reaches $1B milestone"
BUN_ELSEWHERE = "Anthropic buys JavaScript runtime maker Bun after Claude Code hits $1 billion run rate"
BUN_ZH = "Anthropic 收购 Bun，Claude Code 年化收入达 10 亿美元"
OTHER = "Harbour reopens after the storm"

Report = Callable[..., int]


@pytest.fixture
def report(world: World) -> Report:
    """Stores a title as its source's feed brings it; returns the story's id."""

    def store(source: str, title: str, language: Language = EN, hours: float = 0) -> int:
        at = SEEN + hours * HOUR
        text = StoryText(title, quick_answer=f"{title}.")
        story = Story(f"https://{source}.example.com/{hours}", source, language, at, {language: text})
        with world.sessions.begin() as session:
            save_stories(session, source_named(session, source, at), [story], at, TitleMatcher())
            return session.scalars(select(Row.id).order_by(Row.id.desc()).limit(1)).one()

    return store


def chosen(world: World, start: datetime = SEEN - DAY, end: datetime = MORNING) -> list[Candidate]:
    with world.sessions() as session:
        return sorted(candidates(session, start, end), key=lambda story: story.id)


def titles_sent(world: World, address: str) -> list[list[str]]:
    """Which of the titles each brief to that reader has, oldest first."""
    known = (BUN, BUN_ELSEWHERE, BUN_ZH, OTHER)
    texts = [" ".join(sent.message.text.split()) for sent in world.provider.briefs(address)]
    return [[title for title in known if title in text] for text in texts]


def test_three_reports_are_one_story_that_names_the_others(world: World, report: Report) -> None:
    first = report("Anthropic", BUN)
    second, third = report("Wire", BUN_ELSEWHERE, hours=1), report("日报", BUN_ZH, ZH, hours=2)
    alone = report("Harbour Post", OTHER, hours=3)
    grouped, single = chosen(world)
    assert (grouped.id, single.id) == (first, alone)
    assert [(r.id, r.source, r.title) for r in grouped.reports] == [
        (second, "Wire", BUN_ELSEWHERE),
        (third, "日报", BUN_ZH),
    ]
    assert (grouped.signal.others, single.signal.others, single.reports) == (2, 0, ())
    with world.sessions() as session:
        assert [story.id for story in listed(session, MORNING, 10)] == [alone, first]


def test_a_second_report_by_the_same_source_corroborates_nothing(world: World, report: Report) -> None:
    report("Wire", BUN)
    report("Wire", BUN, hours=1)
    (story,) = chosen(world)
    assert (len(story.reports), story.signal.others) == (1, 0)


def test_a_chinese_reader_gets_the_event_in_the_words_of_the_chinese_source(world: World, report: Report) -> None:
    report("Anthropic", BUN)
    report("日报", BUN_ZH, ZH, hours=1)
    found = front_stories(world.sessions, ZH, MORNING, 10)
    assert [(story.text.title, story.source, story.also_by) for story in found] == [(BUN_ZH, "日报", ("Anthropic",))]
    page = web_story(world.sessions, found[0].slug, ZH, MORNING)
    assert page is not None
    assert (page.told.source, [r.source for r in page.also]) == ("日报", ["Anthropic"])
    english = web_story(world.sessions, found[0].slug, EN, MORNING)
    assert english is not None
    assert (english.told.source, [r.title for r in english.also]) == ("Anthropic", [BUN_ZH])


def test_no_reader_gets_an_event_twice_and_each_gets_it_in_their_language(world: World, report: Report) -> None:
    world.reader("en@example.com", language=EN)
    world.reader("zh@example.com", language=ZH)
    world.reader("both@example.com", language=ZH, both=True)
    report("Anthropic", BUN)
    report("Harbour Post", OTHER, hours=1)
    world.turn(MORNING)
    for source, title, language in (("Wire", BUN_ELSEWHERE, EN), ("日报", BUN_ZH, ZH), ("晚报", BUN_ZH, ZH)):
        report(source, title, language, hours=12)
    world.turn(MORNING + DAY)
    assert titles_sent(world, "en@example.com") == [[BUN, OTHER]]
    assert titles_sent(world, "zh@example.com") == [[BUN_ZH]]
    assert titles_sent(world, "both@example.com") == [[BUN, OTHER]]


def test_a_hidden_story_takes_its_event_with_it_and_a_hidden_report_is_not_named(world: World, report: Report) -> None:
    first, second = report("Anthropic", BUN), report("日报", BUN_ZH, ZH, hours=1)
    place_story(world.sessions, second, hidden=True)
    (story,) = chosen(world)
    assert (set(story.texts), story.reports) == ({EN}, ())
    place_story(world.sessions, second, hidden=False)
    place_story(world.sessions, first, hidden=True)
    assert chosen(world) == chosen(world, SEEN + HOUR / 2) == []


def test_an_editor_takes_a_report_of_another_event_out(world: World, report: Report) -> None:
    first, second, third = (report(source, BUN, hours=n) for n, source in enumerate(("One", "Two", "Three")))
    assert split_story(world.sessions, first)
    assert [(story.id, [r.id for r in story.reports]) for story in chosen(world)] == [(first, []), (second, [third])]
    assert split_story(world.sessions, third)
    assert not split_story(world.sessions, third)
    assert [story.reports for story in chosen(world)] == [(), (), ()]


def test_a_source_that_goes_leaves_its_groups_to_the_next(world: World, report: Report) -> None:
    report("One", BUN)
    second, third = report("Two", BUN, hours=1), report("Three", BUN, hours=2)
    remove_source(world.sessions, find_source(world.sessions, "One").id)
    assert [(story.id, [r.id for r in story.reports]) for story in chosen(world)] == [(second, [third])]


def test_only_the_leader_is_written_at_the_models_price(world: World, report: Report) -> None:
    first = report("One", BUN)
    report("Two", BUN, hours=1)
    with world.sessions.begin() as session:
        session.execute(update(Row).values(written_at=SEEN))
        assign_new(session, MORNING)
        assert take_assignments(session, MORNING, HOUR, 10) == [first]
