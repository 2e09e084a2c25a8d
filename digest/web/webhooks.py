"""What providers report: verified over the raw bytes, stored as it came, answered at once; a worker reads it."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Header, HTTPException, Request
from starlette.responses import JSONResponse, Response

from digest.domain.errors import BadInputError
from digest.providers.sendgrid_events import PROVIDER, entries_of, verify_signature
from digest.steps.record_posts import receive_post
from digest.web.edge import EdgeOf

PATH = "/webhooks/sendgrid"
LONGEST_POST = 16 * 2**20
"""Bytes. SendGrid posts at 768 kB; ten thousand events in one post are about half of this."""
NOT_BELIEVED = "The signature is missing, not of these bytes by the key that is set here, or too old."

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
    """401 unless SendGrid signed exactly these bytes, lately; 400 where they are no events; else 200, stored."""
    now, settings = edge.clock(), edge.application.settings
    oldest = timedelta(hours=settings.webhook_hours)
    key = settings.sendgrid_webhook_public_key
    if not key or not verify_signature(body, signature, timestamp, key, now, oldest):
        raise HTTPException(401, NOT_BELIEVED)
    try:
        received = len(entries_of(body))
    except BadInputError as error:
        raise HTTPException(400, f"The {error.field} {error.mend}") from error
    post = receive_post(edge.application.sessions, PROVIDER, body, now)
    return JSONResponse({"received": received}, background=edge.after_posts([post]))
