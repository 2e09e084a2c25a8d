"""The service that vouches for persons, where it does not answer."""

import socket
from contextlib import closing
from time import monotonic

import pytest

from digest.domain.errors import TryAgainError
from digest.providers import challenge
from digest.providers.challenge import SILENT_FOR, Challenge


def test_a_service_that_is_silent_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(challenge, "SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        mute.settimeout(0)
        asked = Challenge("turnstile", "site", "secret", f"http://127.0.0.1:{mute.getsockname()[1]}/siteverify")
        with closing(asked):
            with pytest.raises(TryAgainError, match="ReadTimeout"):
                asked.passes("solved", "192.0.2.1")
            mute.accept()[0].close()
            with pytest.raises(TryAgainError, match="silent a moment ago"):
                asked.passes("solved", "192.0.2.1")
            with pytest.raises(BlockingIOError):
                mute.accept()
            monkeypatch.setattr(challenge, "monotonic", lambda: monotonic() + SILENT_FOR)
            with pytest.raises(TryAgainError, match="ReadTimeout"):
                asked.passes("solved", "192.0.2.1")
            mute.accept()[0].close()
