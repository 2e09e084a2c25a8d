"""A name server on loopback (RFC 1035 over UDP): answers from a zone that tests fill, NXDOMAIN for all other names."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

LARGEST = 4096


@dataclass
class NameServer:
    """Names with their records, ``{"example.com": {"TXT": ['"v=spf1 -all"']}}``; it may fail at every question."""

    address: str = ""
    zone: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    fails: bool = False
    asked: list[str] = field(default_factory=list)

    def answer(self, wire: bytes) -> bytes:
        query = dns.message.from_wire(wire)
        (question,) = query.question
        name, kind = question.name.to_text(omit_final_dot=True).lower(), dns.rdatatype.to_text(question.rdtype)
        self.asked.append(f"{name} {kind}")
        response = dns.message.make_response(query, recursion_available=True)
        if self.fails:
            response.set_rcode(dns.rcode.SERVFAIL)
            return response.to_wire()
        records = self.zone.get(name)
        if records is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        elif kind in records:
            response.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, *records[kind]))
        return response.to_wire()


@contextmanager
def name_server() -> Iterator[NameServer]:
    """A name server in a thread of its own until the block ends."""
    server = NameServer()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        server.address = f"127.0.0.1:{listener.getsockname()[1]}"
        thread = threading.Thread(target=_serve, args=(listener, server))
        thread.start()
        try:
            yield server
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", listener.getsockname())
            thread.join()


def _serve(listener: socket.socket, server: NameServer) -> None:
    while True:
        wire, sender = listener.recvfrom(LARGEST)
        if not wire:
            return
        listener.sendto(server.answer(wire), sender)
