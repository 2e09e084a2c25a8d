"""The few files that pages refer to, named by their content so that browsers may keep them for good."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from digest.web.methods import READ

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
FOR_GOOD = "public, max-age=31536000, immutable"
BRIEFLY = "public, max-age=300"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    """One file."""

    body: bytes
    media_type: str
    version: str


class Assets:
    """The files of a folder, read once."""

    def __init__(self, folder: Path = STATIC) -> None:
        self.files: Mapping[str, Asset] = {
            file.name: _read(file) for file in sorted(folder.iterdir()) if file.suffix in TYPES
        }

    def path(self, name: str) -> str:
        """The path of a file, with its version."""
        return f"/static/{name}?v={self.files[name].version}"


def _read(file: Path) -> Asset:
    body = file.read_bytes()
    return Asset(body, TYPES[file.suffix], sha256(body).hexdigest()[:12])


@router.api_route("/static/{name}", methods=READ)
def static_file(request: Request, name: str, v: str = "") -> Response:
    """One of the files; an address with the current version may be kept for good."""
    assets: Assets = request.app.state.edge.pages.assets
    if name not in assets.files:
        raise HTTPException(404)
    asset = assets.files[name]
    keep = FOR_GOOD if v == asset.version else BRIEFLY
    return Response(asset.body, media_type=asset.media_type, headers={"Cache-Control": keep})
