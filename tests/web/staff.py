"""Somebody of the staff at a browser: signs in, opens pages, sends their forms."""

import re
from html import unescape

from fastapi.testclient import TestClient
from httpx2 import Response

from digest.web.admin.desk import COOKIE
from digest.web.admin.session import Cookies, new_session
from tests.web.conftest import KEY, Site

OWNER, EDITOR, VIEWER = ("an-owner-token-of-enough-length", "an-editor-token-long-enough", "a-viewer-token-long-enough")
STAFF = {"admin_token": OWNER, "staff": f"desk:editor:{EDITOR}, guest:viewer:{VIEWER}"}


def sign_in(site: Site, token: str = OWNER) -> TestClient:
    """A browser with a session; without a try at the door, which takes only so many from one network."""
    everyone = site.application.settings.everyone
    member = next(one for one in everyone if one.token == token)
    client = site.client()
    cookie = Cookies([KEY], everyone).write(new_session(member, site.now))
    client.cookies.set(COOKIE, cookie, domain="testserver.local", path="/admin")
    return client


def send(client: TestClient, page: str, action: str, **fields: str) -> Response:
    """Fill in the form of a page and send it, with the hidden fields that the page gave it."""
    html = client.get(page).text
    for form in re.findall(r"<form[^>]*>.*?</form>", html, re.DOTALL):
        where = re.search(r'action="([^"]*)"', form)
        if where and unescape(where[1]) == action:
            hidden = dict(re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', form))
            return client.post(action, data=hidden | fields)
    raise AssertionError(f"{page} has no form for {action}")


def words_of(html: str) -> str:
    """What a page says, without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
