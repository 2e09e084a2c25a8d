"""``python -m tests.faults``: one run by hand; the report is JSON on standard output, progress on standard error."""

import json
import sys

from tests.faults.options import read_options
from tests.faults.run import run


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")


def main() -> int:
    """Run with the options of the command line; 0 when all held."""
    report = run(read_options(), _say)
    _say(report.words())
    sys.stdout.write(f"{json.dumps(report.as_json(), indent=1, sort_keys=True)}\n")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
