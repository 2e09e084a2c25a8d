"""Processes of the real program: started, killed, and started again as an orchestrator would."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
DIGEST = (str(Path(sys.executable).with_name("digest")),)
STOP_SECONDS = 45.0
"""Longer than a warm shutdown takes; beyond it a process counts as stuck."""


class Crew:
    """The parts of one installation, each in a process group of its own, so that a part dies with its children.

    Attributes:
        ended: how often a part ended by itself, by name and exit code.
        restarts: how often a part had to be started again.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str], program: Sequence[str] = DIGEST) -> None:
        self.folder = folder
        self.ended: Counter[str] = Counter()
        self.restarts: Counter[str] = Counter()
        self._program = tuple(program)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DIGEST_")}
        self._environment = kept | dict(settings) | {"PYTHONPATH": str(ROOT)}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._arguments: dict[str, tuple[str, ...]] = {}
        self._killed: set[str] = set()
        self._orphans: list[psutil.Process] = []

    def start(self, name: str, *arguments: str, kept_up: bool = True) -> subprocess.Popen[bytes]:
        """Start a part; one that is kept up is started again whenever it has ended."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [*self._program, *arguments],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._running[name] = process
        if kept_up:
            self._arguments[name] = arguments
        return process

    def tend(self) -> None:
        """Start again what has ended."""
        for name, process in list(self._running.items()):
            if process.poll() is None:
                continue
            if name not in self._killed:
                self.ended[f"{name} {process.returncode}"] += 1
            self._killed.discard(name)
            del self._running[name]
            if name in self._arguments:
                self.restarts[name] += 1
                self.start(name, *self._arguments[name])

    def is_running(self, name: str) -> bool:
        """Whether this part lives."""
        process = self._running.get(name)
        return process is not None and process.poll() is None

    def running(self, prefix: str) -> list[str]:
        """The living parts whose names begin so."""
        return sorted(name for name in self._running if name.startswith(prefix) and self.is_running(name))

    def children(self, name: str) -> list[psutil.Process]:
        """A part's children, the eldest first."""
        try:
            return sorted(psutil.Process(self._running[name].pid).children(), key=psutil.Process.create_time)
        except psutil.NoSuchProcess:
            return []

    def kill(self, name: str) -> bool:
        """SIGKILL to a part and its children at once, as when a machine goes away."""
        return self._kill(name, os.killpg)

    def kill_parent(self, name: str) -> bool:
        """SIGKILL to the first process alone; its children find out by themselves."""
        orphans = self.children(name) if self.is_running(name) else []
        self._orphans += orphans
        return bool(orphans) and self._kill(name, os.kill)

    def kill_child(self, name: str, chance: random.Random) -> bool:
        """SIGKILL to one child, as the kernel does when memory runs out."""
        if not (found := self.children(name)):
            return False
        with suppress(psutil.NoSuchProcess):
            chance.choice(found).kill()
        return True

    def _kill(self, name: str, kill: Callable[[int, int], None]) -> bool:
        if not self.is_running(name):
            return False
        self._killed.add(name)
        kill(self._running[name].pid, signal.SIGKILL)
        self._running[name].wait()
        return True

    def tell(self, name: str, number: signal.Signals) -> subprocess.Popen[bytes]:
        """Send a signal to the first process of a part, which is not started again."""
        self._arguments.pop(name, None)
        self._running[name].send_signal(number)
        return self._running[name]

    def orphans(self) -> list[psutil.Process]:
        """Children that outlived a killed parent and still do."""
        self._orphans = [one for one in self._orphans if one.is_running()]
        return self._orphans

    def stop(self, number: signal.Signals = signal.SIGTERM) -> dict[str, int]:
        """Ask every part to end; their exit codes, -9 where one had to be killed."""
        for process in self._running.values():
            process.send_signal(number)
        return {name: _wait(process) for name, process in self._running.items()}

    def end(self) -> None:
        """End whatever is left, orphans too."""
        for process in self._running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for orphan in self.orphans():
            with suppress(psutil.NoSuchProcess):
                orphan.kill()

    def logs(self) -> str:
        """What every part has written."""
        found = sorted(self.folder.glob("*.log"))
        return "\n".join(f"== {log.name}\n{log.read_text(encoding='utf-8', errors='replace')}" for log in found)


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()
