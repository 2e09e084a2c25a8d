"""Shapes of the pictures on the Today page, as numbers for an SVG template: no style and no script is in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import cos, pi, sin, sqrt

from digest.web.admin.day import DAY, Slot, Wave

INNER, OUTER, LABEL = 62.0, 122.0, 134.0
MOST_LABELS = 7
LEAST_APART = 3
"""Half hours between two labels, so that none lies on another."""
HOURS_WIDE, HOURS_HIGH = 360.0, 110.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the clock: a piece of ring between two radii."""

    path: str
    slot: Slot


@dataclass(frozen=True, slots=True)
class Label:
    """A word beside the clock."""

    x: float
    y: float
    anchor: str
    slot: Slot


@dataclass(frozen=True, slots=True)
class Tick:
    """An hour of the dial."""

    x: float
    y: float
    at: datetime


def clock_bars(slots: Sequence[Slot]) -> list[Bar]:
    """A bar for each half hour with readers; areas, not lengths, are in proportion to them, so small ones show."""
    most = max((slot.readers for slot in slots), default=0)
    if not most:
        return []
    step = 2 * pi / len(slots)
    found = []
    for number, slot in enumerate(slots):
        if slot.readers:
            reach = INNER + 4 + (OUTER - INNER - 4) * sqrt(slot.readers / most)
            found.append(Bar(_ring(step * (number + 0.12), step * (number + 0.88), INNER, reach), slot))
    return found


def _ring(start: float, end: float, inner: float, outer: float) -> str:
    corners = [_at(start, inner), _at(start, outer), _at(end, outer), _at(end, inner)]
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners
    return f"M{ax} {ay}L{bx} {by}A{outer:.1f} {outer:.1f} 0 0 1 {cx} {cy}L{dx} {dy}A{inner} {inner} 0 0 0 {ax} {ay}Z"


def _at(angle: float, radius: float) -> tuple[float, float]:
    """A point of the dial; now is at the top and time goes clockwise."""
    return round(radius * sin(angle), 1), round(-radius * cos(angle), 1)


def clock_labels(slots: Sequence[Slot]) -> list[Label]:
    """The largest half hours, none too near to another."""
    step, chosen = 2 * pi / len(slots), list[int]()
    for number in sorted(range(len(slots)), key=lambda n: -slots[n].readers):
        apart = (min(abs(number - other), len(slots) - abs(number - other)) for other in chosen)
        if slots[number].readers and len(chosen) < MOST_LABELS and all(gap >= LEAST_APART for gap in apart):
            chosen.append(number)
    return [_label(slots[number], step * (number + 0.5)) for number in sorted(chosen)]


def _label(slot: Slot, angle: float) -> Label:
    x, y = _at(angle, LABEL)
    side = "middle" if abs(sin(angle)) < 0.3 else "start" if sin(angle) > 0 else "end"  # noqa: PLR2004 - near the top or bottom
    return Label(x, round(y + 4, 1), side, slot)


def clock_ticks(slots: Sequence[Slot]) -> list[Tick]:
    """Every third full hour, UTC, inside the ring."""
    step = 2 * pi / len(slots)
    full = [(n, slot) for n, slot in enumerate(slots) if slot.starts_at.minute == 0 and slot.starts_at.hour % 3 == 0]
    return [Tick(*_at(step * number, INNER - 12), slot.starts_at) for number, slot in full]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a column: what it stands for, where it is, and how many it stands for."""

    kind: str
    x: float
    y: float
    width: float
    height: float
    number: int


@dataclass(frozen=True, slots=True)
class Column:
    """One hour of the last day."""

    starts_at: datetime
    pieces: Sequence[Piece]


KINDS = ("sent", "waiting", "skipped", "unknown", "failed")
LEAST = 2.0
"""How high a piece is at least, so that a single failed brief is seen."""


def hour_columns(waves: Sequence[Wave], now: datetime) -> tuple[list[Column], int]:
    """The last 24 hours by the hour at which briefs were due, and how many the highest column stands for."""
    start = now.replace(minute=0, second=0, microsecond=0) - DAY + timedelta(hours=1)
    hours = [dict.fromkeys(KINDS, 0) for _ in range(24)]
    for wave in waves:
        number = (wave.send_at - start) // timedelta(hours=1)
        if 0 <= number < len(hours):
            row = wave.whole
            for kind, more in zip(KINDS, (row.sent, row.waiting, row.skips, row.unknown, row.failed), strict=True):
                hours[number][kind] += more
    most = max(sum(hour.values()) for hour in hours)
    return [_column(start + timedelta(hours=n), n, hour, most) for n, hour in enumerate(hours)], most


def _column(starts_at: datetime, number: int, hour: dict[str, int], most: int) -> Column:
    width, pieces, y = HOURS_WIDE / 24, [], HOURS_HIGH
    for kind, count in hour.items():
        if count:
            height = max(LEAST, HOURS_HIGH * count / most)
            y -= height
            pieces.append(
                Piece(kind, round(width * number + 1, 1), round(y, 1), round(width - 2, 1), round(height, 1), count)
            )
    return Column(starts_at, pieces)
