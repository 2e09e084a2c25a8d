"""What providers report: verified over the raw bytes, stored, acted on."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Header, HTTPException, Request
from starlette.responses import JSONResponse, Response

from digest.domain.errors import BadInputError
from digest.providers.sendgrid_events import parse_events, verify_signature
from digest.steps.record_events import record_events
from digest.web.edge import EdgeOf

PATH = "/webhooks/sendgrid"
LONGEST_POST = 4 * 2**20
"""Bytes. SendGrid posts at 768 kB; nothing near this is its."""
OLDEST = timedelta(hours=25)
"""SendGrid repeats a post for a day; whether it signs each try anew is not documented."""

router = APIRouter(include_in_schema=False)


async def raw_body(request: Request) -> bytes:
    """The body untouched: its line breaks are signed too."""
    return await request.body()


@router.post(PATH)
def receive_sendgrid(
    edge: EdgeOf,
    body: Annotated[bytes, Depends(raw_body)],
    signature: Annotated[str | None, Header(alias="X-Twilio-Email-Event-Webhook-Signature")] = None,
    timestamp: Annotated[str | None, Header(alias="X-Twilio-Email-Event-Webhook-Timestamp")] = None,
) -> Response:
    """401 unless SendGrid signed exactly these bytes; then 200, whatever the events are about."""
    now = edge.clock()
    key = edge.application.settings.sendgrid_webhook_public_key
    if not key or not verify_signature(body, signature, timestamp, key, now, OLDEST):
        raise HTTPException(401)
    try:
        events = parse_events(body, now)
    except BadInputError:
        # It is SendGrid's signature over something that is no list of events; a repeat would be no better.
        return JSONResponse({"new": 0, "known": 0, "strangers": 0})
    recorded = record_events(edge.application.sessions, events, now)
    return JSONResponse({"new": recorded.new, "known": recorded.known, "strangers": recorded.strangers})
