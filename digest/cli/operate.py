"""``digest migrate``, ``digest config`` and ``digest doctor``."""

from typing import Annotated, Any

import typer
from pydantic_core import PydanticUndefined

from digest.bootstrap import build
from digest.cli.context import utc_now
from digest.cli.output import AsJson, print_json, print_table, say
from digest.domain.errors import BadInputError
from digest.health.examine import examine
from digest.health.findings import as_rows
from digest.settings import PREFIX, SECRETS, Settings, load_settings
from digest.store.database import migrate, revisions


def migrate_database(
    to: Annotated[str, typer.Option(help="Revision, such as 0006; an older one goes back.")] = "",
    as_json: AsJson = False,
) -> None:
    """Bring the database to the newest schema, or to another."""
    if to and to not in revisions():
        raise BadInputError("to", to, f"is not a schema: use one of {', '.join(revisions())}.")
    app = build(load_settings())
    try:
        revision = migrate(app.engine, to or "head")
    finally:
        app.close()
    if as_json:
        print_json({"schema": revision})
    else:
        say(f"The database is at schema {revision}.")


def config(as_json: AsJson = False) -> None:
    """List every setting with type, default, meaning and the value in force."""
    settings = load_settings()
    rows = [_setting_row(name, settings) for name in Settings.model_fields]
    if as_json:
        print_json(rows)
    else:
        print_table(("variable", "value", "default", "meaning"), [_cells(row) for row in rows])


def _setting_row(name: str, settings: Settings) -> dict[str, Any]:
    field = Settings.model_fields[name]
    default = field.get_default(call_default_factory=False)
    is_secret = name in SECRETS
    value = getattr(settings, name)
    return {
        "variable": str(field.validation_alias or f"{PREFIX}{name.upper()}"),
        "type": getattr(field.annotation, "__name__", str(field.annotation)),
        "default": "" if is_secret or default is PydanticUndefined or default is None else str(default),
        "meaning": field.description,
        "value": ("(set)" if _is_set(value) else "(unset)") if is_secret else str(value),
    }


def _is_set(value: object) -> bool:
    return bool(value.get_secret_value()) if hasattr(value, "get_secret_value") else bool(value)


def _cells(row: dict[str, Any]) -> list[str]:
    return [row["variable"], row["value"], row["default"], row["meaning"]]


def doctor(as_json: AsJson = False) -> None:
    """Check what a brief depends on; exit 1 when something would stop one."""
    app = build(load_settings())
    try:
        findings = examine(app, utc_now())
    finally:
        app.close()
    if as_json:
        print_json(as_rows(findings))
    else:
        print_table(("", "check", ""), [(f.state.value, f.check, f.words) for f in findings])
    if any(finding.stops for finding in findings):
        raise typer.Exit(1)
