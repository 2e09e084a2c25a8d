"""The application inside a worker process, built when it is first needed, so after any fork."""

import gc
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from digest.bootstrap import Application, build
from digest.settings import Settings


def utc_now() -> datetime:
    """The instant at which a task runs."""
    return datetime.now(UTC)


class Runtime:
    """Holds one application per process.

    Args:
        settings: what to build it from.
        application: one that is built already.
    """

    def __init__(self, settings: Settings, application: Application | None = None) -> None:
        self._settings = settings
        self._application = application
        self._lock = Lock()

    @property
    def application(self) -> Application:
        """The application of this process."""
        with self._lock:
            if self._application is None:
                self._application = build(self._settings)
            return self._application

    def start_afresh(self, **_: Any) -> None:  # noqa: ANN401 - a Celery signal's arguments
        """Forget what a parent process built; its connections are not ours to close."""
        # What was imported lives as long as the process; the collector would look through all of it every few batches.
        gc.freeze()
        if self._application is not None:
            self._application.engine.dispose(close=False)
        self._lock = Lock()
        self._application = None
