"""A world on SQLite and on PostgreSQL, with the real templates."""

from pathlib import Path

import pytest

from digest.domain.brief import Limits, OtherLanguage
from digest.links import Links
from digest.rendering.site import Site
from digest.rendering.templates import Templates
from digest.steps.compile_briefs import Press
from digest.steps.keep_sources import add_source
from digest.store.database import Sessions
from tests.steps.newsroom import NOW, Newsroom, Web
from tests.steps.world import World

EMAILS = Path(__file__).parents[2] / "emails"
BASE_URL = "https://brief.example.com"


@pytest.fixture(scope="session")
def press() -> Press:
    """The real templates, and limits that no test meets by accident."""
    links = Links(BASE_URL, ["a-test-key-of-enough-length"])
    site = Site("The Daily Brief", "1 Example Street", BASE_URL)
    return Press(Templates(EMAILS), links, site, Limits(stories=40, per_source=40), OtherLanguage.LEAVE_OUT)


@pytest.fixture
def world(database: Sessions, press: Press) -> World:
    """A world on each database."""
    return World(database, press)


@pytest.fixture
def shared_world(postgres: Sessions, press: Press) -> World:
    """A world on PostgreSQL alone, for what several processes do at once."""
    return World(postgres, press)


@pytest.fixture
def newsroom(database: Sessions) -> Newsroom:
    """A newsroom with one source on each database."""
    source = add_source(database, "https://news.example.com/feed", "News", None, ["Chips"], NOW)
    return Newsroom(database, Web(), source.id)
