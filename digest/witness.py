"""The scheduler's last turn, remembered outside the database: in the broker, or in a file beside the secret key."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

import redis
import structlog

from digest.ports import TurnMark

SECONDS = 3.0
"""How long the broker is waited for."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FileWitness:
    """Keeps the newest turn in a file.

    Attributes:
        place: the file; replaced as a whole, so that a reader never sees half of it.
    """

    place: Path

    def recall(self, ledger: str) -> TurnMark | None:
        """The turn in the file, if it is this ledger's."""
        try:
            mark = _read(self.place.read_text(encoding="utf-8"))
        except OSError:
            return None
        return mark if mark is not None and mark.ledger == ledger else None

    def remember(self, mark: TurnMark) -> None:
        """Write the file anew."""
        try:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile("w", dir=self.place.parent, encoding="utf-8", delete=False) as file:
                file.write(_write(mark))
            Path(file.name).replace(self.place)
        except OSError as error:
            log.warning("turn_not_remembered", why=type(error).__name__)


class RedisWitness:
    """Keeps the newest turn in the broker, where every scheduler of every machine sees it.

    Args:
        url: the broker's address.
    """

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)

    def recall(self, ledger: str) -> TurnMark | None:
        """The turn under this ledger's key."""
        try:
            kept = self._redis.get(f"digest:turn:{ledger}")
        except redis.RedisError as error:
            log.warning("turn_not_recalled", why=type(error).__name__)
            return None
        return _read(kept.decode()) if isinstance(kept, bytes) else None

    def remember(self, mark: TurnMark) -> None:
        """Write the key."""
        try:
            self._redis.set(f"digest:turn:{mark.ledger}", _write(mark))
        except redis.RedisError as error:
            log.warning("turn_not_remembered", why=type(error).__name__)


def _write(mark: TurnMark) -> str:
    return json.dumps({"ledger": mark.ledger, "turn": mark.turn, "at": mark.at.isoformat()})


def _read(text: str) -> TurnMark | None:
    try:
        kept = json.loads(text)
        return TurnMark(str(kept["ledger"]), int(kept["turn"]), datetime.fromisoformat(kept["at"]))
    except (ValueError, KeyError, TypeError):
        return None
