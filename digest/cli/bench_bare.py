"""The bare framework for ``digest bench web``: it reads the same form and answers with a page of the same size."""

from typing import Annotated

from fastapi import FastAPI, Form
from starlette.responses import HTMLResponse

PAGE = "<!doctype html>".ljust(3000, ".")
"""About as long as the answer to a sign-up."""

app = FastAPI(openapi_url=None)


@app.post("/subscribe")
def subscribe(
    email: Annotated[str, Form()], language: Annotated[str, Form()], timezone: Annotated[str, Form()]
) -> HTMLResponse:
    """Nothing but an answer."""
    return HTMLResponse(PAGE if email and language and timezone else "")


@app.post("/unsubscribe/{token}")
def unsubscribe(token: str) -> HTMLResponse:
    """Nothing but a short answer."""
    return HTMLResponse(token)
