"""A setting that is missing, malformed or unsafe stops every command with one line for each fault."""

from pathlib import Path
from typing import Any

import pytest

from digest.bootstrap import build, return_path_of, site_of
from digest.domain.language import Language
from digest.settings import Settings, load_settings, secret_keys
from tests.cli.terminal import Terminal

PUBLIC: dict[str, Any] = {
    "base_url": "https://brief.example.com",
    "provider": "smtp",
    "smtp_url": "smtp://me:secret@mail.example.com:587",
    "secret_keys": "a-test-key-of-enough-length",
    "postal_address": "1 Example Street",
    "sender": "The Daily Brief <brief@example.com>",
}


def faults(terminal: Terminal, **settings: object) -> list[str]:
    """The faults by variable, in the order in which they are told."""
    terminal.set(**settings)
    ended = terminal("subscribers", "stats", "--json")
    assert (ended.code, ended.out) == (2, "")
    lines = ended.err.splitlines()
    assert all(line.startswith("digest: ") for line in lines)
    return [line.removeprefix("digest: ") for line in lines]


def test_a_public_site_with_everything_set_starts(terminal: Terminal) -> None:
    terminal.set(**PUBLIC)
    assert terminal.read("subscribers", "stats") == {}


@pytest.mark.parametrize(
    ("change", "variable"),
    [
        ({"secret_keys": ""}, "DIGEST_SECRET_KEYS"),
        ({"secret_keys": "short"}, "DIGEST_SECRET_KEYS"),
        ({"secret_keys": "a-test-key-of-enough-length,short"}, "DIGEST_SECRET_KEYS"),
        ({"provider": "outbox"}, "DIGEST_PROVIDER"),
        ({"provider": "sendgrid"}, "DIGEST_SENDGRID_API_KEY"),
        ({"smtp_url": ""}, "DIGEST_SMTP_URL"),
        ({"base_url": "http://brief.example.com"}, "DIGEST_BASE_URL"),
        ({"postal_address": ""}, "DIGEST_POSTAL_ADDRESS"),
        ({"sender": ""}, "DIGEST_SENDER"),
        ({"fallback_provider": "smtp"}, "DIGEST_FALLBACK_PROVIDER"),
        ({"fallback_provider": "sendgrid"}, "DIGEST_SENDGRID_API_KEY"),
        ({"dkim_domain": "example.com", "dkim_selector": "s1"}, "DIGEST_DKIM_KEY"),
        ({"dkim_domain": "example.com", "dkim_selector": "s1", "dkim_key": "no key"}, "DIGEST_DKIM_KEY"),
        ({"dkim_domain": "other.example", "dkim_selector": "s1", "dkim_key": "k"}, "DIGEST_DKIM_DOMAIN"),
    ],
)
def test_what_would_harm_readers_of_a_public_site_stops_the_start(
    terminal: Terminal, change: dict[str, str], variable: str
) -> None:
    (line,) = faults(terminal, **(PUBLIC | change))
    assert line.startswith(f"{variable}: ")


def test_each_fault_has_a_line_of_its_own(terminal: Terminal) -> None:
    lines = faults(terminal, base_url="http://brief.example.com", secret_keys="")
    names = ["PROVIDER", "SECRET_KEYS", "POSTAL_ADDRESS", "SENDER", "BASE_URL"]
    assert [line.partition(":")[0] for line in lines] == [f"DIGEST_{name}" for name in names]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("logo_url", "http://brief.example.com/logo.png"),
        ("provider", "pigeon"),
        ("base_url", "brief.example.com"),
        ("base_url", "https://brief.example.com/?a=b"),
        ("sendgrid_host", "api.sendgrid.com"),
        ("sender", "nobody"),
        ("default_timezone", "Mars/Olympus"),
        ("default_language", "fr"),
        ("other_language", "translate"),
        ("tick_seconds", "0"),
        ("grace_minutes", "soon"),
        ("stories_per_brief", "41"),
        ("fallback_provider", "pigeon"),
        ("bounce_address", "bounces-that-are-far-too-long@example.com"),
        ("bounce_address", "bounces+x@example.com"),
        ("dkim_selector", "two words"),
        ("trusted_proxies", "10.0.0.0/8, proxy"),
    ],
)
def test_a_malformed_setting_is_named_with_its_value(terminal: Terminal, name: str, value: str) -> None:
    (line,) = faults(terminal, **{name: value})
    assert line.startswith(f"DIGEST_{name.upper()}: ")
    assert value.rsplit(", ", maxsplit=1)[-1] in line


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("database_url", "mysql://me:secret@127.0.0.1/digest"),
        ("database_url", "not an address secret"),
        ("broker_url", "amqp://me:secret@127.0.0.1"),
        ("dkim_key", "@/no/such/place/secret.pem"),
        ("smtp_url", "http://me:secret@mail.example.com"),
    ],
)
def test_a_malformed_secret_is_named_without_its_value(terminal: Terminal, name: str, value: str) -> None:
    (line,) = faults(terminal, **{name: value})
    assert line.startswith(f"DIGEST_{name.upper()}: ")
    assert "secret" not in line


def test_a_port_out_of_range_is_named(terminal: Terminal) -> None:
    terminal.patch.setenv("PORT", "70000")
    (line,) = faults(terminal)
    assert line.startswith("PORT: ")
    assert "70000" in line


def test_settings_come_from_a_file_and_the_environment_is_above_it(terminal: Terminal) -> None:
    terminal.write(".env", "DIGEST_SITE_NAME=From the file\nDIGEST_TICK_SECONDS=7\nUNRELATED=1\n")
    terminal.set(tick_seconds=9)
    rows = {row["variable"]: row["value"] for row in terminal.read("config")}
    assert (rows["DIGEST_SITE_NAME"], rows["DIGEST_TICK_SECONDS"]) == ("From the file", "9")


def test_the_key_of_an_installation_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    first = secret_keys(Settings(), tmp_path / "var")
    assert secret_keys(Settings(), tmp_path / "var") == first
    assert len(first[0]) >= 32
    assert [file.name for file in (tmp_path / "var").iterdir()] == ["secret_key"]
    assert (tmp_path / "var" / "secret_key").stat().st_mode & 0o077 == 0


def test_a_dkim_key_may_lie_in_a_file(terminal: Terminal) -> None:
    place = terminal.write("dkim.pem", "the key")
    terminal.set(dkim_key=f"@{place}", dkim_domain="localhost.localdomain", dkim_selector="s1")
    assert load_settings().dkim_key.get_secret_value() == "the key"


def test_the_provider_of_the_settings_signs_names_its_return_paths_and_has_its_fallback(terminal: Terminal) -> None:
    terminal.set(**PUBLIC, fallback_provider="sendgrid", sendgrid_api_key="SG.test-key", bounce_address="b@example.com")
    app = build(load_settings())
    try:
        return_path = return_path_of(app.settings, app.links)
        assert return_path is not None
        assert return_path.key_in([return_path.for_key("7-20261202")]) == "7-20261202"
        assert (app.provider.name, app.provider.batch_size) == ("smtp", 50)
    finally:
        app.close()


@pytest.mark.parametrize(
    ("settings", "chinese"),
    [
        ({}, "每日简报"),
        ({"site_name": "Morning Chips"}, "Morning Chips"),
        ({"site_name": "Morning Chips", "site_name_zh": "芯片晨报"}, "芯片晨报"),
    ],
)
def test_the_site_has_a_chinese_name_unless_its_operator_gave_only_one(settings: dict[str, str], chinese: str) -> None:
    site = site_of(Settings(**settings, _env_file=None))  # type: ignore[arg-type, call-arg] # what tests give is text
    assert site.in_language(Language.CHINESE).name == chinese
    assert site.in_language(Language.ENGLISH).name == settings.get("site_name", "The Daily Brief")


@pytest.mark.parametrize(
    ("settings", "chinese"),
    [
        ({}, "出版者的通信地址（请设置 DIGEST_POSTAL_ADDRESS）"),
        ({"postal_address": "1 Example Street"}, "1 Example Street"),
        ({"postal_address": "1 Example Street", "postal_address_zh": "示例路 1 号"}, "示例路 1 号"),
    ],
)
def test_the_postal_address_may_be_given_for_readers_of_chinese(settings: dict[str, str], chinese: str) -> None:
    site = site_of(Settings(**settings, _env_file=None))  # type: ignore[arg-type, call-arg] # what tests give is text
    assert site.in_language(Language.CHINESE).postal_address == chinese
    assert site.in_language(Language.ENGLISH).postal_address == Settings(_env_file=None, **settings).postal_address  # type: ignore[call-arg, arg-type] # as above


def test_openings_can_be_counted_by_sendgrid_alone(terminal: Terminal) -> None:
    (line,) = faults(terminal, **PUBLIC, count_opens="true")
    assert line.startswith("DIGEST_COUNT_OPENS: ")
    terminal.set(**PUBLIC, count_opens="true", fallback_provider="sendgrid", sendgrid_api_key="SG.test-key")
    assert site_of(load_settings()).counts_opens
