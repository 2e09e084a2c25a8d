import pytest

from digest.domain.ceilings import Ceiling, parse_ceilings
from digest.domain.errors import BadInputError


def test_ceilings_are_read_as_a_person_writes_them() -> None:
    assert parse_ceilings("100/second, 50000/day; QQ.com = 20 / minute") == (
        Ceiling(100, 1),
        Ceiling(50_000, 86_400),
        Ceiling(20, 60, "qq.com"),
    )
    assert parse_ceilings("") == parse_ceilings(" , ") == ()


@pytest.mark.parametrize(
    "text", ["100", "0/day", "ten/day", "5/week", "5/day each", "@qq.com=5/day", "-1/day", "qq=5/day"]
)
def test_what_is_no_ceiling_is_named(text: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_ceilings(f"100/second, {text}")
    assert text in str(caught.value)


def test_a_ceiling_is_shown_as_it_was_written() -> None:
    assert [str(one) for one in parse_ceilings("qq.com=20/minute, 5/hour")] == ["qq.com=20/minute", "5/hour"]


def test_the_wait_grows_with_what_is_missing_and_has_bounds() -> None:
    minute, day = Ceiling(60, 60), Ceiling(10, 86_400)
    assert [minute.wait_for(missing) for missing in (1, 30, 60, 900)] == [1, 30, 60, 60]
    assert day.wait_for(1) == 300
