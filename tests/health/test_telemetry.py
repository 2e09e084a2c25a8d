"""Errors and traces reach their collectors, on loopback, and tell nothing about a reader."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from digest.domain.errors import BadInputError
from digest.settings import Settings
from digest.telemetry import start_telemetry
from tests.doubles.listener import listening

PROGRAM = """
import logging
import sys

import sentry_sdk
from opentelemetry import trace
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from digest.settings import Settings
from digest.telemetry import start_telemetry
from digest.web.tracing import Traced

start_telemetry(Settings(_env_file=None, sentry_dsn=sys.argv[1], otlp_endpoint=sys.argv[2]), "web")

def broken(request):
    address = "reader@example.com"
    raise RuntimeError(f"nobody reads {address}")

app = Starlette(routes=[Route("/confirm/{token}", broken)])
app.add_middleware(Traced)
try:
    TestClient(app).get("/confirm/secret-token?email=reader@example.com")
except RuntimeError:
    logging.getLogger("uvicorn.error").exception("GET /confirm/secret-token for reader@example.com")
sentry_sdk.flush(10)
trace.get_tracer_provider().force_flush(10_000)
"""


def test_an_error_and_the_traces_arrive_without_address_or_token(tmp_path: Path) -> None:
    with listening() as sentry, listening() as collector:
        dsn = sentry.url.replace("http://", "http://public@").replace("/news", "/1")
        ended = subprocess.run(  # noqa: S603 - our own program, whose reporters stay in a process of their own
            [sys.executable, "-c", PROGRAM, dsn, collector.url.replace("/news", "")],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert ended.returncode == 0, ended.stderr.decode()
        reports = b"".join(_plain(body) for body in sentry.bodies)
        spans = b"".join(_plain(body) for body in collector.bodies)
    assert b"RuntimeError" in reports
    assert b"r***@example.com" in reports
    assert b"digest-web" in spans
    for sent in (reports, spans):
        assert b"reader@example.com" not in sent
        assert b"secret-token" not in sent


def _plain(body: bytes) -> bytes:
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


def test_an_extra_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    settings = Settings(_env_file=None, sentry_dsn="https://public@errors.example.com/1")
    with pytest.raises(BadInputError, match=r"daily-brief\[sentry\]"):
        start_telemetry(settings, "web")
