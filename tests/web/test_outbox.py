"""The local mailbox: there with provider ``outbox`` only, and mail can do nothing in it."""

from digest.domain.language import Language
from digest.ports import Message, Recipient
from digest.providers.outbox import list_messages
from tests.web.conftest import NOW, Make, Site

HOSTILE = '<html><head><title>x</title></head><body><script>alert(1)</script><a href="http://testserver/">in</a></body></html>'


def _keep(site: Site, subject: str = "Please <b>confirm</b>") -> str:
    message = Message("letter-1", "confirm", Language.ENGLISH, subject, HOSTILE, "Hello\n\n  <there>\n")
    site.application.provider.hand_over(message, [Recipient("reader-1", "reader@example.com")], NOW)
    return list_messages(site.application.settings.outbox_dir)[0].name


def test_messages_are_listed_and_opened_in_three_views(site: Site) -> None:
    client = site.client()
    assert "Nothing yet" in client.get("/outbox").text
    name = _keep(site)
    listed = client.get("/outbox").text
    assert f'href="/outbox/{name}?lang=en"' in listed
    assert "Please &lt;b&gt;confirm&lt;/b&gt;" in listed
    assert "Hello\n\n  &lt;there&gt;" in client.get(f"/outbox/{name}?view=text").text
    assert "Message-ID:" in client.get(f"/outbox/{name}?view=source").text
    assert client.get(f"/outbox/{name}?view=nonsense").status_code == 200


def test_the_html_of_a_message_is_framed_without_scripts_and_its_links_take_the_whole_window(site: Site) -> None:
    name = _keep(site)
    page = site.client().get(f"/outbox/{name}").text
    sandbox = page.partition('sandbox="')[2].partition('"')[0]
    assert "allow-scripts" not in sandbox
    assert "allow-same-origin" not in sandbox
    assert HOSTILE not in page
    frame = site.client().get(f"/outbox/{name}/html")
    assert '<head><base target="_top">' in frame.text
    policy = frame.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert f"sandbox {sandbox}" in policy


def test_a_name_that_is_not_there_or_leaves_the_folder_is_not_found(site: Site) -> None:
    _keep(site)
    for name in ("nothing.eml", "..%2f..%2fsite.db", ".eml", "%00.eml"):
        assert site.client().get(f"/outbox/{name}").status_code == 404
        assert site.client().get(f"/outbox/{name}/html").status_code == 404


def test_with_another_provider_there_is_no_outbox(make_site: Make) -> None:
    site = make_site(provider="smtp", smtp_url="smtp://127.0.0.1:1")
    assert site.client().get("/outbox").status_code == 404
    assert site.client().get("/outbox/anything.eml").status_code == 404
    assert "outbox" not in site.client().post("/subscribe", data={"email": "reader@example.com"}).text


def test_the_answer_to_a_sign_up_leads_to_the_outbox(site: Site) -> None:
    assert 'href="/outbox?lang=en"' in site.client().post("/subscribe", data={"email": "reader@example.com"}).text
