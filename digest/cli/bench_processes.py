"""Processes that a benchmark starts, and ends by their ids."""

import json
import os
import signal
import socket
import subprocess
import sys
import time as stopwatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from digest.domain.errors import DigestError

CHECKOUT = Path(__file__).parents[2]
STOP_SECONDS = 30.0
START_SECONDS = 180.0


class BenchError(DigestError):
    """A benchmark could not be carried out."""


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def process(
    arguments: Sequence[str], settings: Mapping[str, str] | None = None, log: Path | None = None
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A Python program in a process group of its own; ended with the block, its children too.

    Args:
        arguments: for the interpreter, such as ``-m`` and a module.
        settings: its ``DIGEST_…`` variables, all of them; None: those of this process.
        log: where it writes what it has to say.
    """
    return program([sys.executable, *arguments], settings, log)


@contextmanager
def program(
    command: Sequence[str], settings: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Any program, as :func:`process` starts one."""
    kept = {name: value for name, value in os.environ.items() if settings is None or not name.startswith("DIGEST_")}
    environment = kept | dict(settings or {}) | {"PYTHONPATH": str(CHECKOUT)}
    with (log or Path(os.devnull)).open("ab") as output:
        started = subprocess.Popen(  # noqa: S603 - our own programs
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield started
    finally:
        _end(started)


def _end(started: subprocess.Popen[bytes]) -> None:
    started.terminate()
    try:
        started.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        started.kill()
    # Whatever is left of its group; usually nobody.
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


def wait_until(is_so: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
    """Ask again and again until it is so.

    Raises:
        BenchError: it was not within that time.
    """
    latest = stopwatch.perf_counter() + seconds
    while not is_so():
        if stopwatch.perf_counter() > latest:
            raise BenchError(f"{what} within {seconds:.0f} s")
        stopwatch.sleep(0.05)


def listens(port: int) -> bool:
    """Whether somebody takes connections on this port of loopback."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def seconds_together(module: str, tasks: Sequence[object]) -> tuple[float, float]:
    """How long processes of this module take for one task each, from one start to the last one's end; their CPU time.

    Each is given its task as a line of JSON, says ``ready``, is started by another line, and says ``done`` and the CPU
    seconds that it took.

    Raises:
        BenchError: one of them ended early.
    """
    with ExitStack() as stack:
        hands = [stack.enter_context(process(["-m", module])) for _ in tasks]
        for hand, task in zip(hands, tasks, strict=True):
            tell(hand, json.dumps(task))
        for hand in hands:
            _expect(hand, "ready")
        began = stopwatch.perf_counter()
        for hand in hands:
            tell(hand, "go")
        used = sum(float(_expect(hand, "done")) for hand in hands)
        return stopwatch.perf_counter() - began, used


def tell(started: subprocess.Popen[bytes], line: str) -> None:
    """A line on a process's standard input."""
    if started.stdin is None:
        raise BenchError("a process can't be told anything")
    started.stdin.write(f"{line}\n".encode())
    started.stdin.flush()


def answer_of(started: subprocess.Popen[bytes]) -> str:
    """The next line of a process's standard output; empty where it has ended."""
    return "" if started.stdout is None else started.stdout.readline().decode().strip()


def _expect(hand: subprocess.Popen[bytes], word: str) -> str:
    """What a process says after this word."""
    said, _, more = answer_of(hand).partition(" ")
    if said != word:
        raise BenchError(f"a process of the baseline said {said!r}, not {word}")
    return more
