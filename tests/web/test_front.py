"""The front page: both languages, the form, and nothing from elsewhere."""

import re

import pytest
from markupsafe import escape

from digest.domain.schedule import is_known_zone
from digest.sources.story_file import bundled_stories
from tests.web.conftest import Make, Site, links_in


@pytest.mark.parametrize(
    ("address", "header", "tag"),
    [
        ("/", "", "en"),
        ("/", "zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
        ("/", "fr, zh-TW;q=0.5, en;q=0.4", "zh-Hans"),
        ("/", "en;q=0.3, zh;q=0", "en"),
        ("/", "*;q=nonsense,,;;", "en"),
        ("/?lang=en", "zh-CN", "en"),
        ("/?lang=zh", "en-US", "zh-Hans"),
        ("/?lang=xx", "zh", "zh-Hans"),
    ],
)
def test_the_language_is_the_address_s_then_the_browser_s(site: Site, address: str, header: str, tag: str) -> None:
    answer = site.client(**{"Accept-Language": header}).get(address)
    assert answer.status_code == 200
    assert f'<html lang="{tag}">' in answer.text
    assert answer.headers["content-language"] == tag


def test_the_site_s_own_language_is_for_browsers_that_ask_for_neither(make_site: Make) -> None:
    client = make_site(default_language="zh").client(**{"Accept-Language": "fr"})
    assert '<html lang="zh-Hans">' in client.get("/").text


def test_each_language_leads_to_the_other(site: Site) -> None:
    assert 'href="/?lang=zh"' in site.client().get("/?lang=en").text
    assert 'href="/?lang=en"' in site.client().get("/?lang=zh").text


def test_the_form_offers_every_country_s_zones_and_only_known_ones(site: Site) -> None:
    zones = re.findall(r'<option value="([^"]+)" label="[^"]+">', site.client().get("/?lang=zh").text)
    assert {"Asia/Shanghai", "America/St_Johns", "Pacific/Chatham", "UTC"} <= set(zones)
    assert len(zones) > 400
    assert all(is_known_zone(zone) for zone in zones)


def test_a_zone_is_called_what_people_call_it(site: Site) -> None:
    chinese, english = site.client().get("/?lang=zh").text, site.client().get("/?lang=en").text
    assert '<option value="Asia/Shanghai" label="上海：北京时间（Shanghai）">上海：北京时间</option>' in chinese
    assert '<option value="America/New_York" label="New York time (纽约)">New York time</option>' in english


def test_the_stories_come_in_the_language_of_the_page(stocked: Site) -> None:
    newest = bundled_stories()[-1]
    for language, text in newest.texts.items():
        assert escape(text.title) in stocked.client().get(f"/?lang={language}").text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_asks_nobody_else_for_anything_and_is_light_on_the_wire(stocked: Site, language: str) -> None:
    client = stocked.client(**{"Accept-Encoding": "gzip"})
    page = client.get(f"/?lang={language}")
    loaded = {path for path in links_in(page.text) if "/static/" in path}
    assert len(loaded) == 4
    assert all(path.startswith("/static/") for path in loaded)
    assert "@import" not in client.get("/static/site.css").text
    answers = [page, *(client.get(path) for path in loaded)]
    assert sum(int(answer.headers["content-length"]) for answer in answers) < 25_000


def test_files_are_kept_for_good_under_the_address_that_names_their_content(site: Site) -> None:
    client = site.client()
    versioned = next(path for path in links_in(client.get("/").text) if path.startswith("/static/site.css"))
    assert "immutable" in client.get(versioned).headers["cache-control"]
    assert "immutable" not in client.get("/static/site.css?v=old").headers["cache-control"]
    assert client.get("/static/nothing.css").status_code == 404
    assert client.get("/static/..%2fapp.py").status_code == 404


def test_a_path_prefix_is_in_every_address_and_may_be_taken_off_by_the_proxy(make_site: Make) -> None:
    site = make_site(base_url="https://brief.example.com/daily")
    client = site.client()
    for path in ("/", "/daily/"):
        page = client.get(path).text
        local = [link for link in links_in(page) if not link.startswith(("https://brief.example.com/daily/", "#"))]
        assert local
        assert all(link.startswith("/daily/") for link in local), local
    for asset in {link for link in local if "/static/" in link}:
        assert client.get(asset).status_code == 200
        assert client.get(asset.removeprefix("/daily")).status_code == 200
    answer = client.post("/daily/subscribe", data={"email": "reader@example.com", "language": "en"})
    assert answer.status_code == 200
