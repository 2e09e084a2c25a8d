"""What the doctor reads in DNS, against a name server on loopback."""

from base64 import b64encode
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from digest.health.sender_dns import look_at_sender_dns, resolver_for
from digest.settings import Settings
from tests.doubles.dns import NameServer, name_server

PRIVATE = generate_private_key(65537, 2048)
PEM = PRIVATE.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
PUBLIC = b64encode(PRIVATE.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()
RELAY = "9.9.9.9"


@pytest.fixture(scope="module")
def running() -> Iterator[NameServer]:
    with name_server() as server:
        yield server


@pytest.fixture
def dns_of(running: NameServer) -> NameServer:
    """A domain with everything that mailbox providers ask for, sending over a relay of its own."""
    halves = f'"v=DKIM1; k=rsa; p={PUBLIC[:200]}" "{PUBLIC[200:]}"'
    running.fails = False
    running.zone = {
        "brief.example.com": {"TXT": ['"v=spf1 ip4:9.9.9.9 -all"'], "MX": ["10 mx.example.com."]},
        "news._domainkey.brief.example.com": {"TXT": [halves]},
        "_dmarc.example.com": {"TXT": ['"v=DMARC1; p=quarantine"']},
        "relay.example.com": {"A": [RELAY]},
        "9.9.9.9.in-addr.arpa": {"PTR": ["relay.example.com."]},
    }
    return running


def look(server: NameServer, **settings: object) -> dict[str, tuple[str, str]]:
    values = {
        "sender": "The Daily Brief <brief@brief.example.com>",
        "dns_server": server.address,
        "provider": "smtp",
        "smtp_url": "smtp://relay.example.com",
        "dkim_domain": "brief.example.com",
        "dkim_selector": "news",
        "dkim_key": PEM,
    }
    chosen = Settings(_env_file=None, **values | settings)
    found = look_at_sender_dns(chosen, resolver_for(chosen))
    return {one.check: (one.state.value, one.words) for one in found}


def test_a_complete_domain_is_well_and_the_policy_of_the_domain_above_counts(dns_of: NameServer) -> None:
    found = look(dns_of)
    assert {check: state for check, (state, _) in found.items()} == dict.fromkeys(
        ("SPF", "DKIM", "DMARC", "MX", "PTR"), "ok"
    )
    assert found["DMARC"][1] == "_dmarc.example.com: p=quarantine"


@pytest.mark.parametrize(
    ("check", "name", "records", "state", "tells"),
    [
        ("SPF", "brief.example.com", {"MX": ["10 mx.example.com."]}, "warning", "add TXT “v=spf1"),
        ("SPF", "brief.example.com", {"TXT": ['"v=spf1 a -all"', '"v=spf1 mx -all"']}, "warning", "keep one"),
        ("SPF", "brief.example.com", {"TXT": ['"v=spf1 +all"']}, "warning", "-all"),
        ("SPF", "brief.example.com", {"TXT": [f'"v=spf1 {"include:a.example " * 11}-all"']}, "warning", "look-ups"),
        ("DKIM", "news._domainkey.brief.example.com", None, "fault", "add TXT “v=DKIM1"),
        ("DKIM", "news._domainkey.brief.example.com", {"TXT": ['"v=DKIM1; p="']}, "fault", "no key"),
        (
            "DKIM",
            "news._domainkey.brief.example.com",
            {"TXT": ['"v=DKIM1; p=AAAA"']},
            "fault",
            "publish its public half",
        ),
        ("DMARC", "_dmarc.example.com", None, "warning", "“v=DMARC1; p=none” at _dmarc.brief.example.com"),
        ("DMARC", "_dmarc.example.com", {"TXT": ['"v=DMARC1; p=maybe"']}, "warning", "p=none"),
        ("MX", "brief.example.com", {"MX": ["0 ."]}, "warning", "RFC 7505"),
        ("MX", "brief.example.com", {"TXT": ['"v=spf1 -all"']}, "warning", "no MX record"),
        ("PTR", "9.9.9.9.in-addr.arpa", None, "warning", "PTR record that leads back"),
        ("PTR", "9.9.9.9.in-addr.arpa", {"PTR": ["other.example.com."]}, "warning", "PTR record that leads back"),
        ("PTR", "relay.example.com", None, "warning", "DIGEST_SMTP_URL"),
    ],
)
def test_what_is_missing_or_wrong_is_said_with_what_to_do(
    dns_of: NameServer, check: str, name: str, records: dict[str, list[str]] | None, state: str, tells: str
) -> None:
    if records is None:
        del dns_of.zone[name]
    else:
        dns_of.zone[name] = records
    found, words = look(dns_of)[check]
    assert found == state
    assert tells in words


def test_sendgrids_own_keys_are_looked_for_where_it_puts_them(dns_of: NameServer) -> None:
    def look_again() -> tuple[str, str]:
        return look(
            dns_of, provider="sendgrid", sendgrid_api_key="SG.x", dkim_domain="", dkim_selector="", dkim_key=""
        )["DKIM"]

    state, words = look_again()
    assert state == "warning"
    assert "s1._domainkey.brief.example.com" in words
    for name in ("s1", "s2"):
        dns_of.zone[f"{name}._domainkey.brief.example.com"] = {"TXT": [f'"k=rsa; p={PUBLIC[:200]}" "{PUBLIC[200:]}"']}
    assert look_again()[0] == "ok"


def test_a_name_server_that_fails_is_said_of_every_record(dns_of: NameServer) -> None:
    dns_of.fails = True
    found = look(dns_of)
    assert {state for state, _ in found.values()} == {"warning"}
    assert all("DNS gave no answer" in words for _, words in found.values())
