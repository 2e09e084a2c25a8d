"""The numbers: they are the ledger's, whichever process is asked, and a scrape reads no big table."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, event

from digest.bootstrap import build
from digest.domain.event import EventKind, ProviderEvent
from digest.domain.subscriber import SubscriberState
from digest.health.now import snapshot
from digest.providers.counted import CountedProvider
from digest.settings import Settings
from digest.steps.count_answers import counting_in
from digest.steps.count_mornings import count_mornings
from digest.steps.record_events import record_events
from digest.steps.record_posts import receive_post, record_post
from digest.store.database import open_engine, open_sessions
from digest.store.figures import mornings_between
from digest.store.tables import Subscriber
from tests.databases import Stock
from tests.health.conftest import KEY, House
from tests.servers import with_database
from tests.steps.recording import RecordingProvider
from tests.steps.world import utc

SEND_AT = utc("2027-06-10T00:00")


@pytest.fixture(scope="module")
def house(postgres_stock: Stock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """08:00 in Tokyo and then in Shanghai: one reader is refused, one lost, one on a pause since the planning."""
    name = postgres_stock.take()
    url = with_database(postgres_stock.server, name)
    engine = open_engine(url)
    carrier = RecordingProvider(refuses={"r1@example.com"}, loses={"r2@example.com"}, batch_size=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("metrics"))
        counted = CountedProvider(carrier, counting_in(open_sessions(engine)))
        house = House(build(settings(url), counted), SEND_AT)
        run_morning(house)
        yield house
    house.application.close()
    engine.dispose()
    postgres_stock.give_back(name)


def settings(url: str) -> Settings:
    return Settings(_env_file=None, database_url=url, base_url="https://brief.example.com", secret_keys=[KEY])


def run_morning(house: House) -> None:
    house.world.story(SEND_AT - timedelta(hours=3))
    readers = [house.world.reader(f"r{number}@example.com") for number in range(7)]
    for number in range(2):
        house.world.reader(f"t{number}@example.com", "Asia/Tokyo")
    sessions = house.application.sessions
    for at in (timedelta(minutes=-70), timedelta(minutes=-60, seconds=20), timedelta(minutes=-10)):
        house.now = SEND_AT + at
        house.turn()
    with sessions.begin() as session:
        session.get_one(Subscriber, readers[6]).state = SubscriberState.PAUSED
    house.now = SEND_AT + timedelta(seconds=20)
    house.turn()
    facts = [(readers[0], EventKind.DELIVERED), (readers[3], EventKind.DELIVERED), (readers[4], EventKind.BOUNCED)]
    key = f"-{SEND_AT:%Y%m%d}"
    record_events(
        sessions,
        [ProviderEvent("sendgrid", f"e{one}", kind, house.now, recipient_key=f"{one}{key}") for one, kind in facts],
        house.now,
    )
    count_mornings(sessions, house.application.settings.policy, house.now)


@pytest.fixture
def morning(house: House) -> House:
    house.now = SEND_AT + timedelta(seconds=20)
    return house


def test_the_counts_of_a_morning_are_the_ledgers_by_zone_and_reason(morning: House) -> None:
    with morning.application.sessions() as session:
        tokyo, shanghai = mornings_between(session, SEND_AT - timedelta(hours=2), SEND_AT + timedelta(hours=1))
    assert (tokyo.zones.keys(), shanghai.zones.keys()) == ({"Asia/Tokyo"}, {"Asia/Shanghai"})
    assert dict(shanghai.total.status) == {
        "sent": 4,
        "failed:refused": 1,
        "unknown:answer_lost": 1,
        "skipped:paused": 1,
    }
    assert dict(shanghai.total.events) == {"delivered": 2, "bounced": 1, "soft_bounced": 1}
    assert (dict(tokyo.total.late), tokyo.total.late_seconds) == ({"30": 2}, 40.0)
    assert (tokyo.total.due, shanghai.total.due) == (2, 7)


def test_every_process_tells_the_same_and_the_right_numbers(
    morning: House,
) -> None:
    told = morning.metrics()
    assert told["digest_briefs{reason=,status=sent}"] == 6
    assert told["digest_briefs{reason=refused,status=failed}"] == 1
    assert told["digest_briefs{reason=answer_lost,status=unknown}"] == 1
    assert told["digest_open_batches{state=unknown}"] == 1
    assert told["digest_reported{kind=delivered}"] == 2
    assert told["digest_hand_overs_total{outcome=accepted,provider=recording}"] == 6
    assert told["digest_hand_overs_total{outcome=unknown,provider=recording}"] == 1
    assert told["digest_hand_over_seconds_bucket{le=+Inf,provider=recording}"] == 3
    assert told["digest_lateness_seconds_bucket{le=15}"] == 0
    assert told["digest_lateness_seconds_bucket{le=30}"] == 6
    assert told["digest_subscribers{state=active}"] == 7
    second = House(build(morning.application.settings), morning.now)
    other = second.metrics()
    second.application.close()
    assert {name: number for name, number in other.items() if "web" not in name} == {
        name: number for name, number in told.items() if "web" not in name
    }


def test_events_are_counted_when_their_post_is_done_and_repeats_too(morning: House) -> None:
    sessions = morning.application.sessions
    facts = [ProviderEvent("sendgrid", str(number), EventKind.OPENED, morning.now) for number in range(3)]
    for _ in range(2):
        post = receive_post(sessions, "sendgrid", b"[]", morning.now)
        record_post(sessions, {"sendgrid": lambda *_: facts}, post, morning.now)
    assert morning.metrics()["digest_events_total{kind=opened,provider=sendgrid}"] == 6


def test_work_that_waits_shows_its_number_and_its_age(morning: House) -> None:
    receive_post(morning.application.sessions, "sendgrid", b"[]", morning.now)
    morning.later(seconds=90)
    told = morning.metrics()
    assert told["digest_queue_waiting{queue=events}"] == 1
    assert told["digest_queue_oldest_seconds{queue=events}"] == 90


@pytest.fixture
def statements(morning: House) -> Iterator[list[str]]:
    heard: list[str] = []

    def hear(_: object, __: object, statement: str, *___: object) -> None:
        heard.append(statement)

    engine: Engine = morning.application.engine
    event.listen(engine, "before_cursor_execute", hear)
    yield heard
    event.remove(engine, "before_cursor_execute", hear)


def test_a_scrape_is_a_few_statements_and_none_of_them_reads_deliveries_subscribers_or_events(
    morning: House, statements: list[str]
) -> None:
    policy = morning.application.settings.policy
    snapshot(morning.application.sessions, policy, datetime.now(UTC))
    morning.metrics()
    assert 10 < len(statements) < 60
    for table in ("deliveries", "subscribers", "events ", "consents", "suppressions"):
        assert not [one for one in statements if f"FROM {table}" in one or f"JOIN {table}" in one], table


def test_web_latencies_go_by_route_and_never_by_path(morning: House) -> None:
    assert morning.client.get("/unsubscribe/a-token-of-somebody").status_code == 404
    morning.client.get("/no/such/place")
    told = morning.metrics()
    assert told["digest_web_seconds_count{method=GET,route=/unsubscribe/{token},status=4xx}"] == 1
    assert told["digest_web_seconds_count{method=GET,route=other,status=4xx}"] == 1
    assert not [name for name in told if "a-token" in name]
