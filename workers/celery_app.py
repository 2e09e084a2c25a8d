"""The Celery app: a broker that only nudges, set up for at-least-once delivery of tasks that carry one id."""

from datetime import timedelta

from celery import Celery
from celery.signals import worker_process_init

from digest.settings import Settings
from workers.beat import Aligned
from workers.queues import MEANING, QUEUES, SEND, TICK, TIDY, WATCH
from workers.runtime import Runtime
from workers.side_tasks import register_side_tasks
from workers.tasks import register
from workers.tracing import trace_tasks
from workers.writing import register_writing

SOCKET_SECONDS = 15

REDIS = {
    "socket_timeout": SOCKET_SECONDS,
    "socket_connect_timeout": SOCKET_SECONDS,
    "socket_keepalive": True,
    "health_check_interval": SOCKET_SECONDS,
}
TIDY_EVERY = timedelta(minutes=10)
"""How often somebody looks whether it is time to tidy."""
WATCH_EVERY = timedelta(minutes=1)
SOFT_SHUTDOWN_SECONDS = 30
"""How long a worker that is to end soon goes on with what it has in hand; nothing takes longer than its soft limit."""
RETRIES_ON_WORKER_LOST = 3
"""A task whose process dies is given to another so often; the rows count attempts too, for what dies every time."""
MEMORY = {"polling_interval": 0.05}
"""The in-process broker is polled; at its default of a second a confirmation mail would wait that long."""


def create_celery(settings: Settings, runtime: Runtime | None = None) -> Celery:
    """The app for ``settings``; ``runtime`` gives its tasks an application already built (all in one process)."""
    in_process = settings.broker_url.startswith("memory:")
    # A task ends well before its lease does, and its message goes to nobody else before it is over.
    soft, hard, visibility = settings.lease_seconds * 0.8, settings.lease_seconds * 0.9, settings.lease_seconds * 2
    transport = MEMORY if in_process else REDIS | {"visibility_timeout": visibility}
    broker = "memory://localhost/" if in_process else settings.broker_url
    app = Celery("digest", broker=broker, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_acks_late=not in_process,
        task_acks_on_timeout=False,
        task_acks_on_failure=True,
        task_retry_on_worker_lost=not in_process,
        task_annotations={"*": {"max_retries": RETRIES_ON_WORKER_LOST, "default_retry_delay": 1}},
        task_time_limit=None if in_process else hard,
        task_soft_time_limit=None if in_process else soft,
        task_default_queue=SEND,
        task_queues=QUEUES,
        task_create_missing_queues=False,
        task_routes={f"digest.{name}": {"queue": name} for name in MEANING},
        timezone="UTC",
        enable_utc=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_soft_shutdown_timeout=min(SOFT_SHUTDOWN_SECONDS, soft),
        worker_enable_soft_shutdown_on_idle=True,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_send_task_events=False,
        broker_connection_retry_on_startup=True,
        broker_transport_options=transport,
        beat_scheduler="workers.beat:SteadyScheduler",
        beat_max_loop_interval=1,
        beat_schedule={
            "tick": {
                "task": f"digest.{TICK}",
                "schedule": Aligned(timedelta(seconds=settings.tick_seconds), app=app),
                "options": {"expires": 60},
            },
            "tidy": {
                "task": f"digest.{TIDY}",
                "schedule": Aligned(TIDY_EVERY, app=app),
                "options": {"expires": TIDY_EVERY / timedelta(seconds=1)},
            },
            "watch": {
                "task": f"digest.{WATCH}",
                "schedule": Aligned(WATCH_EVERY, app=app),
                "options": {"expires": WATCH_EVERY / timedelta(seconds=1)},
            },
        },
    )
    runtime = runtime or Runtime(settings)
    register(app, runtime)
    register_side_tasks(app, runtime)
    register_writing(app, runtime)
    trace_tasks(app)
    # A forked child must not share its parent's connections.
    worker_process_init.connect(runtime.start_afresh, weak=False)
    return app
