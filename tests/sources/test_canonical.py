"""One spelling per page, and names for the pages here."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.canonical import canonical_url, slug_for
from digest.sources.web_address import web_address

PAGE = "https://site.example/2027/06/river"


@pytest.mark.parametrize(
    "spelling",
    [
        "http://site.example/2027/06/river",
        "HTTPS://WWW.Site.Example:443/2027/06/river/",
        "http://m.site.example:80/2027/06/river#comments",
        "https://site.example/2027/06/river?utm_source=x&utm_medium=rss&fbclid=1&gclid=2&spm=a.b",
        "https://site.example./2027/06/%72iver?",
        "https://www.m.site.example/2027/06/river",
    ],
)
def test_spellings_of_one_page_are_equal(spelling: str) -> None:
    assert canonical_url(spelling) == PAGE


@pytest.mark.parametrize(
    "other",
    [
        "https://site.example/2027/06/River",
        "https://site.example/2027/06/river?id=1",
        "https://site.example:8443/2027/06/river",
        "https://news.site.example/2027/06/river",
        "https://site.example/2027/06/river%2Fx",
    ],
)
def test_other_pages_stay_apart(other: str) -> None:
    assert canonical_url(other) != PAGE


def test_parameters_count_in_any_order_with_their_values() -> None:
    one, same = "https://site.example/?b=2&a=1", "http://www.site.example?a=1&utm_id=9&b=2"
    assert canonical_url(one) == canonical_url(same) == "https://site.example?a=1&b=2"
    assert canonical_url("https://site.example/?a=2&b=1") != canonical_url(one)


def test_a_host_that_is_nothing_but_a_prefix_is_kept() -> None:
    assert canonical_url("https://m.example/") == "https://m.example"
    assert canonical_url("https://www.example/x") == "https://www.example/x"


@given(
    st.from_regex(
        r"https?://(www\.)?[a-z]{1,8}\.example(:[1-9][0-9]{1,3})?(/[a-zA-Z0-9%._~-]{0,8}){0,3}(\?[a-z=&]{0,9})?",
        fullmatch=True,
    )
)
def test_the_canonical_spelling_of_a_canonical_spelling_is_itself(url: str) -> None:
    assert canonical_url(canonical_url(url)) == canonical_url(url)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Harbor opens at dawn, café stays closed", "harbor-opens-at-dawn-cafe-stays-closed"),
        ("Don’t panic: GPT-5.2’s card", "dont-panic-gpt-5-2s-card"),
        ("word " * 40, "-".join(["word"] * 14)),
        ("x" * 100, "x" * 72),
    ],
)
def test_an_english_title_makes_the_slug(title: str, slug: str) -> None:
    assert slug_for(title, PAGE) == slug


def test_any_other_title_makes_a_slug_with_a_stable_hash() -> None:
    slug = slug_for("港口清晨恢复作业", PAGE)
    assert re.fullmatch(r"story-[0-9a-f]{10}", slug)
    assert slug == slug_for("港口恢复作业（更新）", "http://www.site.example/2027/06/river/?utm_source=rss")
    assert slug != slug_for("港口清晨恢复作业", PAGE + "2")
    assert re.fullmatch(r"deepseek-v3-2-[0-9a-f]{10}", slug_for("DeepSeek-V3.2 正式版发布", PAGE))
    assert re.fullmatch(r"go-[0-9a-f]{10}", slug_for("Go!", PAGE))


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (" https://Site.Example/a b/新闻?q=中 ", "https://site.example/ab/%E6%96%B0%E9%97%BB?q=%E4%B8%AD"),
        ("https://faß.example/", "https://xn--fa-hia.example/"),
        ("../x#top", "https://base.example/x#top"),
        ("//other.example/x?a=1&b=2", "https://other.example/x?a=1&b=2"),
        ("https://[2606:4700::1]/", "https://[2606:4700::1]/"),
        ("", ""),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("java\nscript:alert(1)", ""),
        ("mailto:reader@example.com", ""),
        ("https://user:secret@site.example/", ""),
        ("https://[::1", ""),
        ("https://site.example:99999/", ""),
        ("https://site.example/" + "x" * 2000, ""),
    ],
)
def test_an_address_is_made_absolute_or_refused(given: str, address: str) -> None:
    assert web_address(given, "https://base.example/folder/feed.xml") == address


@given(st.text(max_size=60))
def test_no_text_makes_an_address_that_is_not_plain_http(text: str) -> None:
    found = web_address(text, "https://base.example/")
    assert found == "" or re.fullmatch(r"https?://[^\s<>\"\\^`{|}]+", found)
