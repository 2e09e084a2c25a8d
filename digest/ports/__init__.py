"""What the steps need from the world outside, as protocols; adapters are chosen in :mod:`digest.bootstrap`."""

from digest.ports.collecting import FeedParser, Fetched, Fetcher, Matcher, PageReader, ParsedFeed, Runner
from digest.ports.mail import Count, HandOver, Message, Provider, Recipient, Refusal, Sender, Teller, TurnMark, Witness
from digest.ports.writing import Draft, Editor, NotWrittenError, Writer

__all__ = [
    "Count",
    "Draft",
    "Editor",
    "FeedParser",
    "Fetched",
    "Fetcher",
    "HandOver",
    "Matcher",
    "Message",
    "NotWrittenError",
    "PageReader",
    "ParsedFeed",
    "Provider",
    "Recipient",
    "Refusal",
    "Runner",
    "Sender",
    "Teller",
    "TurnMark",
    "Witness",
    "Writer",
]
