"""Access logs without what opens a reader's page: tokens and query strings are left out."""

import logging
import re

_TOKEN = re.compile(r"/(confirm|unsubscribe|preferences)/[^/?\s]+")
_ARGUMENTS = 5
_PATH = 2
"""Where uvicorn.access puts the path among the five arguments of its line."""


def without_token(path: str) -> str:
    """The path as a log may hold it."""
    return _TOKEN.sub(r"/\1/…", path.partition("?")[0])


class TokenFilter(logging.Filter):
    """Takes tokens and queries out of the records of ``uvicorn.access``."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; it always stays."""
        if isinstance(record.args, tuple) and len(record.args) == _ARGUMENTS:
            arguments = list(record.args)
            arguments[_PATH] = without_token(str(arguments[_PATH]))
            record.args = tuple(arguments)
        return True


def hide_tokens() -> None:
    """Install the filter, once; a later logging configuration of the server leaves it in place."""
    logger = logging.getLogger("uvicorn.access")
    if not any(isinstance(kept, TokenFilter) for kept in logger.filters):
        logger.addFilter(TokenFilter())
