"""How long an answer takes tells nothing: whoever knows an address must not learn whether we know it too.

A stranger's sign-up is one statement, whoever is known takes several. That is a few milliseconds, and
one measurement may show it.
"""

from asyncio import sleep
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from digest.web.timing import route_of

SLOT_SECONDS = 0.02
"""Answers leave at whole multiples of it, so that what takes less looks alike."""
ASKED_BY_ADDRESS = frozenset({"/subscribe", "/api/v1/subscriptions", "/preferences/{token}/address"})
"""Routes whose posts name an address."""


class EvenTimes:
    """ASGI middleware: an answer to a post that names an address waits for the end of its slot.

    The wait holds no thread, so it takes nothing from anybody else.
    """

    def __init__(self, app: ASGIApp, *, stopwatch: Callable[[], float]) -> None:
        self.app, self.stopwatch = app, stopwatch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, a little later."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        began = self.stopwatch()

        async def evened(message: Message) -> None:
            if message["type"] == "http.response.start" and route_of(scope) in ASKED_BY_ADDRESS:
                await sleep((began - self.stopwatch()) % SLOT_SECONDS)
            await send(message)

        await self.app(scope, receive, evened)
