"""Alert rules, dashboard and runbook are held against what the program measures and offers."""

import json
import re
from pathlib import Path

import pytest
import yaml

from digest.bootstrap import build
from digest.domain.event import EventKind
from digest.health.now import QUEUES
from digest.settings import PREFIX, Settings
from digest.web.app import create_app

PROJECT = Path(__file__).parents[2]
OPS = PROJECT / "docs" / "ops"
METRIC = re.compile(r"\b(digest_\w+|process_\w+)")
LATER = {
    "digest_last_tick_timestamp_seconds",
    "digest_examined_timestamp_seconds",
    "digest_newest_story_timestamp_seconds",
    "digest_good_morning_timestamp_seconds",
}
"""Told once there is something to tell; the tests of the metrics see them."""


@pytest.fixture(scope="module")
def measured(sqlite_template: Path) -> set[str]:
    settings = Settings(_env_file=None, database_url=f"sqlite:///{sqlite_template}", secret_keys=["k" * 20])
    application = build(settings)
    families = list(create_app(application, lambda _: None).state.metrics.collect())
    application.close()
    ends = ("", "_bucket", "_count", "_sum", "_total")
    return {f"{family.name}{end}" for family in families for end in ends} | LATER


def expressions() -> list[str]:
    rules = yaml.safe_load((OPS / "alerts.yml").read_text(encoding="utf-8"))
    dashboard = json.loads((OPS / "grafana-dashboard.json").read_text(encoding="utf-8"))
    asked = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    return asked + [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def test_rules_and_dashboard_ask_only_for_what_is_measured(measured: set[str]) -> None:
    assert len(expressions()) > 30
    for one in expressions():
        assert set(METRIC.findall(one)) <= measured, one


def test_the_dashboard_is_one_that_grafana_can_open() -> None:
    """By Grafana's dashboard schema: what a panel must have, and the values that it may have."""
    dashboard = json.loads((OPS / "grafana-dashboard.json").read_text(encoding="utf-8"))
    variables = {f"${{{one['name']}}}" for one in dashboard["templating"]["list"] if one["type"] == "datasource"}
    panels = dashboard["panels"]
    assert 8 <= len(dashboard["uid"]) <= 40
    assert isinstance(dashboard["schemaVersion"], int)
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        assert panel["type"] in {"stat", "timeseries", "bargauge"}, panel["title"]
        assert panel["datasource"]["type"] == "prometheus"
        assert {panel["datasource"]["uid"]} | {one["datasource"]["uid"] for one in panel["targets"]} <= variables
        references = [one["refId"] for one in panel["targets"]]
        assert len(set(references)) == len(references) > 0
        assert set(panel["fieldConfig"]) == {"defaults", "overrides"}
        steps = panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [{"value": None}])
        assert [step["value"] is None for step in steps] == [True] + [False] * (len(steps) - 1), panel["title"]
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert place["h"] > 0
        assert 0 < place["w"] <= place["w"] + place["x"] <= 24
        assert not cells & taken, f"{panel['title']} lies on another"
        taken |= cells


def test_labels_in_rules_are_words_of_the_program() -> None:
    text = "\n".join(expressions())
    kinds = {kind for found in re.findall(r'kind=~?"([\w|]+)"', text) for kind in found.split("|")}
    queues = {queue for found in re.findall(r'queue=~?"([\w|]+)"', text) for queue in found.split("|")}
    assert kinds <= set(EventKind)
    assert queues <= set(QUEUES)


def test_every_alert_says_what_to_do_and_its_page_exists() -> None:
    headings = set(
        re.findall(r"^### (.+)$", (PROJECT / "docs" / "production.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    rules = yaml.safe_load((OPS / "alerts.yml").read_text(encoding="utf-8"))
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        words = rule["annotations"]["description"]
        named = re.search(r"runbook: (.+)\.$", words)
        assert named is None or named[1] in headings, rule["alert"]
        assert named or "digest " in words, rule["alert"]
        assert rule["labels"]["severity"] in {"page", "ticket"}


def test_the_runbook_names_only_settings_and_commands_that_exist() -> None:
    text = (PROJECT / "docs" / "production.md").read_text(encoding="utf-8")
    fields = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | {"DIGEST_SECRETS_DIR"}
    assert set(re.findall(r"DIGEST_[A-Z_]+[A-Z]", text)) <= fields
    secrets = set(re.findall(r"secrets/(digest_\w+)", text))
    assert {name.upper() for name in secrets} <= fields
