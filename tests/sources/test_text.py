"""Text as a reader gets it, and the character sets it comes in."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.sources.charset import decode
from digest.sources.text import clean_line, clean_text, text_of_html, title_of_html, without_furniture


def test_controls_and_bidi_marks_go_and_joiners_of_emoji_stay() -> None:
    assert clean_line("a\x00b\u202ec\u2066d\ufeffe\u00adf\u2028g\th") == "abcdef g h"
    assert clean_line("👩\u200d💻 works") == "👩\u200d💻 works"
    assert clean_line("Prompt injection\u2060is") == "Prompt injection is"
    assert clean_line("e\u0301") == "é"


def test_paragraphs_stay_apart() -> None:
    assert clean_text(" one \n\n two\r\nthree ") == "one\ntwo\nthree"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>One &amp; two</p><p>three<br>four</p>", "One & two\nthree\nfour"),
        ("a <b>bold</b><i>er</i> word", "a bolder word"),
        ("<script>alert(1)</script><style>p{}</style><p onclick=x()>safe</p><iframe src=x>no</iframe>", "safe"),
        ("<ul><li>one<li>two</ul>", "one\ntwo"),
        ("5 < 6 &lt;b&gt; literal", "5 < 6 <b> literal"),
        ("<p>broken <b>markup <a href='x", "broken markup"),
        ("line\nbreaks  in\tsource", "line breaks in source"),
        ("港口<br/>恢复作业", "港口\n恢复作业"),
        ("<!-- hidden --><p>seen</p>", "seen"),
    ],
)
def test_html_comes_out_as_what_a_reader_sees(markup: str, text: str) -> None:
    assert text_of_html(markup) == text


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("AT&amp;T <b>up</b>", "AT&T up"),
        ("&lt;script&gt; tags", "<script> tags"),
        ("How <title> and <video> work", "How <title> and <video> work"),
        ("<script>alert(1)</script>News", "News"),
        ("<b></b>", "<b></b>"),
        ("I <3 tea", "I <3 tea"),
        ("<a href='https://x.example'>Link</a>", "Link"),
    ],
)
def test_a_title_is_never_emptied_or_cut(markup: str, title: str) -> None:
    assert title_of_html(markup) == title


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Rail opens. The post Rail opens appeared first on City News.", "Rail opens."),
        ("Rail opens. […]", "Rail opens."),
        ("地铁开通。阅读全文 >>", "地铁开通。"),
        ("Maps , tools and more (opens in a new window) .", "Maps, tools and more."),
        ("Read more books, said the librarian, and it was a long speech" + " word" * 40, None),
    ],
)
def test_what_software_puts_around_a_text_goes(text: str, spoken: str | None) -> None:
    assert without_furniture(text) == (text if spoken is None else spoken)


@given(st.text(max_size=200))
def test_no_markup_leaves_a_control_character(markup: str) -> None:
    for text in (text_of_html(markup), title_of_html(markup)):
        assert all(unicodedata.category(c) not in {"Cc", "Cs"} for c in text.replace("\n", ""))


FEED = "<?xml version='1.0' encoding='{}'?><rss><channel><title>港口恢复作业</title></channel></rss>"


@pytest.mark.parametrize(
    ("declared", "written", "header"),
    [
        ("utf-8", "utf-8", "text/xml; charset=iso-8859-1"),
        ("gb2312", "gb18030", "text/xml"),
        ("GBK", "gbk", "text/xml; charset=utf-8"),
        ("utf-8", "gbk", "text/xml; charset=gbk"),
        ("iso-8859-1", "utf-8", ""),
        ("no-such-set", "utf-8", ""),
        ("utf-8", "utf-8-sig", ""),
        ("utf-16", "utf-16", ""),
        ("utf-16", "utf-16-be", ""),
        ("big5", "utf-8", "text/xml; charset=big5"),
    ],
)
def test_the_bytes_decide_between_contradicting_declarations(declared: str, written: str, header: str) -> None:
    assert "港口恢复作业" in decode(FEED.format(declared).encode(written), header).text


def test_a_text_in_an_undeclared_chinese_set_is_still_read() -> None:
    assert decode("港口恢复作业，预计中午前清空积压。".encode("gbk")).text == "港口恢复作业，预计中午前清空积压。"


def test_a_few_broken_bytes_spoil_only_themselves() -> None:
    decoded = decode(("咖啡价格上涨" * 40).encode() + b"\xe5\x92")
    assert decoded.text == "咖啡价格上涨" * 40 + "\N{REPLACEMENT CHARACTER}"
    assert decoded.notes == ("read as utf-8, with 1 characters that could not be read",)


@given(
    st.binary(max_size=200),
    st.sampled_from(["", "text/xml; charset=rot13", "text/xml; charset=utf-16", "x; charset=hex"]),
)
def test_no_bytes_make_it_fail(body: bytes, content_type: str) -> None:
    assert isinstance(decode(body, content_type).text, str)
