"""Encodings and binary kinds of files, and languages of programs.

Encodings with ASCII characters as single bytes are cut into rows as UTF-8 is. UTF-16 and UTF-32
are cut by their code units.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from neardup.files.streams import COMPRESSIONS, suffix_below

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.tables import Bytes


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
