"""Decompression that stops at a limit, so that a small body can't become a large one unnoticed."""

import zlib
from collections.abc import Iterable

from digest.domain.errors import BadInputError, PermanentError, TryAgainError

GZIP_MARK = b"\x1f\x8b"
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_PLAIN = {"", "identity"}
_KNOWN = {"gzip", "x-gzip", "deflate"}


def inflated(chunks: Iterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """The body behind a Content-Encoding (RFC 9110 §8.4.1): gzip, deflate in both dialects, or none.

    Raises:
        PermanentError: it is longer than ``max_bytes`` once decompressed, or in another encoding.
        TryAgainError: the compressed data is damaged or ends early.
    """
    name = encoding.strip().lower()
    if name in _PLAIN:
        return _limited(chunks, max_bytes)
    if name not in _KNOWN:
        raise PermanentError(f"the server compressed the document as {name!r}, which was not asked for")
    return _inflated(chunks, max_bytes)


def gunzipped(body: bytes, max_bytes: int) -> bytes:
    """A document that is itself a gzip file (``feed.xml.gz``), unpacked; any other one as it is.

    Raises:
        BadInputError: the file is damaged.
        PermanentError: it is longer than ``max_bytes`` once unpacked.
    """
    if not body.startswith(GZIP_MARK):
        return body
    try:
        return _inflated([body], max_bytes)
    except TryAgainError as error:
        raise BadInputError("feed", "gzip file", f"{error}.") from error


def _limited(chunks: Iterable[bytes], max_bytes: int) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        _check(len(body), max_bytes)
    return bytes(body)


def _inflated(chunks: Iterable[bytes], max_bytes: int) -> bytes:
    body = bytearray()
    stream = None
    for chunk in chunks:
        stream = stream or _stream(chunk)
        try:
            body += stream.decompress(chunk, max_bytes + 1 - len(body))
        except zlib.error as error:
            raise TryAgainError(f"the compressed document is damaged: {error}") from error
        _check(len(body), max_bytes)
    if stream is not None and not stream.eof:
        raise TryAgainError("the compressed document ends early")
    return bytes(body)


def _stream(first: bytes) -> "zlib._Decompress":
    """“deflate” means zlib by the standard and raw deflate by some servers: the first byte tells."""
    is_wrapped = first.startswith(GZIP_MARK) or (len(first) > 1 and not int.from_bytes(first[:2], "big") % 31)
    return zlib.decompressobj(_GZIP_OR_ZLIB if is_wrapped else -zlib.MAX_WBITS)


def _check(length: int, max_bytes: int) -> None:
    if length > max_bytes:
        raise PermanentError(f"the document is larger than {max_bytes} bytes")
