"""WARC files for tests, written record by record."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence


def record(kind: str, block: bytes, number: int = 0, **headers: str) -> bytes:
    """One record. Its id and address are made from its number; keywords are more headers, `_` written for `-`."""
    head = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{number}>",
        "WARC-Target-URI": f"http://mill.example/{number}",
        "WARC-Date": "2026-01-02T03:04:05Z",
        **{name.replace("_", "-"): value for name, value in headers.items()},
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items() if value)
    return b"WARC/1.0\r\n" + lines.encode() + b"\r\n" + block + b"\r\n\r\n"


def answer(body: bytes, headers: Mapping[str, str] | None = None, status: str = "200 OK") -> bytes:
    """What a server says, HTML unless the headers say something else."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {"Content-Type": "text/html"}).items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def page(body: bytes, number: int = 0, **headers: str) -> bytes:
    """A record of an HTML page."""
    return record("response", answer(body), number, **headers)


def chunked(body: bytes, size: int) -> bytes:
    """The body as chunks of a size."""
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x;name=value\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def members(records: Sequence[bytes]) -> bytes:
    """Each record a gzip member of its own, as crawlers write them."""
    return b"".join(map(gzip.compress, records))
