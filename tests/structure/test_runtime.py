"""The program runs on what ``make run`` installs: here everything else that tests need is hidden from it."""

import subprocess
import sys

import pytest

from tests.structure.test_locks import pins

STARTS = """
import importlib.metadata, sys

locked = set({locked!r})
allowed = {{*sys.stdlib_module_names, "digest", "workers"}}
for package, owners in importlib.metadata.packages_distributions().items():
    if locked & {{owner.lower().replace("_", "-").replace(".", "-") for owner in owners}}:
        allowed.add(package)


class Hidden:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in installed and top not in allowed:
            raise ModuleNotFoundError(f"{{top}} is not what the program asks for", name=top)


installed = set(importlib.metadata.packages_distributions())
sys.meta_path.insert(0, Hidden())
import {module}
"""


@pytest.mark.parametrize(
    "module", ["digest.main", "digest.cli.main", "digest.web.app", "workers.all_in_one", "workers.celery_app"]
)
def test_every_entrance_is_imported_with_the_packages_of_the_runtime_lock_alone(module: str) -> None:
    program = STARTS.format(locked=sorted(pins("requirements-runtime.lock")), module=module)
    ended = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
