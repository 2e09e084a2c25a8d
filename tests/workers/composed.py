"""The services of ``docker-compose.yml`` as plain processes: same commands, environment, secrets and health checks."""

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).parents[2]
OURS = "daily-brief"
"""The image of what is built here."""
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


@dataclass(frozen=True)
class Service:
    """One service of our own image."""

    name: str
    command: list[str]
    environment: dict[str, str]
    secrets: list[str]
    check: list[str]


@dataclass
class Composed:
    """What the file says.

    Attributes:
        whole: the file, anchors and merges resolved.
    """

    whole: dict[str, Any] = field(default_factory=lambda: yaml.safe_load((PROJECT / "docker-compose.yml").read_text()))

    @property
    def services(self) -> dict[str, Service]:
        """Those of our own image, in the order in which they may start."""
        found = {name: self._service(name, one) for name, one in self.whole["services"].items() if one["image"] == OURS}
        return {"migrate": found.pop("migrate")} | found

    def _service(self, name: str, one: dict[str, Any]) -> Service:
        given = {variable: filled(str(value)) for variable, value in one["environment"].items()}
        return Service(
            name, one["command"], dotenv() | given, one["secrets"], one.get("healthcheck", {}).get("test", [])
        )


def filled(text: str) -> str:
    """Variables replaced by their defaults."""
    return _VARIABLE.sub(lambda found: found[2] or "", text)


def dotenv() -> dict[str, str]:
    """The variables of ``.env.example``, which an operator copies."""
    lines = (PROJECT / ".env.example").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def make_secrets(folder: Path) -> Path:
    """The folder of secrets as the operator makes it."""
    shell = shutil.which("sh")
    assert shell is not None
    script = PROJECT / "docs" / "ops" / "make-secrets.sh"
    subprocess.run([shell, str(script)], cwd=folder, check=True, capture_output=True)  # noqa: S603 - our own script
    return folder / "secrets"
