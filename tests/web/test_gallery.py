"""The gallery of e-mails: for development, with every mail as it is now."""

import re
from pathlib import Path

import pytest

from digest.rendering.examples import KINDS
from tests.web.conftest import Make, Site

EMAILS = Path(__file__).parents[2] / "emails"


def test_the_gallery_shows_every_email_in_every_language(site: Site) -> None:
    page = site.client().get("/emails").text

    frames = re.findall(r'<iframe[^>]* src="/emails/(\w+)/(\w+)\?scheme=light"', page)
    assert frames == [(kind, language) for kind in KINDS for language in ("en", "zh")]
    assert {kind for kind, _ in frames} == {path.parent.name for path in EMAILS.glob("*/body.mjml")}
    assert "scheme=dark" in site.client().get("/emails?scheme=dark&lang=zh").text


@pytest.mark.parametrize("kind", ["brief", "welcome"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_mail_stands_alone_with_a_readers_links_and_can_do_nothing(site: Site, kind: str, language: str) -> None:
    answer = site.client().get(f"/emails/{kind}/{language}")

    assert answer.status_code == 200
    assert "slot-" not in answer.text
    assert "/unsubscribe/" in answer.text
    assert {"en": "Unsubscribe", "zh": "退订"}[language] in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-robots-tag"] == "noindex, nofollow"
    text = site.client().get(f"/emails/{kind}/{language}?view=text")
    assert text.headers["content-type"].startswith("text/plain")
    assert "slot-" not in text.text


def test_light_and_dark_are_chosen_by_the_page_and_not_by_the_system(site: Site) -> None:
    shown = {scheme: site.client().get(f"/emails/goodbye/en?scheme={scheme}").text for scheme in ("light", "dark", "x")}

    assert "@media not all {" in shown["light"]
    assert "@media all {" in shown["dark"]
    assert "@media (prefers-color-scheme: dark) {" in shown["x"]


@pytest.mark.parametrize("place", ["/emails/nothing/en", "/emails/brief/fr", "/emails/..%2f_base/en"])
def test_what_is_no_email_is_not_found(site: Site, place: str) -> None:
    assert site.client().get(place).status_code == 404


def test_a_public_site_has_no_gallery(make_site: Make) -> None:
    public = make_site(
        base_url="https://brief.example.com",
        provider="smtp",
        smtp_url="smtp://127.0.0.1:1",
        sender="Brief <brief@example.com>",
        postal_address="1 Example Street",
    )

    assert public.client().get("/emails").status_code == 404
    assert public.client().get("/emails/brief/en").status_code == 404
