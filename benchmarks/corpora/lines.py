"""JSON lines and tables of a folder's files, plain or packed."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

Row = dict[str, Any]

OPENERS: dict[str, Callable[..., TextIO]] = {".gz": gzip.open, ".xz": lzma.open}


def open_lines(path: Path) -> TextIO:
    """Open a text file, unpacked by the ending of its name."""
    opener = OPENERS.get(path.suffix, open)
    opened: TextIO = opener(path, "rt", encoding="utf-8", newline="\n")
    return opened


def read_rows(path: Path) -> list[Row]:
    """Read all rows of a JSON lines file."""
    with open_lines(path) as lines:
        return [json.loads(line) for line in lines]


def read_strings(path: Path, most: int | None = None) -> list[str]:
    """Read the texts of a JSON lines file, or the first ones."""
    with open_lines(path) as lines:
        return [json.loads(line)["text"] for line in islice(lines, most)]


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a table of cells between tabs, whose first line has their names."""
    with open_lines(path) as lines:
        header, *rows = (line.rstrip("\n").split("\t") for line in lines)
    return [dict(zip(header, row, strict=True)) for row in rows]
