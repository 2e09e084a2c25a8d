"""Errors to Sentry and traces to an OTLP collector, where the operator asks for them; neither holds an address.

Both come as extras of the package, so that whoever wants none installs none.
"""

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from digest.domain.errors import BadInputError
from digest.logs import without_secrets
from digest.settings import Settings

DROPPED = frozenset({"request", "user", "server_name", "vars", "cookies", "extra"})
"""Parts of a report that may hold what a visitor sent, or local variables."""


def start_telemetry(settings: Settings, part: str) -> None:
    """Begin to report, once in a process; nothing where neither is set.

    Args:
        part: which part of the service this process is: ``web``, ``worker``, …

    Raises:
        BadInputError: what is set needs an extra that is not installed.
    """
    if dsn := settings.sentry_dsn.get_secret_value():
        sentry = _extra("sentry_sdk", "DIGEST_SENTRY_DSN", "sentry")
        sentry.init(
            dsn=dsn,
            before_send=without_readers,
            before_breadcrumb=lambda *_: None,
            include_local_variables=False,
            send_default_pii=False,
            max_request_body_size="never",
            # What they would add is what visitors sent; an error that a library logs is reported all the same.
            auto_enabling_integrations=False,
            server_name=part,
        )
    if settings.otlp_endpoint:
        _start_tracing(settings.otlp_endpoint, part)


def without_readers(event: dict[str, Any], _: Mapping[str, Any]) -> dict[str, Any]:
    """A Sentry event without anything a reader sent, and with every address and token in its texts masked."""
    return {name: _cleaned(value) for name, value in event.items() if name not in DROPPED}


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - a JSON value goes in and comes out
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, dict):
        return {name: _cleaned(one) for name, one in value.items() if name not in DROPPED}
    return [_cleaned(one) for one in value] if isinstance(value, list | tuple) else value


def _start_tracing(endpoint: str, part: str) -> None:
    names = ("DIGEST_OTLP_ENDPOINT", "telemetry")
    trace = import_module("opentelemetry.trace")
    sdk = _extra("opentelemetry.sdk.trace", *names)
    export = _extra("opentelemetry.sdk.trace.export", *names)
    resources = _extra("opentelemetry.sdk.resources", *names)
    otlp = _extra("opentelemetry.exporter.otlp.proto.http.trace_exporter", *names)
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": f"digest-{part}"}))
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter(f"{endpoint}/v1/traces")))
    trace.set_tracer_provider(provider)


def _extra(module: str, setting: str, extra: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise BadInputError(setting, "", f"needs the extra: pip install 'daily-brief[{extra}]'.") from error
