"""The compose file agrees with the program, and keeps the rules of a careful installation."""

from pathlib import Path
from typing import Any

import pytest

from digest.domain.staff import Role
from digest.settings import PREFIX, SECRETS, Settings
from tests.workers.composed import OURS, PROJECT, Composed, dotenv, make_secrets
from workers.queues import MEANING

FIELDS = {str(field.validation_alias or PREFIX + name.upper()) for name, field in Settings.model_fields.items()}


@pytest.fixture(scope="module")
def composed() -> Composed:
    return Composed()


@pytest.fixture(scope="module")
def services(composed: Composed) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = composed.whole["services"]
    return found


def test_every_queue_has_a_worker_and_no_worker_asks_for_another(composed: Composed) -> None:
    asked = {
        queue
        for service in composed.services.values()
        if service.command[0] == "worker"
        for queue in service.command[service.command.index("--queues") + 1].split(",")
    }
    assert asked == set(MEANING)


def test_every_variable_is_a_setting_and_every_secret_a_secret_one(composed: Composed) -> None:
    for service in composed.services.values():
        assert set(service.environment) <= FIELDS
        assert set(service.secrets) <= {f"{PREFIX}{name}".lower() for name in SECRETS}
    assert not set(dotenv()) & {f"{PREFIX}{name.upper()}" for name in SECRETS}


def test_every_secret_setting_comes_by_file_into_every_part_that_reads_settings(composed: Composed) -> None:
    """All but the broker's address, which holds no password here: Redis is in reach of nobody else."""
    needed = {f"{PREFIX}{name}".lower() for name in SECRETS - {"broker_url"}}
    for service in composed.services.values():
        assert set(service.secrets) == needed, service.name


def test_what_runs_all_the_time_is_checked_limited_read_only_and_nobody_special(
    services: dict[str, dict[str, Any]],
) -> None:
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert {"cpus", "memory"} <= set(service["deploy"]["resources"]["limits"]), name
        assert service["pids_limit"] <= 500, name
        assert service.get("user", "10001" if service["image"] == OURS else "root") != "root", name
        assert service.get("healthcheck", {}).get("test") or name == "migrate", name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
    assert "USER 10001:10001" in (PROJECT / "Dockerfile").read_text(encoding="utf-8")


def test_redis_keeps_what_it_is_given(services: dict[str, dict[str, Any]]) -> None:
    command = services["redis"]["command"]
    assert command[command.index("--appendonly") + 1] == "yes"
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"


def test_the_secrets_that_are_named_are_made_once_and_never_changed(tmp_path: Path, composed: Composed) -> None:
    folder = make_secrets(tmp_path)
    made = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    assert set(made) == set(composed.whole["secrets"])
    assert made["postgres_password"].strip() in made["digest_database_url"]
    assert {file.read_text(encoding="utf-8") for file in make_secrets(tmp_path).iterdir()} == set(made.values())
    assert folder.stat().st_mode & 0o077 == 0


def test_a_setting_may_lie_in_a_file_and_the_environment_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_secrets(tmp_path)
    monkeypatch.chdir(tmp_path)
    (folder / "digest_smtp_url").write_text("smtp://relay.example.com\n", encoding="utf-8")
    (folder / "digest_staff").write_text("ann:editor:kO3vX9rT5mQ8zL2w\n", encoding="utf-8")
    settings = Settings(_env_file=None, _secrets_dir=folder)
    assert [(one.name, one.role) for one in settings.everyone] == [("admin", Role.OWNER), ("ann", Role.EDITOR)]
    assert settings.smtp_url.get_secret_value() == "smtp://relay.example.com"
    assert settings.sendgrid_api_key.get_secret_value() == ""
    monkeypatch.setenv("DIGEST_SMTP_URL", "smtp://other.example.com")
    assert Settings(_env_file=None, _secrets_dir=folder).smtp_url.get_secret_value() == "smtp://other.example.com"
