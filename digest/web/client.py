"""Where a request came from: the socket, or what a proxy that we trust says."""

from collections.abc import Collection
from ipaddress import ip_address, ip_network
from typing import Annotated

from fastapi import Depends, Request

from digest.web.edge import edge_of


def client_address(socket: str, forwarded: str, trusted: Collection[str]) -> str:
    """The network address of the client.

    Anybody can write X-Forwarded-For, so it is read from the right, and only past proxies that the settings name.

    Args:
        socket: who opened the connection.
        forwarded: the X-Forwarded-For header.
        trusted: addresses or networks of proxies.
    """
    address = socket
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    while hops and _is_among(address, trusted):
        address = hops.pop()
    return address if _is_address(address) else ""


def _is_address(text: str) -> bool:
    try:
        return not getattr(ip_address(text), "scope_id", None)
    except ValueError:
        return False


def _is_among(address: str, networks: Collection[str]) -> bool:
    if not _is_address(address):
        return False
    found = ip_address(address)
    return any(found in ip_network(network, strict=False) for network in networks)


def remote_of(request: Request) -> str:
    """The network address that a request came from; empty where the server does not tell."""
    socket = request.client.host if request.client else ""
    forwarded = ",".join(request.headers.getlist("x-forwarded-for"))
    return client_address(socket, forwarded, edge_of(request).application.settings.trusted_proxies)


async def _remote(request: Request) -> str:
    return remote_of(request)


RemoteOf = Annotated[str, Depends(_remote)]
