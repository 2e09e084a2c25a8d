"""What pages say about one reader."""

from datetime import datetime

from digest.domain.language import Language
from digest.domain.schedule import is_known_zone
from digest.steps.read_subscribers import Reader
from digest.web.edge import Edge
from digest.web.phrases import first_send_on_or_after, moment


def next_brief(reader: Reader, language: Language, now: datetime) -> str:
    """When the reader's next brief comes, after a pause too; empty where none will."""
    send = reader.next_send
    if reader.paused_until_on and is_known_zone(reader.cadence.timezone):
        send = first_send_on_or_after(reader.cadence, reader.paused_until_on, now)
    return moment(send, reader.cadence, language) if send else ""


def preferences_path(edge: Edge, subscriber_id: int, language: Language, act: str = "") -> str:
    """The path of a reader's settings, or of an ``act`` on them such as ``/address``."""
    return _path(edge, edge.application.links.preferences(subscriber_id) + act, language)


def unsubscribe_path(edge: Edge, subscriber_id: int, language: Language, act: str = "") -> str:
    """The path of a reader's way out, or back with ``act`` ``/undo``."""
    return _path(edge, edge.application.links.unsubscribe(subscriber_id) + act, language)


def _path(edge: Edge, url: str, language: Language) -> str:
    return edge.pages.path(url.removeprefix(edge.application.links.base_url), lang=language)
