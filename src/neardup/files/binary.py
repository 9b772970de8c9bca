"""Names of binary files by their first bytes."""

from __future__ import annotations

HEAD_BYTES = 1 << 12
"""How much of a file is looked at."""

_CONVERT = "not text; convert it to text first, for example with"
_FORMAT = "not text; read it with input_format {0} (--input-format {0})"
_ENCODED = "text in {0}; read it with encoding {0} (--encoding {0})"

# First bytes of files, and the kind of file.
_BEGINNINGS = (
    (b"%PDF-", f"a PDF document, {_FORMAT.format('pdf')}"),
    (
        b"PK\x03\x04",
        "a ZIP archive, as .docx, .xlsx, .odt and .epub files are, not text; let its name end in "
        "what it is, such as .zip, or convert it to text first",
    ),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"a Microsoft Office document, {_CONVERT} LibreOffice"),
    (b"{\\rtf", f"an RTF document, {_CONVERT} pandoc"),
    (b"\xff\xfe\0\0", _ENCODED.format("utf-32")),
    (b"\0\0\xfe\xff", _ENCODED.format("utf-32")),
    (b"\xff\xfe", _ENCODED.format("utf-16")),
    (b"\xfe\xff", _ENCODED.format("utf-16")),
    (b"WARC/", f"a crawl, {_FORMAT.format('warc')}"),
    (b"PAR1", f"a Parquet file, {_FORMAT.format('parquet')}"),
    (b"ARROW1", f"an Arrow file, {_FORMAT.format('arrow')}"),
    (b"\x1f\x8b", "compressed with gzip; let its name end in .gz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; let its name end in .zst"),
    (b"\xfd7zXZ\x00", "compressed with xz; let its name end in .xz"),
    (b"BZh", "compressed with bzip2; let its name end in .bz2"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive, not text; unpack it first"),
    (b"SQLite format 3\x00", "an SQLite database, not text; export its rows as CSV first"),
    (b"\x89PNG", "an image, not text; leave it out"),
    (b"\xff\xd8\xff", "an image, not text; leave it out"),
    (b"GIF8", "an image, not text; leave it out"),
)
_TAR = slice(257, 262)


def is_binary(head: bytes) -> bool:
    """Return whether a file with these first bytes is no text in any encoding."""
    found = foreign_kind(head)
    return found is not None and not found.startswith("this is text")


def foreign_kind(head: bytes) -> str | None:
    """Describe a binary file by its first bytes, with a remedy; None for possible text."""
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return f"this is {kind}"
    if head[_TAR] == b"ustar":
        return "this is a tar archive, not text; let its name end in .tar, or unpack it first"
    if b"\0" in head:
        return "this is binary data, not text; leave it out, or convert it to text first"
    return None
