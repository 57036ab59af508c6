"""What a server answered → the page it meant, as UTF-8.

What enters: the block of a WARC record, and what the record says of it. What leaves: the page's bytes, valid UTF-8, or
the reason why there are none. Chunks are put together, gzip and deflate unpacked; a body that is not what its headers
say is taken as it is, as browsers take it. Text that is no UTF-8 is what faust-cchardet guesses, if it can be decoded
so without an error: decisions, and texts, of datatrove 0.10.1's WarcReader.

One thing is told in another way: where nobody wrote down what a payload was found to be, datatrove asks libmagic, which
no wheel carries; here the server's own word counts, and only where it said nothing the page's first tag.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from gristmill.errors import SourceError
from gristmill.sources.rows import CHARSET, CONTENT_ENCODING, CONTENT_TYPE, HTTP, TOO_LONG

Headers = Mapping[bytes, bytes]  # names in lower case; the first one of each

MOST_PAGE_BYTES = 64 << 20
HTML_TYPES = (b"text/html", b"application/xhtml+xml")
_PLAIN_TYPE = b"text/plain"
_WINDOW_BITS = {  # what zlib is asked to try; many send deflated data without zlib's head and foot
    b"gzip": (zlib.MAX_WBITS | 16,),
    b"x-gzip": (zlib.MAX_WBITS | 16,),
    b"deflate": (zlib.MAX_WBITS, -zlib.MAX_WBITS),
}
_COMPRESSED = (b"br", b"zstd", b"compress", b"x-compress")  # what nothing here unpacks
_STEP_BYTES = 64 << 10
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LINE_END = re.compile(rb"\r?\n(?![ \t])")  # a line that begins with white space goes on with the one before
_CHUNK_HEAD = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]{0,40})?\r\n")
# A page's first tag, as https://mimesniff.spec.whatwg.org tells it.
_FIRST_TAG = re.compile(
    rb"[\t\n\f\r ]*(?:<!--|<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >])",
    re.IGNORECASE,
)


class NoPageError(Exception):
    """There is no page; `reason` is the verdict, one of rows.REASONS."""

    def __init__(self, reason: int) -> None:
        self.reason = reason
        super().__init__(reason)


def require_charset_detection(path: str) -> None:
    """Raises SourceError where the package is missing that tells how old pages are encoded."""
    if find_spec("cchardet") is None:
        raise SourceError(
            f"expected the package faust-cchardet, which WARC files need, found none: {path}\n"
            "  Run `pip install 'gristmill[html]'`."
        )


def parse_headers(head: bytes) -> Headers:
    """The headers behind the first line."""
    found: dict[bytes, bytes] = {}
    for line in _LINE_END.split(head)[1:]:
        name, colon, value = line.partition(b":")
        if colon:
            found.setdefault(name.strip().lower(), value.strip())
    return found


def is_page(record: Headers) -> bool | None:
    """Whether the record holds one, as far as its own headers tell; None where its content has to tell."""
    identified = record.get(b"warc-identified-payload-type")
    if identified is None:
        return None
    return _is_wanted(_media_type(identified), record)


def page(record: Headers, block: bytes) -> bytes:
    """The page in the block of a `response` or `conversion`. Raises NoPageError."""
    answer: Headers = {}
    body = block
    if record[b"warc-type"] == b"response" and target(record).startswith((b"http:", b"https:")):
        end = _HEAD_END.search(block)
        if not block.startswith(b"HTTP/"):
            raise NoPageError(HTTP)
        answer, body = parse_headers(block[: end.start()] if end else block), block[end.end() :] if end else b""
        declared = answer.get(b"content-type")
    else:
        declared = record.get(b"content-type")
    known = is_page(record)
    if known is None and declared is not None:
        known = _is_wanted(_media_type(declared), record)
    if known is False:
        raise NoPageError(CONTENT_TYPE)
    body = _decoded(body, answer)
    if known is None and not _FIRST_TAG.match(body):
        raise NoPageError(CONTENT_TYPE)
    return _as_utf8(body)


def target(record: Headers) -> bytes:
    """The address that was asked. wget 1.19 wrote it in angle brackets."""
    uri = record.get(b"warc-target-uri", b"")
    return uri[1:-1] if uri.startswith(b"<") and uri.endswith(b">") else uri


def _media_type(value: bytes) -> bytes:
    return value.partition(b";")[0].strip().lower()


def _is_wanted(media_type: bytes, record: Headers) -> bool:
    return media_type in HTML_TYPES or (record[b"warc-type"] == b"conversion" and media_type == _PLAIN_TYPE)


def _decoded(body: bytes, answer: Headers) -> bytes:
    if answer.get(b"transfer-encoding", b"").lower() == b"chunked":
        body = b"".join(_chunks(body))
    encoding = answer.get(b"content-encoding", b"").lower()
    if encoding in _COMPRESSED:
        raise NoPageError(CONTENT_ENCODING)
    for window_bits in _WINDOW_BITS.get(encoding, ()):
        inflated = _inflated(body, window_bits)
        if inflated is not None:
            return inflated
    return body


def _chunks(body: bytes) -> Iterator[bytes]:
    """The chunks, and from where no chunk begins, all that is left."""
    at = 0
    while head := _CHUNK_HEAD.match(body, at):
        size = int(head[1], 16)
        if size == 0:
            return
        yield body[head.end() : head.end() + size]
        at = head.end() + size
        if not body.startswith(b"\r\n", at):
            break
        at += 2
    yield body[at:]


def _inflated(data: bytes, window_bits: int) -> bytes | None:
    """What comes out before the data ends or breaks; None where it is no such data."""
    decoder = zlib.decompressobj(window_bits)
    parts: list[bytes] = []
    size = 0
    for start in range(0, len(data), _STEP_BYTES):
        try:
            part = decoder.decompress(data[start : start + _STEP_BYTES], MOST_PAGE_BYTES + 1 - size)
        except zlib.error:
            return b"".join(parts) if size else None
        parts.append(part)
        size += len(part)
        if size > MOST_PAGE_BYTES:
            raise NoPageError(TOO_LONG)
        if decoder.eof:
            break
    return b"".join(parts)


def _as_utf8(body: bytes) -> bytes:
    try:
        body.decode()
    except UnicodeDecodeError:
        import cchardet

        encoding = cchardet.detect(body)["encoding"]
        if not encoding or encoding == "UTF-8":
            raise NoPageError(CHARSET) from None
        try:
            return body.decode(encoding).encode("utf-8", "ignore")
        except (UnicodeDecodeError, LookupError):
            raise NoPageError(CHARSET) from None
    return body
