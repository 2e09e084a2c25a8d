"""Thin tasks: each carries at most one id, calls one step, and nudges what follows."""

from collections.abc import Callable
from datetime import datetime, timedelta

import structlog
from celery import Celery

from digest.bootstrap import Application
from digest.steps.begin_turn import Begun, begin_turn
from digest.steps.collect_stories import collect_source, take_sources
from digest.steps.compile_briefs import compile_brief
from digest.steps.read_pages import read_page, take_pages
from digest.steps.send_batches import send_batch
from digest.steps.send_letters import send_letter
from digest.steps.tell_news import prepare_calls, waiting_calls
from digest.store.letters import take_letters
from digest.store.open_work import take_open
from digest.store.sending import take_batches, take_briefs
from digest.store.tables import EventPost
from workers.nudges import nudge, nudge_later
from workers.queues import CALLS, COLLECT, COMPILE, EVENTS, LETTERS, PAGES, SEND, TICK
from workers.runtime import Runtime, utc_now
from workers.writing import dispatch_writing

MOST_AT_ONCE = 500
"""Rows of a kind that one transaction takes."""
MOST_ROUNDS = 20
"""Of batches in one tick: ten million readers of a thousand a batch; the workers must not run dry between two ticks."""

log = structlog.get_logger()


def register(app: Celery, runtime: Runtime) -> None:
    """Give the app its tasks."""

    def task(queue: str) -> Callable[[Callable[..., None]], object]:
        # A shared task would be given to every app of the process, and would work on the first one's database.
        decorate: Callable[[Callable[..., None]], object] = app.task(name=f"digest.{queue}", shared=False)
        return decorate

    @task(TICK)
    def tick() -> None:
        take_tick(app, runtime.application, utc_now())

    @task(COMPILE)
    def compile_one(brief_id: int) -> None:
        application = runtime.application
        state = compile_brief(application.sessions, application.press, brief_id, utc_now())
        log.info("brief_compiled", brief=brief_id, state=state)
        dispatch_batches(app, application, utc_now())

    @task(SEND)
    def send_one(batch_id: int) -> None:
        application = runtime.application
        policy = application.settings.policy
        sent = send_batch(application.sessions, application.provider, application.links, policy, batch_id, utc_now())
        log.info("batch_handed_over", batch=batch_id, sent=sent.sent, failed=sent.failed, unknown=sent.unknown)
        if sent.delayed:
            log.info("batch_delayed", batch=batch_id, waiting=sent.again, why=sent.delayed)
            nudge_later(app, SEND, batch_id, sent.after_seconds)
        if sent.alarm:
            log.error("sending_stopped", batch=batch_id, alarm=sent.alarm)

    @task(LETTERS)
    def send_one_letter(letter_id: int) -> None:
        application = runtime.application
        state = send_letter(application.sessions, application.provider, application.press, letter_id, utc_now())
        log.info("letter_handed_over", letter=letter_id, state=state)

    @task(COLLECT)
    def collect_one(source_id: int) -> None:
        application = runtime.application
        collected = collect_source(application.sessions, application.desk, source_id, utc_now())
        log.info("source_collected", source=source_id, new=collected.new, error=collected.error)

    @task(PAGES)
    def read_one_page(story_id: int) -> None:
        application = runtime.application
        came = read_page(application.sessions, application.desk, story_id, utc_now())
        log.info("page_read", story=story_id, came=came)


def take_tick(app: Celery, application: Application, now: datetime) -> None:
    """Recover and plan, then ask the workers for whatever is ready or left behind."""
    sessions, settings = application.sessions, application.settings
    takes, witness = application.provider.batch_size, application.witness
    _report(begin_turn(sessions, settings.policy, takes, witness, now, wait=False))
    again_after = timedelta(seconds=settings.nudge_seconds)
    with sessions.begin() as session:
        letters = take_letters(session, now, again_after, MOST_AT_ONCE)
        briefs = take_briefs(session, now, again_after, MOST_AT_ONCE)
        posts = take_open(session, EventPost, now, again_after, MOST_AT_ONCE)
    nudge(app, EVENTS, posts)
    nudge(app, LETTERS, letters)
    nudge(app, COMPILE, briefs)
    dispatch_batches(app, application, now)
    nudge(app, COLLECT, take_sources(sessions, now))
    nudge(app, PAGES, take_pages(sessions, now, MOST_AT_ONCE))
    dispatch_writing(app, application, now)
    prepare_calls(sessions, settings.webhook_urls, now)
    nudge(app, CALLS, waiting_calls(sessions, now, again_after))


def _report(begun: Begun) -> None:
    planned, recovered = begun.planned, begun.recovered
    if begun.lost:
        log.error("ledger_older_than_last_turn", unknown=begun.lost)
    for zone in planned.unknown_zones:
        log.warning("unknown_timezone", timezone=zone)
    counts = {"planned": planned.deliveries, "missed": planned.missed, "without_zone": planned.without_zone}
    counts |= {"unknown": recovered.unknown, "late": recovered.late, "never_taken": recovered.never_taken}
    if any(counts.values()):
        log.info("turn_taken", **counts)


def dispatch_batches(app: Celery, application: Application, now: datetime) -> None:
    """Ask for the hand-over of the batches whose instant has come."""
    again_after = timedelta(seconds=application.settings.nudge_seconds)
    for _ in range(MOST_ROUNDS):
        with application.sessions.begin() as session:
            batches = take_batches(session, now, again_after, MOST_AT_ONCE)
        if not nudge(app, SEND, batches) or len(batches) < MOST_AT_ONCE:
            break
