"""WARC files, written down without neardup."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

HTML = "text/html"


def record(
    kind: str,
    content: bytes,
    *,
    url: str = "",
    content_type: str = "application/http; msgtype=response",
    date: str = "2026-01-01T00:00:00Z",
    number: int | str = 1,
) -> bytes:
    lines = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <{f'urn:uuid:{number}' if isinstance(number, int) else number}>",
        f"WARC-Date: {date}",
        *([f"WARC-Target-URI: {url}"] if url else []),
        f"Content-Type: {content_type}",
        f"Content-Length: {len(content)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content + b"\r\n\r\n"


def answer(body: bytes, content_type: str = HTML, *more: str, status: str = "200 OK") -> bytes:
    lines = [
        f"HTTP/1.1 {status}",
        *([f"Content-Type: {content_type}"] if content_type else []),
        *more,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def page(
    url: str, body: bytes, *more: str, number: int | str = 1, content_type: str = HTML
) -> bytes:
    return record("response", answer(body, content_type, *more), url=url, number=number)


INFO = record("warcinfo", b"software: a crawler\r\n", content_type="application/warc-fields")
REQUEST = record("request", b"GET / HTTP/1.1\r\n\r\n", url="http://a/")
IMAGE = page("http://a/x.png", b"\x89PNG" * 2000, content_type="image/png")


def members(records: Iterable[bytes]) -> bytes:
    """Compress each record by itself, as crawlers do."""
    return b"".join(gzip.compress(one, mtime=0) for one in records)
