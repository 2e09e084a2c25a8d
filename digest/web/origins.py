"""Which other sites may call the API from their pages (the Fetch standard's CORS): those that the settings name."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

PLACE = "/api/v1/"
EDITORIAL = f"{PLACE}stories"
"""Behind the operator's token, and no page of another site's business."""
KEPT_SECONDS = 3600


class OtherSites:
    """ASGI middleware: answers the browsers of these origins so that their pages may read what the API says."""

    def __init__(self, app: ASGIApp, *, origins: Sequence[str], prefix: str) -> None:
        self.app, self.prefix = app, prefix
        self.open_app = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Content-Type"],
            expose_headers=["Retry-After"],
            max_age=KEPT_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does; for the open part of the API with the headers that browsers ask for."""
        path = scope.get("path", "").removeprefix(self.prefix)
        is_open = path.startswith(PLACE) and not path.startswith(EDITORIAL)
        await (self.open_app if is_open else self.app)(scope, receive, send)
