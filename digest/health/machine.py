"""The machine: its disk, the time zone rules, and the secrets it was given."""

import os
import re
import shutil
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryFile, gettempdir

import httpx2
from sqlalchemy import make_url

from digest.bootstrap import STATE, Application
from digest.domain.notice import Notice, Value, notice
from digest.health.findings import Finding, fault, ok, warning
from digest.settings import SHORTEST_SECRET, Settings

SYSTEM_ZONES = Path("/usr/share/zoneinfo/tzdata.zi")
SECONDS = 5.0
LITTLE, ALMOST_NOTHING = 0.1, 0.02
"""Shares of a disk that are free."""
ENOUGH = 20 * 2**30
"""Bytes; so much free is no worry, whatever share of a disk it is."""
WELL_KNOWN = re.compile(
    r"change.?me|secret|passw[o0]rd|example|default|letmein|test|admin|digest|12345|(.)\1{5}", re.IGNORECASE
)
_RELEASE = re.compile(r"20\d\d[a-z]{1,2}")


def look_at_disk(settings: Settings) -> Finding:
    """Whether there is room where this machine keeps something."""
    found = [_room(name, folder) for name, folder in _folders(settings)]
    if full := [one for one in found if one.stops]:
        return full[0]
    return next((one for one in found if one.state != "ok"), found[0])


def _folders(settings: Settings) -> Iterator[tuple[Notice, Path]]:
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
        yield notice("the database"), Path(url.database).parent
    if settings.provider == "outbox":
        yield notice("the outbox"), settings.outbox_dir
    if settings.broker_url.startswith("memory:") or not settings.secret_keys:
        yield notice("what must not be forgotten"), STATE
    yield notice("temporary files"), Path(gettempdir())


def _room(name: Notice, folder: Path) -> Finding:
    place = next(known for known in (folder.absolute(), *folder.absolute().parents) if known.exists())
    usage, nodes = shutil.disk_usage(place), os.statvfs(place)
    share = usage.free / usage.total if usage.total else 1.0
    left = nodes.f_favail / nodes.f_files if nodes.f_files else 1.0
    where: dict[str, Value] = {"folder": str(folder), "name": name}
    if why := unwritable(place):
        return fault(
            "disk",
            "{folder}, for {name}, can't be written to ({why}): free it or mend its rights",
            why=why,
            **where,
        )
    room = notice(
        "{free} MB ({share}) free for {name} in {folder}",
        free=str(usage.free // 2**20),
        share=f"{share:.0%}",
        **where,
    )
    if min(share, left) < ALMOST_NOTHING and usage.free < ENOUGH:
        return fault("disk", "{room}: free it now, or nothing can be recorded", room=room)
    if min(share, left) < LITTLE and usage.free < ENOUGH:
        return warning("disk", "{room}: free some, or keep less (DIGEST_KEEP_DAYS)", room=room)
    return ok("disk", "{room}", room=room)


def unwritable(folder: Path) -> str:
    """Why nothing can be kept in the folder; empty when it can. A folder that is not there yet is not made."""
    place = next(known for known in (folder.absolute(), *folder.absolute().parents) if known.exists())
    try:
        with TemporaryFile(dir=place) as file:
            file.write(bytes(4096))
            file.flush()
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


@cache
def tzdata_release() -> str:
    """The IANA release whose rules are in use, such as ``2026f``."""
    return _release_of(files("tzdata").joinpath("zoneinfo/tzdata.zi").read_text(encoding="ascii"))


def _release_of(text: str) -> str:
    return text.partition("\n")[0].split()[-1]


def look_at_zone_rules(newest: str, workers: str) -> Finding:
    """Which release of the rules is in use, and what is newer.

    The package is what counts; a newer copy in the system, or at IANA, says that it is time to upgrade.

    Args:
        newest: the release that IANA offers; empty where it was not asked.
        workers: the release that the workers said they use; empty where they said nothing yet.
    """
    ours = tzdata_release()
    system = _release_of(SYSTEM_ZONES.read_text(encoding="ascii")) if SYSTEM_ZONES.exists() else ""
    if newest > ours:
        return warning(
            "tzdata",
            "{ours} in use; IANA offers {newest}: upgrade the package tzdata, restart everything",
            ours=ours,
            newest=newest,
        )
    if system > ours:
        return warning(
            "tzdata", "{ours} in use; the system has {system}: upgrade the package tzdata", ours=ours, system=system
        )
    if workers and workers != ours:
        return warning(
            "tzdata",
            "{ours} here, {workers} in the workers: restart them, they read the rules once",
            ours=ours,
            workers=workers,
        )
    if not system:
        return ok("tzdata", "{ours} from the package; the system has none", ours=ours)
    return ok("tzdata", "{ours} from the package; the system's {system} is not used", ours=ours, system=system)


def newest_release(url: str) -> str:
    """The release that IANA offers; empty where it can't be learned."""
    try:
        answer = httpx2.get(url, timeout=SECONDS, follow_redirects=True)
    except (httpx2.RequestError, httpx2.InvalidURL):
        return ""
    found = _RELEASE.fullmatch(answer.text.strip()) if answer.is_success else None
    return found[0] if found else ""


def look_at_secrets(app: Application) -> Finding:
    """Whether secrets are long enough and nobody's default."""
    weak = [name for name, value in _secrets(app.settings) if len(value) < SHORTEST_SECRET or WELL_KNOWN.search(value)]
    if weak:
        return warning(
            "secrets",
            "{names}: short or a well-known word; make one with: {command} and, for keys, keep the old one behind it",
            names=weak,
            command="python3 -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    if not app.settings.secret_keys and app.settings.is_public:
        return fault("secrets", "DIGEST_SECRET_KEYS: missing; a public site needs its own")
    return ok("secrets", "none is short or well known")


def _secrets(settings: Settings) -> Iterator[tuple[Value, str]]:
    for number, key in enumerate(settings.secret_keys, 1):
        yield f"DIGEST_SECRET_KEYS ({number})", key.get_secret_value()
    if token := settings.admin_token.get_secret_value():
        yield "DIGEST_ADMIN_TOKEN", token
    if (password := make_url(settings.database_url).password) and settings.is_public:
        yield notice("the password in DIGEST_DATABASE_URL"), str(password)
