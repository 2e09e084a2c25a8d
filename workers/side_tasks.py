"""Tasks that no morning waits for: what providers report, a look after the service, keeping the ledger small."""

from collections.abc import Callable
from contextlib import closing

import structlog
from celery import Celery

from digest.bootstrap import EVENT_READERS, Application
from digest.domain.errors import DigestError
from digest.health.watch import watch
from digest.steps.mirror_suppressions import mirror_if_time
from digest.steps.pass_on_erasures import pass_on_erasures
from digest.steps.record_posts import record_post
from digest.steps.tell_news import make_call
from digest.steps.tidy_ledger import tidy_if_time
from workers.queues import CALLS, EVENTS, TIDY, WATCH
from workers.runtime import Runtime, utc_now

log = structlog.get_logger()


def register_side_tasks(app: Celery, runtime: Runtime) -> None:
    """Give the app these tasks."""

    def task(queue: str) -> Callable[[Callable[..., None]], object]:
        decorate: Callable[[Callable[..., None]], object] = app.task(name=f"digest.{queue}", shared=False)
        return decorate

    @task(EVENTS)
    def record_one_post(post_id: int) -> None:
        recorded = record_post(
            runtime.application.sessions,
            EVENT_READERS,
            post_id,
            utc_now(),
            runtime.application.settings.soft_bounce_rule,
        )
        if recorded is None:
            return
        log.info("events_recorded", post=post_id, new=recorded.new, known=recorded.known, strangers=recorded.strangers)
        if recorded.faults:
            log.error("events_not_recorded", post=post_id, count=len(recorded.faults), why=recorded.faults[0])

    @task(CALLS)
    def make_one_call(call_id: int) -> None:
        own = runtime.application
        with_address = own.settings.webhook_addresses
        told = make_call(own.sessions, own.teller, call_id, utc_now(), with_address=with_address)
        if told is not None:
            log.info("news_told", call=call_id, fault=told.fault)

    @task(WATCH)
    def look_after() -> None:
        watch(runtime.application, utc_now())

    @task(TIDY)
    def tidy() -> None:
        application = runtime.application
        _keep_account(application)
        tidied = tidy_if_time(application.sessions, application.settings.keep_for, utc_now())
        if tidied is not None:
            log.info("ledger_tidied", **tidied.removed, made=tidied.months_made, dropped=tidied.months_dropped)


def _keep_account(application: Application) -> None:
    """Pass on erasures and, once a day, mirror the provider's lists; its silence holds up nothing else."""
    account, now = application.account(), utc_now()
    if account is None:
        return
    with closing(account):
        passed_on = pass_on_erasures(application.sessions, account, now)
        if passed_on.taken or passed_on.fault:
            log.info("erasures_passed_on", taken=passed_on.taken, waiting=passed_on.waiting, fault=passed_on.fault)
        try:
            mirrored = mirror_if_time(application.sessions, account, now, application.settings.soft_bounce_rule)
        except DigestError as error:
            log.warning("suppressions_not_mirrored", fault=str(error))
            return
        if mirrored is not None:
            log.info("suppressions_mirrored", held=mirrored.held, new=mirrored.new, let_go=mirrored.let_go)
