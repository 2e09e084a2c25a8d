"""What the steps need from the world outside, as protocols; adapters are chosen in :mod:`digest.bootstrap`."""

from digest.ports.account import Account, Erasing, Held
from digest.ports.collecting import FeedParser, Fetched, Fetcher, Matcher, PageReader, ParsedFeed, Runner
from digest.ports.mail import Count, HandOver, Message, Provider, Recipient, Refusal, Sender, Teller, TurnMark, Witness
from digest.ports.writing import Draft, Editor, NotWrittenError, Writer

__all__ = [
    "Account",
    "Count",
    "Draft",
    "Editor",
    "Erasing",
    "FeedParser",
    "Fetched",
    "Fetcher",
    "HandOver",
    "Held",
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
