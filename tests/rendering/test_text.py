import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.rendering.clean import cells
from digest.rendering.text import NO_LINE_END, NO_LINE_START, NumberedLinks, lay_out, tied, wrap

HAN = "英伟达用 GB300 预训练 6710 亿参数的模型（DeepSeek-V3），每块跑出“1648 TFLOPs”。它说：“这是世界纪录”！真的？"


@pytest.mark.parametrize("width", range(12, 80))
def test_no_line_begins_with_a_closing_mark_or_ends_with_an_opening_one(width: int) -> None:
    lines = wrap(HAN * 3, width)

    assert not [line for line in lines if line[0] in NO_LINE_START or line[-1] in NO_LINE_END]


@pytest.mark.parametrize("width", range(24, 80))
def test_lines_keep_to_the_width_counting_han_as_two(width: int) -> None:
    assert max(cells(line) for line in wrap(HAN * 3, width)) <= width


def test_a_han_line_is_filled_and_not_left_ragged() -> None:
    first, *_ = wrap("模型" * 60, 40)

    assert cells(first) == 40


def test_a_list_item_hangs_from_its_mark() -> None:
    assert lay_out("   - one two three four", 15) == "   - one two\n     three four\n"


def test_an_address_is_never_broken() -> None:
    address = "https://news.example/" + "a" * 200

    assert address in lay_out(f"退订：{address}", 40).split("\n")


def test_a_word_wider_than_the_line_is_broken() -> None:
    assert [cells(line) for line in wrap("W" * 200, 72)] == [72, 72, 56]


def test_a_no_break_space_keeps_a_number_with_its_word_and_comes_out_as_a_space() -> None:
    assert lay_out("fake with it\u00a0[5]", 14) == "fake with\nit [5]\n"


def test_a_number_stays_with_its_unit_and_a_name_that_ends_in_a_digit_does_not() -> None:
    assert tied("50 万条，100 MB，1.2 million") == "50\u00a0万条，100\u00a0MB，1.2\u00a0million"
    assert tied("GPT-5 发布，V4 预览；2 stories; a 5 b") == "GPT-5 发布，V4 预览；2 stories; a 5\u00a0b"
    assert lay_out("It weighs 100 MB", 14) == "It weighs\n100 MB\n"


def test_a_stand_in_is_measured_by_what_replaces_it() -> None:
    marker = "slot-0123456789abcdef-subscribed-on-slot"

    assert lay_out(f"on {marker} at Daily Brief", 40, {marker: 16}) == f"on {marker} at Daily Brief\n"


@given(st.text(alphabet=st.sampled_from("ab ，。（中文“”👍🏽\u0301 x"), max_size=200))
def test_wrapping_loses_nothing_but_spaces(text: str) -> None:
    assert "".join("".join(wrap(text, 20)).split()) == "".join(text.split())


def test_an_address_gets_one_number_however_often_it_is_mentioned() -> None:
    links = NumberedLinks()

    assert [links.number(url) for url in ("a", "b", "a")] == [1, 2, 1]
    assert list(links) == [(1, "a"), (2, "b")]
