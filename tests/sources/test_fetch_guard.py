"""SEC-03 and the rest of the guard against being led inside (server-side request forgery)."""

import ipaddress
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from digest.domain.errors import PermanentError, TryAgainError
from digest.sources.fetch import WebFetcher
from digest.sources.public_hosts import is_public
from tests.sources.conftest import Answer, LeadsTo, Site, serve

PUBLIC = "93.184.216.34"
PUBLIC_V6 = "2606:2800:220:1::34"
SPECIAL = (
    "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.168.0.1 "
    "198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:10.0.0.1 "
    "64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1::1 3fff::1 fc00::1 fd12::1 fe80::1 fec0::1 "
    "ff02::1"
)


class Names:
    """A resolver: each look-up of a name takes its next answer; the last one stays."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(found) for name, found in answers.items()}
        self.asked: list[str] = []

    def __call__(self, host: str, _port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self._answers:
            raise OSError("name or service not known")
        answers = self._answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def guarded(names: Names, network: LeadsTo, ssl_context: ssl.SSLContext | None = None) -> WebFetcher:
    return WebFetcher(5, 100_000, resolve=names, network=network, ssl_context=ssl_context)


def test_a_public_host_is_fetched_at_the_address_that_was_checked(site: Site) -> None:
    names, network = Names(feeds_example=[[PUBLIC, PUBLIC_V6]]), LeadsTo(site.port)
    site.answers["/feed"] = Answer(body=b"x")
    assert guarded(names, network).fetch("http://feeds.example/feed").body == b"x"
    assert network.asked == [(PUBLIC, 80)]
    assert names.asked == ["feeds.example"]
    assert site.requests[0][1]["host"] == "feeds.example"


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://inside.example/",
        "http://10.0.0.1/",
    ],
)
def test_sec_03_a_redirect_inside_is_not_followed(site: Site, target: str) -> None:
    names, network = Names(feeds_example=[[PUBLIC]], inside_example=[["192.168.1.4"]]), LeadsTo(site.port)
    site.answers["/feed"] = Answer(302, headers={"Location": target})
    with pytest.raises(PermanentError, match="not on the public internet"):
        guarded(names, network).fetch("http://feeds.example/feed")
    assert network.asked == [(PUBLIC, 80)]


def test_sec_03_a_redirect_to_another_port_is_not_followed(site: Site) -> None:
    names, network = Names(feeds_example=[[PUBLIC]]), LeadsTo(site.port)
    site.answers["/feed"] = Answer(301, headers={"Location": "http://[::1]:8000/"})
    with pytest.raises(PermanentError, match="only ports 80 and 443"):
        guarded(names, network).fetch("http://feeds.example/feed")
    assert network.asked == [(PUBLIC, 80)]


def test_sec_03_a_second_dns_answer_is_never_connected_to(site: Site) -> None:
    names, network = Names(feeds_example=[[PUBLIC], ["127.0.0.1"]]), LeadsTo(site.port)
    site.answers["/feed"] = Answer(302, headers={"Location": "/again"})
    with pytest.raises(PermanentError, match="not on the public internet"):
        guarded(names, network).fetch("http://feeds.example/feed")
    assert network.asked == [(PUBLIC, 80)]


def test_sec_03_a_name_with_one_private_address_is_refused_whole(site: Site) -> None:
    names, network = Names(feeds_example=[[PUBLIC, "::1"]]), LeadsTo(site.port)
    with pytest.raises(PermanentError, match="::1"):
        guarded(names, network).fetch("http://feeds.example/feed")
    assert network.asked == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://[::1]/", "http://[fe80::1]/", "http://0.0.0.0/", "https://100.64.0.1/"]
)
def test_a_private_literal_is_refused_without_a_look_up(site: Site, url: str) -> None:
    names, network = Names(), LeadsTo(site.port)
    with pytest.raises(PermanentError):
        guarded(names, network).fetch(url)
    assert network.asked == []
    assert names.asked == []


@pytest.mark.parametrize(
    "url", ["http://2130706433/", "http://0x7f.1/", "http://127.1/", "http://0177.0.0.1/", "http://localhost/"]
)
def test_other_spellings_of_loopback_are_refused_by_what_they_resolve_to(site: Site, url: str) -> None:
    network = LeadsTo(site.port)
    with pytest.raises(PermanentError):
        WebFetcher(5, 1000, network=network).fetch(url)
    assert network.asked == []


def test_a_name_that_does_not_exist_may_exist_later(site: Site) -> None:
    with pytest.raises(TryAgainError, match="no address"):
        guarded(Names(), LeadsTo(site.port)).fetch("http://feeds.example/")


@pytest.mark.parametrize("address", SPECIAL.split())
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "172.32.0.1", "100.128.0.1", "223.255.255.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_ordinary_addresses_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def certificate(folder: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """A self-signed certificate for ``name`` in a file, and a context that trusts it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    start = datetime(2020, 1, 1, tzinfo=UTC)
    built = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=36500))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "server.pem"
    file.write_bytes(private + built.public_bytes(serialization.Encoding.PEM))
    return file, ssl.create_default_context(cadata=built.public_bytes(serialization.Encoding.PEM).decode())


def test_a_pinned_connection_still_proves_the_name_of_the_host(tmp_path: Path) -> None:
    file, trusting = certificate(tmp_path, "feeds.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    seen: list[str | None] = []
    server.sni_callback = lambda _socket, name, _context: seen.append(name)
    with serve(lambda plain: server.wrap_socket(plain, server_side=True)) as site:
        site.answers["/feed"] = Answer(body=b"x")
        names = Names(feeds_example=[[PUBLIC]], other_example=[[PUBLIC]])
        network = LeadsTo(site.port)
        assert guarded(names, network, trusting).fetch("https://feeds.example/feed").body == b"x"
        with pytest.raises(TryAgainError, match="certificate"):
            guarded(names, network, trusting).fetch("https://other.example/feed")
    assert seen == ["feeds.example", "other.example"]
    assert network.asked == [(PUBLIC, 443), (PUBLIC, 443)]
