"""Full texts from pages: read one visit at a time, by whoever is asked, and never at a story's cost."""

from datetime import timedelta

import pytest

from digest.domain.errors import PermanentError, TryAgainError
from digest.steps.collect_all import Shift
from digest.steps.keep_sources import change_source
from digest.steps.read_pages import read_all_pages, read_page, take_pages
from digest.store.tables import Story as Row
from tests.steps.newsroom import HOUR, NOW, Newsroom, story

LONG = "The whole of it, as the page has it."
MINUTE = timedelta(minutes=1)


@pytest.fixture
def reading(newsroom: Newsroom) -> Newsroom:
    """A source whose pages are read, with two stories on one host."""
    change_source(newsroom.sessions, newsroom.source, reads_pages=True)
    newsroom.web.stories = [story(1, body="A teaser."), story(2, body="A teaser.")]
    newsroom.pages.texts = {"https://news.example.com/1": LONG, "https://news.example.com/2": LONG}
    newsroom.spacing = 2 * MINUTE
    newsroom.collect()
    return newsroom


def due(reading: Newsroom) -> list[bool]:
    return [one.page_due_at is not None for one in reading.stories()]


def test_a_shift_reads_all_pages_and_waits_for_the_hosts_turn(reading: Newsroom) -> None:
    clock = [NOW]

    def pause(seconds: float) -> None:
        clock[0] += timedelta(seconds=seconds)

    came = read_all_pages(reading.sessions, reading.desk, Shift(lambda: clock[0], pause, HOUR))
    assert came == {"read": 2}
    assert [one.body for one in reading.stories()] == [LONG, LONG]
    assert clock[0] >= NOW + 2 * reading.spacing, "the feed was a visit too"


def test_a_shift_that_ends_leaves_the_rest_due(reading: Newsroom) -> None:
    clock = [NOW]

    def pause(seconds: float) -> None:
        clock[0] += timedelta(seconds=seconds)

    came = read_all_pages(reading.sessions, reading.desk, Shift(lambda: clock[0], pause, 3 * MINUTE))
    assert came == {"read": 1}
    assert due(reading) == [False, True]


def test_a_page_is_asked_for_once_and_again_when_nobody_came_to_read_it(reading: Newsroom) -> None:
    first, _ = reading.stories()
    assert take_pages(reading.sessions, NOW, 10) == [first.id], "one visit of a host at a time"
    assert first.id not in take_pages(reading.sessions, NOW, 10)
    assert take_pages(reading.sessions, NOW + 6 * MINUTE, 10) == [first.id]


def test_a_host_with_many_pages_keeps_no_other_waiting(reading: Newsroom) -> None:
    url = "https://other.example.com/3"
    reading.web.stories = [story(3, url=url, body="A teaser.")]
    reading.collect(NOW + HOUR)
    first, _, other = reading.stories()
    assert take_pages(reading.sessions, NOW + HOUR, 2) == [first.id, other.id]
    assert take_pages(reading.sessions, NOW + HOUR, 1) == [first.id + 1], "no more than asked for"


@pytest.mark.parametrize(
    ("page", "outcome", "asked_again"),
    [
        (PermanentError("robots.txt says no"), "refused", False),
        (TryAgainError("no answer"), "later", True),
        ("Short.", "nothing", False),
    ],
    ids=["refused", "no-answer", "less-than-the-feed-said"],
)
def test_a_page_that_gives_nothing_leaves_what_the_feed_said(
    reading: Newsroom, page: str | PermanentError | TryAgainError, outcome: str, *, asked_again: bool
) -> None:
    first, _ = reading.stories()
    reading.pages.texts[first.url] = page
    assert read_page(reading.sessions, reading.desk, first.id, NOW + HOUR) == outcome
    assert reading.stories()[0].body == "A teaser."
    assert due(reading)[0] is asked_again


def test_a_page_that_does_not_answer_for_six_hours_is_let_be(reading: Newsroom) -> None:
    first, _ = reading.stories()
    reading.pages.texts[first.url] = TryAgainError("no answer")
    assert read_page(reading.sessions, reading.desk, first.id, NOW + 6 * HOUR) == "later"
    assert due(reading)[0] is False


def test_a_story_that_an_editor_took_over_meanwhile_keeps_the_editors_words(reading: Newsroom) -> None:
    first, _ = reading.stories()
    with reading.sessions.begin() as session:
        session.get_one(Row, first.id).edited = True
    assert read_page(reading.sessions, reading.desk, first.id, NOW + HOUR) == "read"
    assert reading.stories()[0].body == "A teaser."


def test_a_page_read_twice_or_of_a_story_that_is_gone_is_passed_over(reading: Newsroom) -> None:
    first, _ = reading.stories()
    assert read_page(reading.sessions, reading.desk, first.id, NOW + HOUR) == "read"
    assert read_page(reading.sessions, reading.desk, first.id, NOW + 2 * HOUR) == "nothing"
    assert read_page(reading.sessions, reading.desk, 999, NOW + 2 * HOUR) == "nothing"


def test_a_page_that_ends_whoever_reads_it_is_not_asked_for_without_end(reading: Newsroom) -> None:
    # Whoever takes it never comes back, so that nothing is written down about it.
    taken = [take_pages(reading.sessions, NOW + number * 10 * MINUTE, 10) for number in range(100)]
    first, _ = reading.stories()
    asked = [number for number, ids in enumerate(taken) if ids]
    assert asked == list(range(37)), "for six hours"
    assert due(reading) == [False, False]
    assert first.body == "A teaser."
