"""``digest bench scale``: a morning on machines that are not here, from what was measured on one that is."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pygal
from pydantic import TypeAdapter, ValidationError

from digest.cli.scale_model import Fleet, Measured, Morning, morning
from digest.domain.errors import BadInputError

INSTANT_SHARE = 0.5
"""Of the readers, due at one instant: half of a list may live in one zone."""
SIZES = (10_000_000, 100_000_000)
HANDS = (4, 16, 64, 256, 1024)
DATABASES = (1, 4, 16)
DAY_HOURS = 24


@dataclass(frozen=True, slots=True)
class Case:
    """One fleet and its morning."""

    readers: int
    fleet: Fleet
    morning: Morning

    def row(self, core_price: float) -> dict[str, Any]:
        """As it is shown; the price is of cores that are kept all day."""
        fleet, came = self.fleet, self.morning
        cores = fleet.hands + fleet.databases * fleet.cores
        return {
            "readers": self.readers,
            "databases": fleet.databases,
            "hands": fleet.hands,
            "planning_s": round(came.planning, 1),
            "p50_s": round(came.half, 1),
            "p99_s": round(came.most, 1),
            "last_s": round(came.last, 1),
            "limit": came.limit,
            "busy": {part: round(share, 2) for part, share in came.busy.items()},
            "cores": cores,
            "cost_per_million": round(cores * DAY_HOURS * core_price / (self.readers / 1e6), 2),
        }


def read_measured(path: Path) -> Measured:
    """The measured costs in a JSON file.

    Raises:
        BadInputError: there is none, or it does not hold them.
    """
    try:
        return TypeAdapter(Measured).validate_json(path.read_bytes())
    except OSError as error:
        raise BadInputError("--measured", str(path), "can't be read; docs/scale/ in a checkout has one.") from error
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "its JSON"
        raise BadInputError("--measured", str(path), f"{place}: {fault['msg']}.") from error


def cases(readers: int, measured: Measured, answer: float, requests: float) -> Iterator[Case]:
    """The morning of that many readers on every fleet worth a look."""
    for databases in DATABASES:
        for hands in HANDS:
            if hands >= databases:
                fleet = Fleet(hands, databases, answer=answer, requests=requests)
                yield Case(readers, fleet, morning(round(readers * INSTANT_SHARE), fleet, measured))


def plot(found: list[Case], path: Path) -> None:
    """Seconds until the last reader, over worker processes, as SVG; a line per list and number of databases."""
    chart = pygal.XY(
        title="Seconds until the last brief is accepted",
        x_title="worker processes",
        logarithmic=True,
        xrange=(HANDS[0], HANDS[-1]),
        js=[],
    )
    for key in dict.fromkeys((case.readers, case.fleet.databases) for case in found):
        name = f"{key[0] / 1e6:g} million, {key[1]} databases"
        own = [case for case in found if (case.readers, case.fleet.databases) == key]
        chart.add(name, [(case.fleet.hands, case.morning.last) for case in own])
    path.write_bytes(chart.render())


def as_document(found: list[Case], measured: Measured, core_price: float) -> dict[str, Any]:
    """Everything, as the contract wants JSON."""
    rows = [case.row(core_price) for case in found]
    return {"name": "scale", "measured": asdict(measured), "cases": rows}
