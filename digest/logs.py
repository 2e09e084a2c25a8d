"""Structured log lines: events with ids, never with addresses or what opens a reader's page."""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog
from structlog.typing import Processor

from digest.domain.address import masked

_ADDRESS = re.compile(r"[^\s@<>()\[\],;:\"'=/|]{1,64}@[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"/(confirm|unsubscribe|preferences|address|export)/[^/?\s\"']+")
DEEPEST = 4
"""How far into nested values the mask goes; what lies deeper is written as one text."""


def without_secrets(text: str) -> str:
    """The text with every address masked and every token of a reader's page left out."""
    return _TOKEN.sub(r"/\1/…", _ADDRESS.sub(lambda found: masked(found[0]), text))


def mask(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor: whatever a value says, words of servers and tracebacks too, it tells no address."""
    return {name: _masked(value, DEEPEST) for name, value in event.items()}


def _masked(value: object, depth: int) -> object:
    if isinstance(value, str):
        return without_secrets(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth and isinstance(value, Mapping):
        return {without_secrets(str(name)): _masked(one, depth - 1) for name, one in value.items()}
    if depth and isinstance(value, list | tuple | set | frozenset):
        return [_masked(one, depth - 1) for one in value]
    return without_secrets(str(value))


class _StandardError(logging.StreamHandler[TextIO]):
    """Looks the stream up at each line: whoever runs commands in process may have put another one there."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:
        """Standard error as it is now."""
        return sys.stderr

    @stream.setter
    def stream(self, value: TextIO) -> None:
        """Never another one."""


def configure_logs(*, json: bool, level: str = "INFO") -> None:
    """Send log lines to standard error, as text for people or as JSON for machines, the libraries' lines too.

    Args:
        json: one JSON object a line.
        level: least that is written of our own events; libraries write warnings and worse.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        mask,
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if json
        else structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    _take_in_libraries([*shared[:1], structlog.stdlib.add_logger_name, *shared[1:]], renderer)


def _take_in_libraries(processors: list[Processor], renderer: Processor) -> None:
    handler = _StandardError()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=processors,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, mask, renderer],
        )
    )
    root = logging.getLogger()
    for other in [one for one in root.handlers if isinstance(one, _StandardError)]:
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
