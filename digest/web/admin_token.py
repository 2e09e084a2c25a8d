"""The key of the editorial API: the token of somebody of the staff who may edit; shut where nobody is set."""

from typing import Annotated

from fastapi import Depends, HTTPException, Request

from digest.domain.staff import Role, Staff
from digest.store.acts import Actor
from digest.web.client import remote_of
from digest.web.edge import Edge, edge_of

SCHEME = "bearer"
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="editorial API"'}


def member_with(edge: Edge, token: str) -> Staff | None:
    """The one of the staff with this token, compared in a time that says nothing about where tokens differ."""
    return next((one for one in edge.application.settings.everyone if one.has(token)), None)


def require_editor(request: Request) -> Actor:
    """Let in who brings the token of an editor or owner as bearer token (RFC 6750 §2.1).

    Raises:
        HTTPException: 404 where nobody may sign in, as if nothing were here; 401 for a wrong or missing token, 403 for
            a viewer's, 429 for one of many wrong ones.
    """
    edge, remote = edge_of(request), remote_of(request)
    if not edge.application.settings.everyone:
        raise HTTPException(404)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    member = member_with(edge, given) if scheme.lower() == SCHEME else None
    if member is None:
        if given and (seconds := edge.admission.may_guess(remote)):
            raise HTTPException(429, "Too many wrong tokens just now.", {"Retry-After": str(seconds)})
        raise HTTPException(401, headers=CHALLENGE)
    if not member.role.may(Role.EDITOR):
        raise HTTPException(403, f"this takes the role {Role.EDITOR}, and yours is {member.role}")
    return Actor(member.name, member.role, remote)


ForEditor = Annotated[Actor, Depends(require_editor)]
