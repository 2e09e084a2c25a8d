"""Ceilings on how much mail may leave in a stretch of time, as a person writes them down."""

import re
from dataclasses import dataclass

from digest.domain.errors import BadInputError

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
MEND = "write a number, a slash and second, minute, hour or day, a domain before it where it is meant, commas between: "
EXAMPLE = "100/second, 50000/day, qq.com=20/minute"
_ONE = re.compile(r"(?:(?P<domain>[a-z0-9-]+(?:\.[a-z0-9-]+)+)\s*=\s*)?(?P<count>[1-9]\d{0,8})\s*/\s*(?P<unit>[a-z]+)")


@dataclass(frozen=True, slots=True)
class Ceiling:
    """At most ``count`` readers in ``seconds``; of one receiving domain, or of all where ``domain`` is empty."""

    count: int
    seconds: int
    domain: str = ""

    def __str__(self) -> str:
        """As a person reads it."""
        unit = next(name for name, seconds in SECONDS.items() if seconds == self.seconds)
        return f"{self.domain}={self.count}/{unit}" if self.domain else f"{self.count}/{unit}"

    def wait_for(self, missing: int) -> float:
        """Seconds after which so many more may have room; between 1 and 300, since more room may come sooner."""
        return min(max(self.seconds * min(1.0, missing / self.count), 1.0), 300.0)


def parse_ceilings(text: str) -> tuple[Ceiling, ...]:
    """The ceilings in a text like ``100/second, 50000/day, qq.com=20/minute``; none in an empty one.

    Raises:
        BadInputError: a part that is none.
    """
    return tuple(_parse(part) for part in re.split(r"[,;]", text.lower()) if part.strip())


def _parse(part: str) -> Ceiling:
    found = _ONE.fullmatch(part.strip())
    if found is None or found["unit"] not in SECONDS:
        raise BadInputError("ceilings", part.strip(), f"{MEND}{EXAMPLE}")
    return Ceiling(int(found["count"]), SECONDS[found["unit"]], found["domain"] or "")
