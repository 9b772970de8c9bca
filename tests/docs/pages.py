"""Reading the pages: their sections, tables and code spans."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa

from neardup.tables import Texts
from tests.oracles import hashing as oracle

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
BENCHMARKS = [ROOT / "benchmarks/README.md"]

# README.md is also the page of the package, so that its links name where the repository is.
HOME = "https://github.com/neardup/neardup"
_OF_FILES = re.compile(
    rf"{HOME}/blob/main/|https://raw\.githubusercontent\.com/neardup/neardup/main/"
)

# Set to 1, it makes tests write what help texts and commands print into the pages instead.
UPDATE = "NEARDUP_UPDATE_DOCS"


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def links(text: str) -> list[str]:
    """Give where the links and pictures of a text lead, of those to the repository its path."""
    text = re.sub(r"(?s)```.*?```", "", text)
    return [_OF_FILES.sub("", link) for link in re.findall(r"\]\(([^)\s]+)\)", text)]


def section(name: str, heading: str) -> str:
    """Give the text below a heading, up to the next one."""
    return re.split(rf"(?m)^#+ {re.escape(heading)}$", page(name))[1].split("\n#", 1)[0]


def tables(name: str, heading: str) -> list[list[list[str]]]:
    """Give the cells of all tables of a section, without the tables' heads."""
    blocks = re.findall(r"(?:^\|.*\n)+", section(name, heading) + "\n", re.MULTILINE)
    return [[line.strip("| ").split(" | ") for line in block.splitlines()[2:]] for block in blocks]


def values(cell: str) -> list:
    """Read the code spans of a cell: hexadecimal numbers, or JSON."""
    spans = re.findall(r"`(.+?)`", cell)
    return [int(s, 16) if s.startswith("0x") else json.loads(s) for s in spans]


def hashed(tokens: list[str]) -> list[int]:
    return [oracle.hash_token(token.encode()) for token in tokens]


def text_lists(text: str) -> Texts:
    return Texts.from_arrow(pa.array([text]))


def first_names(row: list[str]) -> list[str]:
    """Give the names in the first cell of a row."""
    return re.findall(r"`(\w+)`", row[0])
