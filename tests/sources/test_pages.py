"""Pages as the web has them, over a real server: their text, or a clear answer; none that robots may not read."""

import gzip
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest

from digest.domain.errors import PermanentError, TryAgainError
from digest.sources import robots
from digest.sources.fetch import WebFetcher
from digest.sources.pages import LONGEST_TEXT, WebPages
from digest.sources.robots import Robots
from tests.sources.conftest import Answer, LeadsTo, Site

ENGLISH = "The laboratory measured the chip for the {}th time and published every figure of the test on Wednesday."
CHINESE = "实验室第{}次测量了这款芯片，并在周三公布了测试的全部数据，其中包括功耗、带宽和发热。"


def article(sentence: str, times: int = 6) -> str:
    body = "".join(f"<p>{sentence.format(number)}</p>" for number in range(times))
    return f"<html><head><title>A chip</title></head><body><nav>Home</nav><article>{body}</article></body></html>"


def markup(body: bytes, kind: str = "text/html") -> Answer:
    return Answer(200, body, {"Content-Type": kind})


@pytest.fixture
def pages() -> WebPages:
    fetcher = WebFetcher(allow_private=True)
    return WebPages(fetcher, Robots(fetcher, "the-daily-brief", monotonic))


def read(pages: WebPages, site: Site, path: str = "/page") -> str:
    return pages.read(f"http://127.0.0.1:{site.port}{path}")


@pytest.mark.parametrize("kind", ["text/html; charset=gbk", "text/html"], ids=["said", "found out"])
def test_a_page_in_gbk_is_read_as_it_was_written(pages: WebPages, site: Site, kind: str) -> None:
    page = article(CHINESE).replace("<head>", '<head><meta charset="gbk">').encode("gbk")
    site.answers["/page"] = markup(page, kind)
    assert read(pages, site).split("\n")[0] == CHINESE.format(0)


def test_the_text_is_what_people_read_and_no_menu(pages: WebPages, site: Site) -> None:
    site.answers["/page"] = markup(article(ENGLISH).encode())
    assert read(pages, site).split("\n") == [ENGLISH.format(number) for number in range(6)]


@pytest.mark.parametrize(
    "answer",
    [
        markup(b""),
        markup(b"\x00" * 1000),
        markup(b"<div>" * 50_000),
        markup(article(ENGLISH).encode(), "application/pdf"),
        markup(b'{"text": "no page"}', "application/json"),
    ],
    ids=["empty", "zeros", "deep", "pdf", "json"],
)
def test_what_has_no_text_gives_none_and_breaks_nothing(pages: WebPages, site: Site, answer: Answer) -> None:
    site.answers["/page"] = answer
    assert read(pages, site) == ""


def test_a_huge_page_is_cut_and_a_bomb_is_refused(pages: WebPages, site: Site) -> None:
    site.answers["/page"] = markup(article(ENGLISH, 2000).encode())
    assert len(read(pages, site)) == LONGEST_TEXT
    bomb = gzip.compress(b"<p>" + b"x" * 50_000_000)
    site.answers["/page"] = Answer(200, bomb, {"Content-Type": "text/html", "Content-Encoding": "gzip"})
    with pytest.raises(PermanentError):
        read(pages, site)


def test_what_robots_may_not_read_is_not_asked_for_even_behind_a_redirect(pages: WebPages, site: Site) -> None:
    site.answers["/robots.txt"] = Answer(200, b"User-agent: *\nDisallow: /closed", {"Content-Type": "text/plain"})
    site.answers["/closed"] = markup(article(ENGLISH).encode())
    site.answers["/moved"] = Answer(302, b"", {"Location": "/closed"})
    for path in ("/closed", "/moved"):
        with pytest.raises(PermanentError, match="asks robots not to read"):
            read(pages, site, path)
    assert "/closed" not in [path for path, _ in site.requests]


def test_a_site_that_cannot_say_its_rules_now_is_asked_again_later(pages: WebPages, site: Site) -> None:
    site.answers |= {"/robots.txt": Answer(503), "/page": markup(article(ENGLISH).encode())}
    with pytest.raises(TryAgainError):
        read(pages, site)
    site.answers["/robots.txt"] = Answer(404)
    assert read(pages, site)


def test_a_page_inside_is_not_visited(site: Site) -> None:
    fetcher = WebFetcher()
    site.answers["/page"] = markup(article(ENGLISH).encode())
    with pytest.raises(PermanentError):
        read(WebPages(fetcher, Robots(fetcher, "the-daily-brief", monotonic)), site)
    assert site.requests == []


def test_rules_are_kept_for_so_many_sites_at_most_whoever_asks_at_once(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots, "_MOST_SITES", 2)
    fetcher = WebFetcher(resolve=lambda _host, _port: ["93.184.216.34"], network=LeadsTo(site.port))
    rules = Robots(fetcher, "the-daily-brief", monotonic)
    hosts = [f"http://news{number}.example/page" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(rules.permit, hosts * 4)) == [None] * 32
    before = len(site.requests)
    for host in hosts:
        rules.permit(host)
    assert len(site.requests) - before >= len(hosts) - 2
