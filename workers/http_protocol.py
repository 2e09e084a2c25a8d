"""HTTP as the server reads it: by httptools, which is quick and takes in a head of any length, with an end to that."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 64 * 1024
"""Bytes of request line and headers; four times what browsers and proxies send at most."""


class ShortHeads(HttpToolsProtocol):
    """One connection; it ends with 400 where a head has no end, which would fill memory and hold up all others.

    What counts is all that came for a request and is no body, so endless trailers are found as well.
    """

    head = 0

    def on_message_begin(self) -> None:
        """A request begins."""
        self.head = 0
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        """A part of its body, whose length is for the application to judge."""
        self.head -= len(body)
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        """Bytes from the network."""
        self.head += len(data)
        super().data_received(data)
        if self.head > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")
