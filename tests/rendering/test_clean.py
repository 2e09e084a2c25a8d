import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.rendering.clean import cells, clean, label, shorten, web_address


def test_controls_surrogates_and_bidi_controls_are_taken_out() -> None:
    assert clean("a\x00b\x1b[31m\x85c\ud83d\u202ed\u2066e\ufefff\x7f") == "ab[31m cdef"


def test_line_ends_of_every_kind_become_one_space() -> None:
    assert clean("a\r\nBcc: x\u2028b\u2029c\td") == "a Bcc: x b c d"


@pytest.mark.parametrize("text", ["👨‍👩‍👧 नमस्ते", "C:\\temp\\new", "e\u0301cole", "ｱﾊﾟｰﾄ", "שלום", "繁體中文", "می‌خواهم"])
def test_scripts_emoji_and_joiners_survive(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧‍👦", "🇨🇳", "e\u0301", "स्ते"])
def test_shortening_never_cuts_a_cluster(cluster: str) -> None:
    short = shorten(cluster * 300, 60)

    assert short.endswith("…")
    assert short[:-1].replace(cluster, "") == ""
    assert len(short) > 1


def test_shortening_prefers_the_end_of_a_word() -> None:
    assert shorten("Rates and ports and chips and floods", 23) == "Rates and ports and…"


def test_shortening_leaves_no_dangling_comma_before_the_ellipsis() -> None:
    assert shorten("模型越来越大，数据越来越多，而且越来越贵", 29) == "模型越来越大，数据越来越多……"


def test_marks_piled_on_one_letter_do_not_count_as_short() -> None:
    assert len(shorten("Z" + "\u0335" * 5000, 60)) <= 60 * 12 + 1


@given(st.text(max_size=200), st.integers(min_value=2, max_value=80))
def test_what_was_shortened_fits_and_is_whole_unicode(text: str, limit: int) -> None:
    short = shorten(clean(text), limit)

    assert cells(short) <= limit
    assert "\ufffd" not in short or "\ufffd" in text
    assert short.encode().decode() == short


def test_a_bare_address_as_a_label_is_cut_to_sixty() -> None:
    assert cells(label("https://news.example/" + "x" * 280, 240)) == 60
    assert cells(label("W" * 500, 240)) == 240


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "/relative", "https://", "http://[", "https://a b"]
)
def test_only_web_addresses_become_links(url: str) -> None:
    assert web_address(url) == ""


def test_a_web_address_is_kept_as_it_is() -> None:
    assert web_address("https://news.example/a?b=1&c=%20#d") == "https://news.example/a?b=1&c=%20#d"
