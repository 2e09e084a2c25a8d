"""Slips in mail domains."""

import pytest

from digest.domain.slips import MAILBOX_DOMAINS, suggested_address, suggested_domain


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gmial.com", "gmail.com"),
        ("gmai.com", "gmail.com"),
        ("gmaill.com", "gmail.com"),
        ("gnail.com", "gmail.com"),
        ("gmail.con", "gmail.com"),
        ("gmail.co", "gmail.com"),
        ("hotmial.com", "hotmail.com"),
        ("outlok.com", "outlook.com"),
        ("yahooo.com", "yahoo.com"),
        ("foxmial.com", "foxmail.com"),
        ("aliyum.com", "aliyun.com"),
    ],
)
def test_one_slip_from_a_well_known_domain_is_a_slip(typed: str, meant: str) -> None:
    assert suggested_domain(typed) == meant
    assert suggested_address(f"Reader@{typed}") == f"Reader@{meant}"


@pytest.mark.parametrize("domain", [*MAILBOX_DOMAINS.split(), "example.com", "qq.co", "163.cn", "mail.example.com", ""])
def test_what_is_as_it_should_be_or_too_short_to_tell_is_left_alone(domain: str) -> None:
    assert suggested_domain(domain) == ""
