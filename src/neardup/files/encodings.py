"""Encodings and binary kinds of files, and languages of programs.

Encodings with ASCII characters as single bytes are cut into rows as UTF-8 is. UTF-16 and UTF-32
are cut by their code units.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.streams import COMPRESSIONS, suffix_below

if TYPE_CHECKING:
    from neardup.tables import Bytes


def is_utf8(data: bytes | memoryview) -> bool:
    """Return whether bytes are valid UTF-8, checked by Arrow."""
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

# First bytes of files of formats that are read, and of compressed ones.
_FORMATS = {b"%PDF-": "pdf", b"WARC/": "warc", b"PAR1": "parquet", b"ARROW1": "arrow"}
_COMPRESSED = {
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"\xfd7zXZ\0": ".xz",
    b"BZh": ".bz2",
}

# Byte-order marks and their encodings, longer marks before their prefixes.
MARKS = (
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
)


def encoding_by_mark(head: bytes) -> str | None:
    """Return the encoding of a non-UTF-8 byte-order mark, or None."""
    found = next((name for name, mark in MARKS if head.startswith(mark)), None)
    return None if found is None else found[: len("utf-16")]


def foreign_kind(head: bytes) -> str | None:
    """Describe a binary file with a remedy, None for text."""
    if (found := encoding_by_mark(head)) is not None:
        return f"this is text in {found}; read it with encoding {found} (--encoding {found})"
    for beginning, name in _FORMATS.items():
        if head.startswith(beginning):
            option = f"input_format {name} (--input-format {name})"
            return f"this is a file of format {name}, not text; read it with {option}"
    for beginning, suffix in _COMPRESSED.items():
        if head.startswith(beginning):
            return f"this is compressed data, not text; let its name end in {suffix}"
    if head.startswith(b"PK\x03\x04"):
        return (
            "this is a ZIP archive, as .docx, .xlsx, .odt and .epub files are, not text; let its "
            "name end in what it is, such as .zip, or convert it to text first"
        )
    if head.startswith(b"{\\rtf"):
        return "this is an RTF document, not text; convert it to text, for example with pandoc"
    if b"\0" in head or head.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8")):
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

_COMPRESSIONS = "|".join(map(re.escape, COMPRESSIONS))

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
    names = pc.utf8_lower(ids.cast(pa.large_string()))
    names = pc.replace_substring_regex(names, f"({_COMPRESSIONS})?(:[0-9]+)?$", "")
    endings = pc.replace_substring_regex(names, r"(?s)^.*(\.[^./]+)$", r"\1")
    known = pa.array(list(_NUMBERS), pa.large_string())
    places = pc.index_in(endings, value_set=known).fill_null(-1).to_numpy()
    numbers: Bytes = np.array([*_NUMBERS.values(), IN_MEMORY], np.uint8)
    found: Bytes = numbers[places]
    return found
