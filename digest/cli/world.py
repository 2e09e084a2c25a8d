"""A synthetic list and synthetic news for a simulation: every zone of the world, both languages, from one seed."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import insert

from digest.bootstrap import Application
from digest.domain.schedule import Cadence, timezone_names
from digest.domain.subscriber import EndReason, SubscriberState
from digest.sources.story_file import bundled_stories
from digest.steps.collect_stories import import_stories
from digest.store.cadences import cadence_id
from digest.store.tables import Subscriber

TOPIC_SETS = ("", "", "", "", "models", "chips,models", "agents")
"""Most readers choose none."""
STORY_EVERY = timedelta(hours=2)
IDLE_SHARE = 0.05
"""The share of readers who are pending, paused or gone, and must get nothing."""


def make_news(app: Application, start: datetime, end: datetime) -> int:
    """Stories from a day before ``start`` on, each with an address of its own; returns how many."""
    templates, at, number = bundled_stories(), start - timedelta(days=1), 0
    while at < end:
        template = templates[number % len(templates)]
        mark = f"simulated-{number}"
        story = replace(
            template,
            url=f"https://news.example.com/{mark}",
            identifier=mark,
            slug=mark,
            published_at=at,
            topics=("models", "chips", "agents"),
        )
        import_stories(app.sessions, app.editor, [story], at, enters=at)
        at, number = at + STORY_EVERY, number + 1
    return number


def make_list(app: Application, subscribers: int, seed: int, now: datetime) -> None:
    """Readers spread over every zone, 08:00 each day; a few of them not active."""
    chance = random.Random(seed)  # noqa: S311 - a synthetic list, the same for the same seed
    zones = sorted(timezone_names())
    with app.sessions.begin() as session:
        cadences = [cadence_id(session, Cadence(zone), now) for zone in zones]
        rows = [_row(number, cadences, chance, now) for number in range(subscribers)]
        session.execute(insert(Subscriber), rows)


def _row(number: int, cadences: Sequence[int], chance: random.Random, now: datetime) -> dict[str, object]:
    state = SubscriberState.ACTIVE
    if chance.random() < IDLE_SHARE:
        state = chance.choice([SubscriberState.PENDING, SubscriberState.PAUSED, SubscriberState.ENDED])
    address = f"reader{number}@example.com"
    return {
        "email": address,
        "email_key": address,
        "state": state,
        "reason": EndReason.UNSUBSCRIBED if state is SubscriberState.ENDED else None,
        "languages": chance.choice(["en", "zh"]),
        "cadence_id": cadences[number] if number < len(cadences) else chance.choice(cadences),
        "topics": chance.choice(TOPIC_SETS),
        "active_from_at": now,
        "created_at": now,
        "changed_at": now,
    }
