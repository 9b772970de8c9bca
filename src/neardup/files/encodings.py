"""Encodings and binary kinds of files, and languages of programs.

Encodings with ASCII characters as single bytes are cut into rows as UTF-8 is. UTF-16 and UTF-32
are cut by their code units.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.streams import COMPRESSIONS, suffix_below

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.tables import Bytes


BYTE_ORDER_MARK = codecs.BOM_UTF8

MARK_BYTES = 4
"""The longest byte-order mark."""

LOOKED_AT = 1 << 16
"""How much of a file is checked for UTF-8 although another encoding is named."""

# Byte-order marks and their encodings, longer marks before their prefixes.
_MARKS = (
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
)
# Encodings with characters whose second byte may be that of an ASCII letter, bracket or backslash.
_WITH_ASCII_BYTES = frozenset(
    {"shift_jis", "shift_jis_2004", "shift_jisx0213", "cp932", "cp949", "cp950", "johab"}
    | {"big5", "big5hkscs", "gbk", "gb18030"}
)


@dataclass(frozen=True)
class TextEncoding:
    """How the characters of a file are written down.

    Parameters
    ----------
    codec
        Python's name of it, with the order of bytes.
    unit
        Bytes of a code unit; ASCII characters have their ASCII value in it.
    mark
        The byte-order mark that the file begins with.
    """

    codec: str = "utf-8"
    unit: int = 1
    mark: bytes = b""

    @property
    def has_ascii_bytes(self) -> bool:
        """Whether bytes of non-ASCII characters may look like ASCII."""
        return self.codec in _WITH_ASCII_BYTES


def encoding_of(name: str | None, head: Callable[[], bytes]) -> TextEncoding:
    """Return the encoding of a file.

    ``head`` reads its first ``LOOKED_AT`` bytes. They have the byte order of UTF-16 and UTF-32; the
    default is little-endian. If an encoding of one byte per character is named, and the bytes are
    valid UTF-8 beyond ASCII, the file is UTF-8: so files of several encodings can be read together.
    """
    codec = "utf-8" if name is None else codecs.lookup(name).name
    if codec in ("utf-8", "utf-8-sig"):
        return TextEncoding(mark=BYTE_ORDER_MARK)
    if not codec.startswith(("utf-16", "utf-32")):
        is_utf8 = _has_single_bytes(codec) and _is_utf8_beyond_ascii(head())
        return TextEncoding(mark=BYTE_ORDER_MARK) if is_utf8 else TextEncoding(codec)
    family = codec[: len("utf-16")]
    beginning = head()
    for exact, mark in _MARKS:
        if exact.startswith(codec) and beginning.startswith(mark):
            return TextEncoding(exact, int(family[-2:]) // 8, mark)
    return TextEncoding(codec if codec != family else f"{family}-le", int(family[-2:]) // 8)


def _has_single_bytes(codec: str) -> bool:
    """Return whether an encoding has 256 single-byte characters."""
    return codec != "ascii" and len(bytes(range(256)).decode(codec, "replace")) == 256


def is_utf8(data: bytes | memoryview) -> bool:
    """Return whether bytes are valid UTF-8, checked by Arrow."""
    import pyarrow as pa

    bounds = pa.py_buffer(np.array([0, len(data)]))
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, bounds, pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_utf8_beyond_ascii(head: bytes) -> bool:
    try:
        return not codecs.getincrementaldecoder("utf-8")().decode(head).isascii()
    except UnicodeDecodeError:
        return False


def encoding_by_mark(head: bytes) -> str | None:
    """Return the encoding of a non-UTF-8 byte-order mark, or None."""
    found = next((name for name, mark in _MARKS if head.startswith(mark)), None)
    return None if found is None else found[: len("utf-16")]


def check_mark(head: bytes, encoding: str | None, path: str) -> None:
    """Raise for another encoding's mark, unless an encoding is chosen."""
    found = encoding_by_mark(head[:MARK_BYTES]) if encoding is None else None
    if found is not None:
        message = (
            f"the file begins with the byte-order mark of {found.upper()}; read it with "
            f"encoding {found} (--encoding {found})"
        )
        raise InvalidInputError(message, path=path)


# Kinds of binary files.

HEAD_BYTES = 1 << 12
"""How much of a file decides its kind."""

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


def foreign_kind(head: bytes) -> str | None:
    """Describe a binary file with a remedy, None for text."""
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return f"this is {kind}"
    if head[_TAR] == b"ustar":
        return "this is a tar archive, not text; let its name end in .tar, or unpack it first"
    if b"\0" in head:
        return "this is binary data, not text; leave it out, or convert it to text first"
    return None


# Languages of programs by the endings of their files.

_ENDINGS = {
    "python": ".py .pyi .pyw",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .hh .hpp .hxx",
    "csharp": ".cs",
    "java": ".java",
    "kotlin": ".kt .kts",
    "scala": ".scala",
    "javascript": ".js .cjs .mjs .jsx",
    "typescript": ".ts .tsx",
    "go": ".go",
    "rust": ".rs",
    "swift": ".swift",
    "ruby": ".rb",
    "php": ".php",
    "perl": ".pl .pm",
    "bash": ".sh .bash",
    "sql": ".sql",
    "lua": ".lua",
    "splus": ".r",
    "julia": ".jl",
    "haskell": ".hs",
}

LANGUAGES = ("", *_ENDINGS)
"""Names that Pygments has, by their numbers; 0 is a file whose ending means none of them."""

IN_MEMORY = LANGUAGES.index("python")
"""The language of programs that are in no file: the one that hands them over."""

_COMPRESSED = "|".join(map(re.escape, COMPRESSIONS))

_NUMBERS = {
    ending: LANGUAGES.index(language)
    for language, endings in _ENDINGS.items()
    for ending in endings.split()
}


def language_of_file(name: str) -> int:
    """Return the language number of a file by its ending."""
    return _NUMBERS.get(suffix_below(name), 0)


def languages_of_ids(ids: pa.Array) -> Bytes:
    """Return the languages of indexed documents by their ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = pc.utf8_lower(ids.cast(pa.large_string()))
    names = pc.replace_substring_regex(names, f"({_COMPRESSED})?(:[0-9]+)?$", "")
    endings = pc.replace_substring_regex(names, r"(?s)^.*(\.[^./]+)$", r"\1")
    known = pa.array(list(_NUMBERS), pa.large_string())
    places = pc.index_in(endings, value_set=known).fill_null(-1).to_numpy()
    numbers: Bytes = np.array([*_NUMBERS.values(), IN_MEMORY], np.uint8)
    found: Bytes = numbers[places]
    return found
