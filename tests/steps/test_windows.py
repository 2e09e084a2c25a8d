"""Whatever a reader changes and whatever breaks: no story is lost between two briefs, and none comes twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from digest.domain.language import Language
from digest.domain.schedule import EVERY_DAY, Cadence, sends_between
from digest.domain.subscriber import ALL_TOPICS
from digest.steps.compile_briefs import Press
from digest.steps.manage_subscriptions import change_wishes, pause, resume
from digest.store.database import open_engine, open_sessions
from digest.store.tables import Brief, Table
from tests.steps.world import EN, World, utc

BEGIN = utc("2027-10-25T00:30")
"""A week that holds the end of summer time in Europe and, a week later, in America."""
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
REACH = timedelta(days=3)
"""How far back a brief must reach in any case."""
ADDRESSES = ("one@example.com", "two@example.com")
ZONES = (
    "Asia/Shanghai",
    "Europe/Berlin",
    "America/New_York",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "Asia/Kathmandu",
)


@dataclass(frozen=True)
class Published:
    """A story as the test knows it."""

    at: datetime
    topic: str
    languages: frozenset[Language]

    def fits(self, brief: Brief) -> bool:
        """Whether a reader of this brief's language and topics wants it."""
        return brief.language in self.languages and brief.topics in {ALL_TOPICS, self.topic}


@dataclass
class Town:
    """Two readers, the clock, and what was published."""

    world: World
    now: datetime = BEGIN
    asleep: bool = False
    wishes: dict[int, tuple[Language, Cadence, str]] = field(default_factory=dict)
    published: dict[str, Published] = field(default_factory=dict)

    def settle(self) -> None:
        for address in ADDRESSES:
            reader = self.world.reader(address, since=BEGIN - 30 * DAY)
            self.wishes[reader] = (EN, Cadence("Asia/Shanghai"), ALL_TOPICS)
        self.world.turn(self.now)

    def wait(self, stretch: timedelta) -> None:
        """Let time pass, with a turn at every lead and instant unless the scheduler sleeps."""
        end = self.now + stretch
        moments = {end}
        for _, cadence, _ in self.wishes.values():
            for send in sends_between(cadence, self.now, end):
                moments |= {max(self.now, send.at - self.world.policy.lead), send.at}
        for self.now in sorted(moments):
            if not self.asleep:
                self.world.turn(self.now)

    def publish(self, topic: str, language: Language | None) -> None:
        title = f"Item {len(self.published):03}."
        self.world.story(self.now, title, topics=(topic,), language=language or EN, both=language is None)
        languages = frozenset(Language) if language is None else frozenset({language})
        self.published[title] = Published(self.now, topic, languages)

    def busy(self, is_busy: bool) -> None:  # noqa: FBT001 - drawn as one of a tuple
        self.world.provider.busy = set(ADDRESSES) if is_busy else set()

    def sleep(self, is_asleep: bool) -> None:  # noqa: FBT001 - drawn as one of a tuple
        self.asleep = is_asleep

    def pause(self, reader: int, days: int) -> None:
        pause(self.world.sessions, reader, self.now.date() + days * DAY, self.now)

    def resume(self, reader: int) -> None:
        resume(self.world.sessions, reader, self.now)

    def change(self, reader: int, name: str, value: Any) -> None:  # noqa: ANN401 - a zone, a time, weekdays
        language, cadence, topics = self.wishes[reader]
        self.wish(reader, language, replace(cadence, **{name: value}), topics)

    def read_in(self, reader: int, language: Language) -> None:
        self.wish(reader, language, *self.wishes[reader][1:])

    def read_about(self, reader: int, topics: str) -> None:
        self.wish(reader, *self.wishes[reader][:2], topics)

    def wish(self, reader: int, language: Language, cadence: Cadence, topics: str) -> None:
        self.wishes[reader] = (language, cadence, topics)
        change_wishes(self.world.sessions, reader, language, cadence, topics, self.now)

    def briefs(self, address: str) -> list[tuple[Brief, str]]:
        """What a reader got, in order: the brief and its text."""
        taken = [
            (int(t.message.key.removeprefix("brief-")), t.message.text) for t in self.world.provider.briefs(address)
        ]
        with self.world.sessions() as session:
            rows = session.scalars(select(Brief).options(joinedload(Brief.edition)))
            found = {brief.id: brief for brief in rows}
        return [(found[brief], text) for brief, text in taken]


reader = st.sampled_from((1, 2))
settable = st.one_of(
    st.tuples(st.just("timezone"), st.sampled_from(ZONES)),
    st.tuples(st.just("at"), st.sampled_from((time(8), time(0), time(23, 45), time(2, 30)))),
    st.tuples(st.just("weekdays"), st.sampled_from((EVERY_DAY, 0b001_1111, 0b000_0101, 0b101_0000))),
)
publishing = st.tuples(
    st.just(Town.publish), st.sampled_from(("chips", "models")), st.sampled_from((None, None, *Language))
)
actions = st.one_of(
    publishing,
    publishing,
    st.builds(lambda of, what: (Town.change, of, *what), reader, settable),
    st.tuples(st.just(Town.read_in), reader, st.sampled_from(Language)),
    st.tuples(st.just(Town.read_about), reader, st.sampled_from((ALL_TOPICS, "chips", "models"))),
    st.tuples(st.just(Town.pause), reader, st.integers(1, 4)),
    st.tuples(st.just(Town.resume), reader),
    st.tuples(st.just(Town.busy), st.booleans()),
    st.tuples(st.just(Town.sleep), st.booleans()),
)
waits = st.sampled_from((MINUTE, 9 * MINUTE, HOUR, 5 * HOUR, 11 * HOUR, 23 * HOUR, 25 * HOUR))
weeks = st.lists(st.tuples(waits, actions), min_size=6, max_size=14)


@contextmanager
def town(press: Press) -> Iterator[Town]:
    engine = open_engine("sqlite:///:memory:")
    Table.metadata.create_all(engine)
    try:
        found = Town(World(open_sessions(engine), press))
        found.settle()
        yield found
    finally:
        engine.dispose()


@given(weeks)
@settings(max_examples=settings.default.max_examples // 3)
def test_no_story_is_lost_between_two_briefs_and_none_comes_twice(press: Press, week: list[Any]) -> None:
    with town(press) as state:
        for stretch, (act, *arguments) in week:
            state.wait(stretch)
            act(state, *arguments)
        state.asleep = False
        state.busy(is_busy=False)
        for number in state.wishes:
            state.resume(number)
        for _ in range(4):
            for topic in ("chips", "models"):
                state.publish(topic, None)
            state.wait(DAY)
        for address in ADDRESSES:
            check(state, address)


def check(state: Town, address: str) -> None:
    """Each story between the ends of two briefs is in the later one alone, unless it is too old for it or unwanted."""
    dates = [on for _, on in state.world.sent(address)]
    assert len(dates) == len(set(dates))
    briefs = state.briefs(address)
    for title, story in state.published.items():
        found = [number for number, (_, text) in enumerate(briefs) if title in text]
        assert len(found) <= 1, (title, story, found)
        later = [number for number, (brief, _) in enumerate(briefs) if story.at < brief.edition.window_end_at][:1]
        if later and story.fits(briefs[later[0]][0]) and briefs[later[0]][0].edition.window_end_at - story.at <= REACH:
            assert found == later, (title, story, found, later)
