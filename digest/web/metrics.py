"""``/metrics`` for Prometheus, and who may read it."""

from hmac import compare_digest
from ipaddress import ip_address

from fastapi import APIRouter, HTTPException, Request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from starlette.responses import Response

from digest.health.metrics import ServiceCollector
from digest.web.edge import Edge, EdgeOf, edge_of
from digest.web.methods import READ
from digest.web.timing import is_shared

FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip")
"""What a proxy adds: whoever comes through one comes from outside."""

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="metrics"'}

router = APIRouter(include_in_schema=False)


def metrics_of(edge: Edge) -> CollectorRegistry:
    """The registry of one app: the service as the database shows it, and this process."""
    registry = CollectorRegistry()
    registry.register(ServiceCollector(lambda: edge.application, edge.clock))
    if not is_shared():  # memory and threads of one of several are nobody's
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
    return registry


def may_look(request: Request) -> bool:
    """Whether a request may see how the service is doing in detail.

    With a token set it takes the token (RFC 6750 §2.1). Without one, and on a public site, only who comes directly, not
    through a proxy, from an address that is not on the internet.
    """
    settings = edge_of(request).application.settings
    if token := settings.metrics_token.get_secret_value():
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and compare_digest(given.strip().encode(), token.encode())
    return not settings.is_public or _comes_directly(request)


def _comes_directly(request: Request) -> bool:
    if any(name in request.headers for name in FORWARDED):
        return False
    try:
        return not ip_address(request.client.host if request.client else "").is_global
    except ValueError:
        return True  # a socket in the file system has no address


@router.api_route("/metrics", methods=READ)
def metrics(request: Request, edge: EdgeOf) -> Response:
    """The text format; 401 without the token where one is set, 404 for strangers, as if nothing were here."""
    if not may_look(request):
        has_token = bool(edge.application.settings.metrics_token.get_secret_value())
        raise (
            HTTPException(401, headers={"WWW-Authenticate": 'Bearer realm="metrics"'})
            if has_token
            else HTTPException(404)
        )
    body = generate_latest(request.app.state.metrics)
    return Response(body, media_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})
