"""``python -m tests.sources.many``: by hand; a report as JSON on standard output, progress on standard error."""

import argparse
import json
import sys
from dataclasses import fields

from tests.sources.many.run import Options, run


def _options() -> Options:
    parser = argparse.ArgumentParser(prog="python -m tests.sources.many", description="Collect many feeds, twice.")
    for field in fields(Options):
        parser.add_argument(f"--{field.name}", default=field.default, type=type(field.default))
    return Options(**vars(parser.parse_args()))


def main() -> int:
    """Run with the options of the command line; 0 when all held."""
    report = run(_options(), lambda words: sys.stderr.write(f"{words}\n"))
    sys.stdout.write(f"{json.dumps(report.as_json(), indent=1)}\n")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
