"""A span for every request, by route, which goes on from whoever sent it; for a site that has traces collected."""

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from digest.web.timing import Sending, method_of, route_of


class Traced:
    """ASGI middleware: names each span by its route's template; the path may hold a token."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sending = Sending(send)
        came = propagate.extract(Headers(scope=scope))
        tracer = trace.get_tracer("digest.web")
        # What an exception says may hold an address, so the span does not repeat it.
        with tracer.start_as_current_span(
            "answer", came, kind=SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                await self.app(scope, receive, sending)
            finally:
                route = route_of(scope)
                span.update_name(f"{method_of(scope)} {route}")
                span.set_attributes({"http.route": route, "http.response.status_code": sending.status})
