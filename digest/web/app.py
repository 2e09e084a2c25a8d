"""The web application: one router per topic, guards around them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.middleware.gzip import GZipMiddleware

from digest.bootstrap import Application
from digest.settings import LOOPBACK_HOSTS
from digest.web import (
    api_pages,
    archive,
    assets,
    briefs,
    confirm,
    editing,
    embed,
    feeds,
    front,
    gallery,
    health,
    metrics,
    new_address,
    next_brief,
    outbox,
    own_data,
    preferences,
    reading_api,
    sitemap,
    subscribe,
    unsubscribe,
    webhooks,
)
from digest.web.access_log import hide_tokens
from digest.web.admin.pages import install_staff_pages
from digest.web.admission import Admission
from digest.web.assets import Assets
from digest.web.edge import Clock, Edge, Nudge, stopwatch, utc_now
from digest.web.even_times import EvenTimes
from digest.web.freshness import Conditional
from digest.web.guards import BodyLimit, KnownHosts, PathPrefix, SecurityHeaders
from digest.web.metrics import metrics_of
from digest.web.origins import OtherSites
from digest.web.pages import Pages
from digest.web.problems import install_problems
from digest.web.timing import Timed, latency_histogram
from digest.web.tracing import Traced

MOST_AT_ONCE = 10
"""Requests that are worked on at a time, as many as there are connections to the database that stay open; others wait.
In a crowd, more threads spend their time taking the interpreter's lock from one another: 40 took twice as long."""
SMALLEST_ZIPPED = 2048
"""Bytes; below that zipping costs more than it saves."""
NO_OWN_SPANS: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}
"""The framework's spans hold path and query, so tokens and addresses; ours hold the route."""
ROUTERS = (
    assets.router,
    front.router,
    subscribe.router,
    next_brief.router,
    confirm.router,
    unsubscribe.router,
    preferences.router,
    new_address.router,
    own_data.router,
    briefs.router,
    archive.router,
    feeds.router,
    sitemap.router,
    embed.router,
    reading_api.router,
    api_pages.router,
    outbox.router,
    gallery.router,
    health.router,
    metrics.router,
    webhooks.router,
    editing.router,
)


@asynccontextmanager
async def _few_at_once(_: FastAPI) -> AsyncIterator[None]:
    current_default_thread_limiter().total_tokens = MOST_AT_ONCE
    yield


def _leave_to_the_tick(_: Sequence[int]) -> None:
    """Nobody is asked: the next tick finds it."""


def known_hosts(application: Application) -> list[str]:
    """The hosts that a public site answers for: its own, those the operator names, and this machine's own name."""
    own = urlsplit(application.links.base_url).hostname or ""
    return [own, *application.settings.trusted_hosts, *sorted(LOOPBACK_HOSTS)]


def create_app(
    application: Application, nudge: Nudge, clock: Clock = utc_now, nudge_events: Nudge = _leave_to_the_tick
) -> FastAPI:
    """The site of ``application``.

    A path prefix in the public address is honoured whether the proxy in front takes it off or leaves it on. Slashes are
    not appended by redirects: those are built from the Host header, and mail clients do not follow them.

    Args:
        nudge: gets the ids of letters that are owed, after commit, when the answer has left; returns at once.
        clock: gives the instant of a request, aware.
        nudge_events: gets the ids of posts of provider events, likewise.
    """
    app = FastAPI(
        title=application.site.name,
        docs_url=None,
        redoc_url=None,
        openapi_url=api_pages.OPENAPI,
        redirect_slashes=False,
        telemetry=NO_OWN_SPANS,
        lifespan=_few_at_once,
    )
    pages = Pages(application.links, application.site, Assets(), application.challenge)
    admission = Admission(application.settings, application.sessions)
    app.state.edge = Edge(application, nudge, nudge_events, clock, pages, admission)
    app.state.metrics = metrics_of(app.state.edge)
    for router in ROUTERS:
        app.include_router(router)
    install_staff_pages(app, application.engine)
    install_problems(app)
    tls = urlsplit(application.links.base_url).scheme == "https"
    also = application.challenge.kind.origins if application.challenge else ()
    if application.settings.otlp_endpoint:
        app.add_middleware(Traced)
    app.add_middleware(EvenTimes, stopwatch=stopwatch)
    app.add_middleware(Timed, histogram=latency_histogram(app.state.metrics), stopwatch=stopwatch)
    app.add_middleware(BodyLimit, limits={webhooks.PATH: webhooks.LONGEST_POST, editing.PATH: editing.LONGEST_BODY})
    app.add_middleware(OtherSites, origins=application.settings.embed_origins, prefix=application.links.prefix)
    app.add_middleware(PathPrefix, prefix=application.links.prefix)
    app.add_middleware(Conditional)
    app.add_middleware(GZipMiddleware, minimum_size=SMALLEST_ZIPPED)
    if application.settings.is_public:
        app.add_middleware(KnownHosts, hosts=known_hosts(application))
    app.add_middleware(SecurityHeaders, tls=tls, also=also)
    hide_tokens()
    return app
