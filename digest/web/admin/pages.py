"""Joins the staff's pages to the site."""

from fastapi import FastAPI
from sqlalchemy import Engine

from digest.web.admin import door, mornings, readers, sending, sources, stories, table_pages, today
from digest.web.admin.desk import Refusal, show_refusal

ROUTERS = (
    door.router,
    today.router,
    readers.router,
    mornings.router,
    sending.router,
    sources.router,
    stories.router,
    table_pages.router,
)


def install_staff_pages(app: FastAPI, engine: Engine) -> None:
    """Give the app the pages under ``/admin``; they answer 404 where nobody may sign in."""
    for router in ROUTERS:
        app.include_router(router)
    table_pages.install_tables(app, engine)
    app.add_exception_handler(Refusal, show_refusal)
