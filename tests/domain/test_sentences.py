"""Sentences of English and Chinese: split, joined, cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.domain.sentences import cut, excerpt, han_share, joined, sentences, width


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Lee of the U.S. Navy paid 3.5 million. Mr. J. Doe did not.", None),
        ("It costs $3.5. Buy it.", ["It costs $3.5.", "Buy it."]),
        ("He said “No.” She said no. They took No. 5.", ["He said “No.”", "She said no.", "They took No. 5."]),
        ("Use node.js or e.g. deno. Both work.", ["Use node.js or e.g. deno.", "Both work."]),
        ("agents.Learn more", ["agents.", "Learn more"]),
        ("第一句。第二句！第三句？完", ["第一句。", "第二句！", "第三句？", "完"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("用了3.5亿元。GPT-5.2发布。", ["用了3.5亿元。", "GPT-5.2发布。"]),
        ("A heading\nA line. Another", ["A heading", "A line.", "Another"]),
        ("", []),
    ],
)
def test_a_sentence_ends_where_a_reader_sees_it_end(text: str, split: list[str] | None) -> None:
    first, second = "Dr. Lee of the U.S. Navy paid 3.5 million.", "Mr. J. Doe did not."
    assert sentences(text) == ([first, second] if split is None else split)


def test_a_gap_stands_between_latin_sentences_only() -> None:
    assert joined(["One.", "Two."]) == "One. Two."
    assert joined(["一。", "二。"]) == "一。二。"
    assert joined(["一。", "Two."]) == "一。 Two."


def test_an_excerpt_ends_with_a_sentence() -> None:
    text = "This sentence has forty columns, or so. " * 20
    assert excerpt(text) == ("This sentence has forty columns, or so. " * 7).strip()
    han = "这一句正好是二十个汉字的宽度请你数一数吧。" * 20
    assert excerpt(han) == "这一句正好是二十个汉字的宽度请你数一数吧。" * 7


def test_an_excerpt_of_one_long_sentence_is_cut_between_words() -> None:
    assert excerpt("word " * 100, 50) == "word word word word word word word word word…"
    assert excerpt("汉" * 100, 20) == "汉" * 9 + "……"
    assert excerpt("没有标点，但是有逗号的一句很长的话", 12) == "没有标点……"
    assert excerpt("Short. " + "word " * 100, 50).startswith("Short. word")


@given(st.text(max_size=200), st.integers(6, 80))
def test_nothing_is_invented_and_nothing_is_too_wide(text: str, limit: int) -> None:
    source = re.sub(r"[\s…]+", "", text)
    for made in (cut(text, limit), excerpt(text, limit)):
        assert width(made) <= limit + 2
        assert re.sub(r"[\s…]+", "", made) in source
    assert re.sub(r"\s+", "", "".join(sentences(text))) == re.sub(r"\s+", "", text)


def test_the_share_of_han_counts_letters_only() -> None:
    assert han_share("港口 12%") == 1.0
    assert han_share("AI 港口") == 0.5
    assert han_share("12%") == 0.0
