"""The rows themselves, for who wants to see what the pages are made from: sqladmin reads and pages them, our own
templates show them, and nothing can be written there.

Large tables stay cheap: rows come in the order of their key, no other order is offered, a search is for one exact
value that has an index, and no more than :data:`MOST` rows are counted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import new_class
from typing import Any, ClassVar, cast

from sqladmin import ModelView
from sqlalchemy import Select, false, func, or_, select
from starlette.requests import Request

from digest.store.tables import (
    Act,
    AddressChange,
    Announcement,
    Batch,
    Brief,
    CadenceRow,
    Call,
    Consent,
    Correction,
    Edition,
    Event,
    Letter,
    Source,
    Story,
    Subscriber,
    Suppression,
    Table,
)

MOST = 2000
"""Rows of a table that can be paged through; the rest is found by its key."""
PAGE = 50
DIGITS = 18
"""Of a number that every database can hold."""


def number_of(text: str) -> int:
    """The number in a text; one that no row has where there is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= DIGITS else -1


Search = Mapping[str, Callable[[str], Any]]
"""Column -> how a searched text is read, to be compared with it for equality."""
BY_ID: Search = {"id": number_of}
OF_READER: Search = {"subscriber_id": number_of}


@dataclass(frozen=True, slots=True)
class Shown:
    """How one table is shown: the columns of its list, and what it is searched by. The page of one row has all."""

    table: type[Table]
    columns: tuple[str, ...]
    search: Search = field(default_factory=dict)


SHOWN = (
    Shown(Subscriber, ("id", "email", "state", "reason", "languages", "topics", "created_at"), BY_ID),
    Shown(Consent, ("id", "subscriber_id", "source", "wording", "requested_at", "confirmed_at"), OF_READER),
    Shown(AddressChange, ("id", "subscriber_id", "email", "previous_email", "confirmed_at"), OF_READER),
    Shown(Letter, ("id", "kind", "subscriber_id", "state", "created_at", "sent_at", "attempts"), OF_READER),
    Shown(Suppression, ("id", "email_key", "address_hash", "reason", "created_at"), BY_ID),
    Shown(CadenceRow, ("id", "timezone", "send_time", "weekdays"), BY_ID),
    Shown(Edition, ("id", "send_at", "on", "window_start_at", "window_end_at"), BY_ID),
    Shown(Brief, ("id", "edition_id", "languages", "topics", "state", "subject", "compiled_at"), BY_ID),
    Shown(Batch, ("id", "brief_id", "state", "reason", "attempts", "sent_at"), {**BY_ID, "brief_id": number_of}),
    Shown(Event, ("id", "kind", "subscriber_id", "on", "occurred_at", "provider", "detail"), OF_READER),
    Shown(Source, ("id", "name", "feed_url", "fetched_at", "failures", "rest"), {"name": str.strip}),
    Shown(Story, ("id", "slug", "language", "enters_at", "pinned", "hidden"), {**BY_ID, "slug": str.strip}),
    Shown(Correction, ("id", "story_id", "created_at"), BY_ID),
    Shown(Announcement, ("id", "name", "kind", "created_at", "taken_at"), {"name": str.strip}),
    Shown(Call, ("id", "announcement_id", "url", "attempts", "closed_at"), BY_ID),
    Shown(Act, ("id", "acted_at", "who", "role", "kind", "target", "outcome"), {"target": str.strip}),
)
"""No search takes an address, since it would stand in the page's own address. Deliveries are not among the tables: a
reader's page and a batch's page show them by their keys."""


class Rows(ModelView):
    """A table that is looked at: the newest rows first, searched for one exact value, counted to a limit."""

    can_create = False
    can_edit = False
    can_delete = False
    can_export = False
    can_import = False
    page_size = PAGE
    page_size_options = (PAGE,)
    column_default_sort = ("id", True)
    column_type_formatters: ClassVar[dict[type, Callable[..., Any]]] = {
        datetime: lambda value: f"{value:%Y-%m-%d %H:%M:%S}Z",
        type(None): lambda _: "",
    }
    searched: ClassVar[Search] = {}

    def search_query(self, stmt: Select[Any], term: str) -> Select[Any]:
        """The rows with exactly this value."""
        exact = [getattr(self.model, name) == read(term) for name, read in self.searched.items()]
        return stmt.where(or_(false(), *exact))

    async def count(self, request: Request, stmt: Select[Any] | None = None) -> int:
        """How many rows there are, but no further than :data:`MOST`: a page never counts a million."""
        rows = cast("Any", stmt).get_final_froms()[0].element
        few = rows.with_only_columns(self.pk_columns[0]).limit(MOST).subquery()
        return await super().count(request, select(func.count()).select_from(few))


def views() -> list[type[Rows]]:
    """A view for each table; made anew for each site, since the library keeps a site's database in their class."""
    return [_view(shown) for shown in SHOWN]


def _view(shown: Shown) -> type[Rows]:
    columns = shown.table.__mapper__.column_attrs.keys()
    attributes: dict[str, object] = {
        "column_list": list(shown.columns),
        "column_details_list": list(columns),
        "searched": shown.search,
        "name_plural": shown.table.__tablename__,
    }
    return new_class(shown.table.__name__, (Rows,), {"model": shown.table}, lambda body: body.update(attributes))
