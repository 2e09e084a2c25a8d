"""Which hosts a fetch may connect to: only those whose every address is on the public internet (CWE-918)."""

import ipaddress
import socket
from collections.abc import Callable, Sequence

from digest.domain.errors import PermanentError, TryAgainError, shown

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Sequence[str]]
"""From a host name and a port to its addresses; raises OSError where there are none."""

# The IANA special-purpose registries. Python's own `is_private` has changed its mind between patch releases.
_CLOSED_V4 = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
_OPEN_V6 = ipaddress.ip_network("2000::/3")
_CLOSED_V6 = tuple(
    ipaddress.ip_network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether the address is global unicast; one that carries an IPv4 address inside is judged by that."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = _inner_v4(address)
        if inner is None:
            return address in _OPEN_V6 and not any(address in network for network in _CLOSED_V6)
        address = inner
    return not any(address in network for network in _CLOSED_V4)


def _inner_v4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host by the system's resolver, each once, in its order of preference."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def addresses_of(host: str, port: int, resolve: Resolve, *, allow_private: bool) -> list[str]:
    """The checked addresses of a host, to be connected to as they are and not looked up again.

    Raises:
        PermanentError: one of them is not public. All are refused then: a name that mixes both is an attack or a fault.
        TryAgainError: the name has no address now.
    """
    literal = _literal(host)
    try:
        found = [str(literal)] if literal else list(resolve(host, port))
    except (OSError, UnicodeError) as error:
        raise TryAgainError(f"no address found for {shown(host)}: {error}") from error
    if not found:
        raise TryAgainError(f"no address found for {shown(host)}")
    closed = [address for address in found if not is_public(ipaddress.ip_address(address.partition("%")[0]))]
    if closed and not allow_private:
        raise PermanentError(f"{shown(host)} is at {closed[0]}, which is not on the public internet; not fetched")
    return found


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
