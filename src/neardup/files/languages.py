"""Languages of programs, by the endings of their files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from neardup.files.streams import COMPRESSIONS, suffix_below

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.tables import Bytes

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
    """Return the number of a file's language, below the ending of a compression."""
    return _NUMBERS.get(suffix_below(name), 0)


def languages_of_ids(ids: pa.Array) -> Bytes:
    """Return the languages of indexed documents, by ids of files or lines."""
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
