"""The fault harness in its short form; ``make faults`` runs the long one."""

from tests.faults.options import LONG, Options, read_options
from tests.faults.run import run


def test_whatever_is_killed_in_the_middle_everybody_is_served_exactly_once() -> None:
    """Workers, schedulers, turns by hand, the broker (also emptied) and the database's backends, each at least once."""
    lines: list[str] = []
    report = run(Options(), lines.append)
    assert report.ok, "\n".join([*lines, report.words()])
    assert sum(report.kills.values()) == Options().kills + 1
    assert report.at_the_end is not None
    assert report.at_the_end.states == {"sent": Options().subscribers}


def test_a_run_tells_the_command_that_makes_the_same_draws_again() -> None:
    command = Options(seed=7, kills=3).command()
    assert read_options(command.split()[3:]) == Options(seed=7, kills=3)
    assert read_options([]) == LONG
