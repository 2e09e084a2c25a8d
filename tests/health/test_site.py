"""The site as readers reach it, over real TLS, and providers that are asked and given nothing."""

import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from digest.health.machine import newest_release
from digest.health.public_site import look_at_site
from digest.links import Links
from digest.providers.probes import probe_sendgrid, probe_smtp
from tests.certificates import certificate_for
from tests.doubles.sendgrid import KEY, SendGridDouble
from tests.doubles.smtp import SmtpDouble
from tests.servers import free_port

NOW = datetime.now(UTC)


@dataclass
class Proxy:
    """What a reverse proxy does with our addresses."""

    url: str = ""
    trust: ssl.SSLContext | None = None
    get_status: int = 200
    post_status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    posted: list[tuple[str, bytes]] = field(default_factory=list)

    def look(self) -> dict[str, tuple[str, str]]:
        links = Links(self.url, ["a-key-of-enough-length"])
        return {one.check: (one.state.value, one.words) for one in look_at_site(links, NOW, self.trust)}


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    heard = Proxy()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the base class finds it by this name
            self.answer(heard.get_status)

        def do_POST(self) -> None:  # likewise
            heard.posted.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer(heard.post_status)

        def answer(self, status: int) -> None:
            self.send_response(status)
            for name, value in {**heard.headers, "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pem = certificate_for("127.0.0.1", tmp_path / "server.pem", NOW + timedelta(days=5))
    wrapping = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    wrapping.load_cert_chain(pem)
    server.socket = wrapping.wrap_socket(server.socket, server_side=True)
    heard.url, heard.trust = f"https://127.0.0.1:{server.server_address[1]}", ssl.create_default_context(cafile=pem)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield heard
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_site_is_asked_over_https_and_nobody_is_unsubscribed_by_one_click(proxy: Proxy) -> None:
    found = proxy.look()
    assert found["one-click"] == ("ok", f"{proxy.url}/unsubscribe/… takes a POST")
    ((path, body),) = proxy.posted
    assert Links(proxy.url, ["a-key-of-enough-length"]).read_unsubscribe(path.rpartition("/")[2]) == 0
    assert body == b"List-Unsubscribe=One-Click"
    assert found["site"] == (
        "warning",
        f"the certificate of {proxy.url} ends on {NOW + timedelta(days=5):%Y-%m-%d}: renew it",
    )


def test_what_a_proxy_does_wrong_is_said_with_what_to_do(proxy: Proxy) -> None:
    proxy.post_status, proxy.headers = 301, {"Location": "/elsewhere"}
    assert "redirects a POST, which mail clients don't follow" in proxy.look()["one-click"][1]
    proxy.post_status, proxy.headers = 403, {}
    assert "answers 403 to a POST: let POST through the proxy" in proxy.look()["one-click"][1]
    proxy.post_status, proxy.headers = 200, {"Set-Cookie": "a=b"}
    assert "sets a cookie" in proxy.look()["one-click"][1]
    proxy.get_status, proxy.headers = 301, {"Location": "https://www.example.com/"}
    assert "set DIGEST_BASE_URL to where it leads" in proxy.look()["site"][1]
    proxy.get_status, proxy.headers = 502, {}
    assert proxy.look()["site"] == (
        "fault",
        f"{proxy.url}/healthz answers 502: see that digest web runs and the proxy finds it",
    )
    proxy.trust = None
    state, words = proxy.look()["site"]
    assert state == "fault"
    assert "certificate" in words


def test_sendgrid_is_asked_for_the_keys_permissions_and_sent_nothing() -> None:
    with SendGridDouble() as double:
        now = datetime.now(UTC)
        assert str(probe_sendgrid(KEY, double.host, now).ready) == "the key may send mail (3 permissions)"
        refused = str(probe_sendgrid("SG.other", double.host, NOW).refused)
        assert refused.startswith("401 the API key was refused: The provided")
        assert "clock differs" in str(probe_sendgrid(KEY, double.host, NOW + timedelta(hours=1)).doubt)
        double.scopes = ["templates.read"]
        probed = probe_sendgrid(KEY, double.host, NOW)
        assert (str(probed.refused), "with Mail Send" in str(probed.mend)) == ("the API key may not send mail", True)
        assert (double.requests, double.delivered) == (0, [])
    away = probe_sendgrid(KEY, f"http://127.0.0.1:{free_port()}", NOW)
    assert str(away.refused) == "no answer (ConnectError)"


def test_a_relay_is_logged_in_to_and_given_nothing() -> None:
    with SmtpDouble(password="right") as double:
        assert str(probe_smtp(double.url).ready) == "localhost answers, logged in"
        probed = probe_smtp(double.url.replace("right", "wrong"))
        assert str(probed.refused).startswith("535")
        assert "see user, password and TLS in DIGEST_SMTP_URL" in str(probed.mend)
        assert double.taken == []
    assert "see that it runs" in str(probe_smtp(f"smtp://127.0.0.1:{free_port()}").mend)


def test_the_newest_release_of_the_zone_rules_is_read_and_anything_else_is_no_answer(proxy: Proxy) -> None:
    assert newest_release(f"http://127.0.0.1:{free_port()}/version") == ""
    assert newest_release(proxy.url) == ""
