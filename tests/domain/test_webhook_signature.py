from datetime import UTC, datetime

import pytest

from digest.domain.webhook_signature import key_of, signature

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
AT = datetime.fromtimestamp(1614265330, UTC)


def test_the_signature_is_the_one_of_the_standards_own_example() -> None:
    signed = signature([key_of(SECRET)], "msg_p5jXN8AQM9LWM0D4loKWxJek", AT, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_while_a_key_is_replaced_both_sign() -> None:
    other = key_of("whsec_" + "QUFB" * 8)
    both = signature([other, key_of(SECRET)], "msg_1", AT, b"{}")
    assert both.split(" ") == [signature([key], "msg_1", AT, b"{}") for key in (other, key_of(SECRET))]


@pytest.mark.parametrize("secret", ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA", "whsec_***"])
def test_what_is_no_secret_is_refused(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        key_of(secret)
