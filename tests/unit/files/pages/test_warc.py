from __future__ import annotations

import gzip
import zlib

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.files.formats import file_source
from neardup.files.rows import ColumnNames
from neardup.files.warc import WarcSource
from neardup.options.groups import InputOptions
from tests.each import each_of
from tests.warcs import IMAGE, INFO, REQUEST, answer, members, page, record

A = page("http://a/", b"<p>one", number=1)
B = page("http://b/", b"<title>t</title><p>two", number=2)
WET = record("conversion", "drei é".encode(), url="http://c/", content_type="text/plain", number=3)
FILE = record("resource", b"<i>four", url="file:///d", content_type="text/html", number=4)
ALL = [INFO, REQUEST, A, IMAGE, B, WET, FILE]


def source_of(make_file, data: bytes, name: str = "a.warc", size: int = 1 << 20, **options):
    # The bytes are compressed already where they are to be.
    path = make_file("plain", data).rename(make_file(name, b"").parent / name)
    return WarcSource(str(path), name, InputOptions(**options), block_bytes=size)


def rows_of(source, **settings):
    found = []
    for block in source.blocks():
        rows = block.parse(ColumnNames(id="id"), **settings)
        columns = block.numbers.tolist(), rows.id.to_pylist(), rows.text.to_pylist()
        found += list(zip(*columns, strict=True))
    return found


def text_of(make_file, data: bytes, **options) -> str:
    [(_, _, text)] = rows_of(source_of(make_file, data, **options))
    return text


@pytest.mark.parametrize("size", [1, 7, 100, 1000, 1 << 20])
@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_warc__pages_are_rows(make_file, name, size):
    data = members(ALL) if name.endswith(".gz") else b"".join(ALL)
    assert rows_of(source_of(make_file, data, name, size)) == [
        (3, "urn:uuid:1", "one"),
        (5, "urn:uuid:2", "two"),
        (6, "urn:uuid:3", "drei é"),
        (7, "urn:uuid:4", "four"),
    ]


def test_warc__columns(make_file):
    [block] = source_of(make_file, b"".join(ALL)).blocks()
    table = block.to_table(np.array([True, False, False, True]))
    assert table.to_pylist() == [
        {
            "id": "urn:uuid:1",
            "text": "one",
            "url": "http://a/",
            "host": "a",
            "status": 200,
            "content_type": "text/html",
            "language": None,
            "date": "2026-01-01T00:00:00Z",
            "record_id": "urn:uuid:1",
        },
        {
            "id": "urn:uuid:4",
            "text": "four",
            "url": "file:///d",
            "host": None,
            "status": None,
            "content_type": "text/html",
            "language": None,
            "date": "2026-01-01T00:00:00Z",
            "record_id": "urn:uuid:4",
        },
    ]
    with pytest.raises(InvalidInputError, match=r"'Url'; .*'id', 'text', 'url'"):
        block.parse(ColumnNames(id="Url"))
    assert block.some_columns(["no", "host", "host"]).column_names == ["host"]
    columns = ColumnNames(id="record_id", order="date")
    rows = block.parse(columns, select=np.array([False, True, False, False]))
    assert rows.text.to_pylist() == ["two"]
    assert rows.id.to_pylist() == ["urn:uuid:2"]
    assert rows.order.to_pylist() == ["2026-01-01T00:00:00Z"]


@each_of(
    ("url", "host"),
    [
        ("http://a/", "a"),
        ("https://user:word@WWW.Example.org:8080/x?y#z", "www.example.org"),
        ("<http://a.b/>", "a.b"),
        ("http://[::1]:80/", "::1"),
        ("http://[broken/", None),
        ("urn:uuid:1", None),
    ],
)
def test_warc__host(make_file, url, host):
    [block] = source_of(make_file, page(url, b"x")).blocks()
    assert block.some_columns(["host"]).column(0).to_pylist() == [host]


@each_of(
    ("line", "status"),
    [
        (b"HTTP/1.1 404 Not Found", 404),
        (b"HTTP/2 301", 301),
        (b"HTTP/1.0\t200 OK", 200),
        (b"HTTP/1.1 2000 OK", None),
        (b"200 OK", None),
    ],
)
def test_warc__status(make_file, line, status):
    content = line + b"\r\nContent-Type: text/html; charset=utf-8\r\n\r\nx"
    data = record("response", content, url="http://a/")
    [block] = source_of(make_file, data).blocks()
    table = block.some_columns(["status", "content_type", "text"])
    assert table.to_pylist() == [{"status": status, "content_type": "text/html", "text": "x"}]


def test_warc__language(make_file):
    answered = page("http://a/", b"x", "Content-Language: de-CH")
    head, _, content = WET.partition(b"\r\n\r\n")
    found = head + b"\r\nWARC-Identified-Content-Language: deu" + b"\r\n\r\n" + content
    [block] = source_of(make_file, answered + found + B).blocks()
    assert block.some_columns(["language"]).column(0).to_pylist() == ["de-CH", "deu", None]


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "a.warc.zst"])
def test_warc__records_are_written_as_they_are(make_file, write_rows, read_back, name):
    data = members(ALL) if name.endswith(".gz") else b"".join(ALL)
    path = make_file(name, data) if name.endswith(".zst") else None
    if path is None:
        source = source_of(make_file, data, name)
    else:
        source = file_source(str(path), name)
    written = write_rows(source, lambda index: index % 2 == 0)
    assert read_back(written) == INFO + A + WET
    if name.endswith(".gz"):
        first = zlib.decompressobj(31)
        assert first.decompress(written.read_bytes()) == INFO
        assert gzip.decompress(first.unused_data) == A + WET


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (gzip.compress(b"<p>x", mtime=0), ["Content-Encoding: gzip"]),
        (b"<p>x", ["Content-Encoding: gzip"]),
        (zlib.compress(b"<p>x"), ["Content-Encoding: deflate"]),
        (pa.Codec("brotli").compress(b"<p>x").to_pybytes(), ["content-encoding: BR"]),
        (pa.Codec("zstd").compress(b"<p>x").to_pybytes(), ["Content-Encoding: zstd"]),
        (b"2\r\n<p\r\n2\r\n>x\r\n0\r\n\r\n", ["Transfer-Encoding: chunked"]),
        (b"<p>x", ["Transfer-Encoding: chunked"]),
        (b"<p>x", ["Content-Encoding: identity"]),
    ],
)
def test_warc__as_it_was_sent(make_file, body, headers):
    assert text_of(make_file, page("http://a/", body, *headers)) == "x"


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/html; charset=windows-1251", b"<meta charset=latin1>\xe6", "ж"),
        ('text/html;charset="utf-8"', "é".encode(), "é"),
        ("text/html", b"<meta charset=latin1>\xe9", "é"),
        ("TEXT/PLAIN; charset=latin1", b"<meta charset=utf-8>\xe9", "<meta charset=utf-8>é"),
        ("application/xhtml+xml", b"<p>x</p>", "x"),
    ],
)
def test_warc__encoding_and_kind_are_of_the_header(make_file, content_type, body, expected):
    assert text_of(make_file, page("http://a/", body, content_type=content_type)) == expected


def test_warc__options(make_file):
    data = page("http://a/", b"\x82", content_type="text/html")
    assert text_of(make_file, data, encoding="cp437") == "é"


@pytest.mark.parametrize(
    ("body", "header", "reason"),
    [
        (b"\x1f\x8bnonsense", "Content-Encoding: gzip", "cannot be decoded"),
        (b"nonsense", "Content-Encoding: br", "cannot be decoded"),
        (b"x", "Content-Encoding: exi", "cannot be decoded"),
        (b"2\r\nab\r\nzz\r\n", "Transfer-Encoding: chunked", "cannot be decoded"),
        (b"2;a=b\r\nab\r\n0\r\n\r\n", "Transfer-Encoding: chunked", "cannot be decoded"),
        (b"\xe9", "X: y", "names none"),
        (b"<div>" * 100_000, "X: y", "deep in others"),
    ],
)
def test_warc__page_that_cannot_be_read_is_a_bad_row(make_file, body, header, reason):
    source = source_of(make_file, A + page("http://b/", body, header) + WET)
    with pytest.raises(InvalidInputError, match=reason) as caught:
        rows_of(source)
    assert (caught.value.row, caught.value.is_bad_row) == (2, True)
    assert [text for _, _, text in rows_of(source, skip_bad=True)] == ["one", None, "drei é"]


@pytest.mark.parametrize("codec", ["gzip", "br", "zstd"])
def test_warc__compressed_bomb_is_a_bad_row(make_file, codec):
    body = pa.Codec({"br": "brotli"}.get(codec, codec)).compress(b"<br>" * 20_000_000).to_pybytes()
    source = source_of(make_file, page("http://a/", body, f"Content-Encoding: {codec}"))
    with pytest.raises(InvalidInputError, match="longer than 64 MB"):
        rows_of(source)


@pytest.mark.parametrize("size", [50, 1 << 20])
@pytest.mark.parametrize(
    ("data", "row", "reason"),
    [
        (b"<html>no WARC", 1, "not a valid"),
        (A + b"nonsense", 2, "not a valid"),
        (A.replace(b"Content-Length", b"Content-Size", 1), 1, "no length"),
        (A.replace(b"Content-Length: ", b"Content-Length: -"), 1, "no length"),
        (A + b"WARC/1.1\r\nX: " + b"y" * 200, 2, "no length"),
        (b"WARC/1.1\r\n" + b"X: y\r\n" * 20_000, 1, "header length"),
    ],
)
def test_warc__damaged_file(make_file, data, row, reason, size):
    with pytest.raises(InvalidInputError, match=reason) as caught:
        rows_of(source_of(make_file, data, size=size))
    assert caught.value.row == row


def test_warc__record_that_is_cut_short(make_file):
    source = source_of(make_file, INFO + A[:-10])
    with pytest.raises(InvalidInputError, match="ends within"):
        rows_of(source)


def test_warc__long_records_that_are_no_rows_are_not_held(make_file):
    image = page("http://i/", b"\0" * 5_000_000, content_type="image/png")
    source = source_of(make_file, INFO + image + A, size=1000)
    sizes = [len(block.raw.data) for block in source.blocks()]
    assert rows_of(source) == [(3, "urn:uuid:1", "one")]
    assert max(sizes) < 200_000


def test_warc__record_without_an_id(make_file):
    """It goes by its address, and is bad without."""
    for url in ("http://a/", ""):
        data = page(url, b"<p>a").replace(b"WARC-Record-ID: <urn:uuid:1>\r\n", b"")
        source = source_of(make_file, data)
        if url:
            assert rows_of(source) == [(1, url, "a")]
            continue
        with pytest.raises(InvalidInputError, match=r"'id'.*null"):
            rows_of(source)


def test_warc__twice_crawled(make_file):
    again = page("http://a/", b"<p>other", number=9)
    path = make_file("a.warc", A + again)
    result = neardup.deduplicate(path)
    assert result.kept.column("id").to_pylist() == ["urn:uuid:1", "urn:uuid:9"]
    assert result.kept.column("url").to_pylist() == ["http://a/"] * 2
    with pytest.raises(InvalidInputError, match=r"'http://a/' .*used before.*read=.*id_column="):
        neardup.deduplicate(path, read=neardup.ReadOptions(id_column="url"))


def test_warc__cut_refuses(make_file):
    with pytest.raises(InvalidInputError, match=r"be cut .*WARC"):
        neardup.cut(make_file("a.warc", A))


def test_warc__answers_without_a_type_are_no_rows(make_file):
    data = record("response", answer(b"x", ""), url="http://a/") + record("response", b"junk")
    assert rows_of(source_of(make_file, data)) == []
