"""Fetching: what a server may answer, and what each answer means."""

import gzip
import socket
import threading
import time
import zlib
from collections.abc import Iterator

import pytest

from digest.domain.errors import PermanentError, TryAgainError
from digest.sources.fetch import WebFetcher
from tests.sources.conftest import Answer, Site

FEED = b"<rss version='2.0'><channel><title>Harbor news</title></channel></rss>"


def fetcher(timeout: float = 5, max_bytes: int = 100_000) -> WebFetcher:
    return WebFetcher(timeout, max_bytes, allow_private=True)


def at(site: Site, path: str = "/feed") -> str:
    return f"http://127.0.0.1:{site.port}{path}"


def test_a_document_comes_with_what_the_server_said_of_it(site: Site) -> None:
    headers = {"Content-Type": "text/xml", "ETag": '"a"', "Last-Modified": "Thu, 10 Jun 2027 00:00:00 GMT"}
    site.answers["/feed"] = Answer(body=FEED, headers=headers)
    fetched = fetcher().fetch(at(site))
    assert (fetched.url, fetched.body, fetched.not_modified) == (at(site), FEED, False)
    assert (fetched.content_type, fetched.etag) == ("text/xml", '"a"')
    assert fetched.last_modified == "Thu, 10 Jun 2027 00:00:00 GMT"


def test_a_known_document_that_is_unchanged_is_not_sent_again(site: Site) -> None:
    site.answers["/feed"] = lambda sent: Answer(304 if sent.get("if-none-match") == '"a"' else 200, FEED)
    assert fetcher().fetch(at(site), etag='"a"').not_modified
    assert fetcher().fetch(at(site), etag='"old"').body == FEED


def test_both_validators_are_sent_back_and_none_without_them(site: Site) -> None:
    site.answers["/feed"] = Answer(body=FEED)
    fetcher().fetch(at(site), etag='"a"', last_modified="Thu, 10 Jun 2027 00:00:00 GMT")
    fetcher().fetch(at(site))
    (_, first), (_, second) = site.requests
    assert (first["if-none-match"], first["if-modified-since"]) == ('"a"', "Thu, 10 Jun 2027 00:00:00 GMT")
    assert not {"if-none-match", "if-modified-since"} & set(second)


def test_not_modified_without_having_asked_is_a_fault_of_the_server(site: Site) -> None:
    site.answers["/feed"] = Answer(304)
    with pytest.raises(TryAgainError, match="304"):
        fetcher().fetch(at(site))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_no_of_the_server_is_permanent(site: Site, status: int) -> None:
    site.answers["/feed"] = Answer(status)
    with pytest.raises(PermanentError, match=str(status)):
        fetcher().fetch(at(site))


@pytest.mark.parametrize("status", [204, 408, 425, 429, 500, 502, 503])
def test_a_later_of_the_server_is_tried_again(site: Site, status: int) -> None:
    site.answers["/feed"] = Answer(status)
    with pytest.raises(TryAgainError, match=str(status)):
        fetcher().fetch(at(site))


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [("120", 120), ("Thu, 10 Jun 2027 00:02:00 GMT", 60), ("Wed, 09 Jun 2027 00:00:00 GMT", 0), ("soon", None)],
)
def test_the_wait_the_server_asks_for_is_passed_on(site: Site, retry_after: str, seconds: float | None) -> None:
    headers = {"Retry-After": retry_after, "Date": "Thu, 10 Jun 2027 00:01:00 GMT"}
    site.answers["/feed"] = Answer(503, headers=headers)
    with pytest.raises(TryAgainError) as caught:
        fetcher().fetch(at(site))
    assert caught.value.after_seconds == seconds


def test_compressed_documents_are_decompressed(site: Site) -> None:
    raw_deflate = zlib.compressobj(wbits=-15)
    variants = {
        "gzip": gzip.compress(FEED),
        "deflate": zlib.compress(FEED),
        "Deflate": raw_deflate.compress(FEED) + raw_deflate.flush(),
    }
    for encoding, body in variants.items():
        site.answers["/feed"] = Answer(body=body, headers={"Content-Encoding": encoding})
        assert fetcher().fetch(at(site)).body == FEED
    assert {sent["accept-encoding"] for _, sent in site.requests} == {"gzip, deflate"}


def test_a_small_body_that_unpacks_to_a_huge_one_is_refused(site: Site) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    site.answers["/feed"] = Answer(body=bomb, headers={"Content-Encoding": "gzip"})
    with pytest.raises(PermanentError, match="larger than 100000 bytes"):
        fetcher().fetch(at(site))


def test_a_body_over_the_limit_is_refused_whether_its_length_is_announced_or_not(site: Site) -> None:
    site.answers["/told"] = Answer(body=bytes(100_001))
    site.answers["/untold"] = Answer(chunks=[bytes(60_000), bytes(60_000)])
    for path in ("/told", "/untold"):
        with pytest.raises(PermanentError, match="larger"):
            fetcher().fetch(at(site, path))


def test_a_body_that_ends_early_is_tried_again(site: Site) -> None:
    site.answers["/short"] = Answer(body=FEED[:20], headers={"Content-Length": str(len(FEED))})
    site.answers["/zipped"] = Answer(body=gzip.compress(FEED)[:-12], headers={"Content-Encoding": "gzip"})
    for path in ("/short", "/zipped"):
        with pytest.raises(TryAgainError):
            fetcher().fetch(at(site, path))


def test_an_encoding_nobody_asked_for_is_refused(site: Site) -> None:
    site.answers["/feed"] = Answer(body=b"x", headers={"Content-Encoding": "br"})
    with pytest.raises(PermanentError, match="'br'"):
        fetcher().fetch(at(site))


def test_redirects_are_followed_and_the_last_address_is_told(site: Site) -> None:
    site.answers["/feed"] = Answer(301, headers={"Location": "/moved?x=1"})
    site.answers["/moved?x=1"] = Answer(302, headers={"Location": at(site, "/new")})
    site.answers["/new"] = Answer(body=FEED)
    assert fetcher().fetch(at(site)).url == at(site, "/new")


def test_a_sixth_redirect_is_one_too_many(site: Site) -> None:
    for hop in range(6):
        site.answers[f"/{hop}"] = Answer(302, headers={"Location": f"/{hop + 1}"})
    site.answers["/6"] = Answer(body=FEED)
    assert fetcher().fetch(at(site, "/1")).body == FEED
    with pytest.raises(PermanentError, match="more than 5"):
        fetcher().fetch(at(site, "/0"))


def test_no_cookie_is_kept_between_hops_or_fetches(site: Site) -> None:
    site.answers["/feed"] = Answer(302, headers={"Location": "/new", "Set-Cookie": "track=1"})
    site.answers["/new"] = Answer(body=FEED, headers={"Set-Cookie": "track=2"})
    same = fetcher()
    same.fetch(at(site))
    same.fetch(at(site))
    assert all("cookie" not in sent for _, sent in site.requests)


def test_a_server_that_drips_bytes_is_given_up_at_the_deadline(site: Site) -> None:
    clock = iter(range(1000))

    def drip() -> Iterator[bytes]:
        while True:
            yield b"x"

    site.answers["/feed"] = Answer(chunks=drip())
    slow = WebFetcher(30, 10**9, allow_private=True, clock=lambda: float(next(clock)))
    with pytest.raises(TryAgainError, match="in time"):
        slow.fetch(at(site))


def test_a_server_that_says_nothing_is_given_up_at_the_deadline(site: Site) -> None:
    gate = threading.Event()

    def hang(_: dict[str, str]) -> Answer:
        gate.wait(5)
        return Answer()

    site.answers["/feed"] = hang
    started = time.monotonic()
    try:
        with pytest.raises(TryAgainError):
            fetcher(timeout=0.2).fetch(at(site))
        assert time.monotonic() - started < 2
    finally:
        gate.set()


def test_a_dead_port_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(TryAgainError, match="could not be fetched"):
        fetcher().fetch(f"http://127.0.0.1:{port}/feed")


@pytest.mark.parametrize(
    "url",
    ["", "ftp://feeds.example/x", "file:///etc/hostname", "//feeds.example/x", "http://u:p@feeds.example/", "http://"],
)
def test_an_address_that_is_no_public_web_address_is_refused(url: str) -> None:
    with pytest.raises(PermanentError, match="can't be fetched"):
        fetcher().fetch(url)
