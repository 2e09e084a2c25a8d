"""The operator's key: opens what readers must not, and everything stays shut where none is set."""

from hmac import compare_digest

from fastapi import Depends, HTTPException, Request

from digest.web.edge import edge_of

SCHEME = "bearer"


def require_admin(request: Request) -> None:
    """Let in who brings the admin token as bearer token (RFC 6750 §2.1).

    Raises:
        HTTPException: 404 where no token is set, as if nothing were here; 401 for a wrong or missing one.
    """
    token = edge_of(request).application.settings.admin_token.get_secret_value()
    if not token:
        raise HTTPException(404)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    # Compared as bytes, in a time that says nothing about where they differ.
    is_right = compare_digest(given.strip().encode(), token.encode())
    if scheme.lower() != SCHEME or not is_right:
        raise HTTPException(401, headers={"WWW-Authenticate": 'Bearer realm="editorial API"'})


ForAdmin = Depends(require_admin)
