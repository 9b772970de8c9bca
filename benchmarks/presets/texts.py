"""Texts that are changed for the section ``presets``.

They are read from the folder that the environment variable NEARDUP_PRESETS names; without it those
of scanned pages and titles are left out. It has the folders ``civil-codes-ocr`` with
``codes.jsonl.xz`` (``text``, statutes with their sections) and ``debian-descriptions`` with
``descriptions.jsonl.xz`` (``text``, whose first line is a title). Programs are those of the library
of the Python that runs this.
"""

from __future__ import annotations

import hashlib
import os
import random
import sysconfig
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from benchmarks.corpora.lines import read_rows
from benchmarks.presets.noise import sections

FOLDER_VARIABLE = "NEARDUP_PRESETS"
HALVES = ("chosen on", "reported")
_SECTIONS, _TITLES, _PROGRAMS = 400, 2000, 200
# Share of their neighbouring words from which on two texts are akin: legislators have copied whole
# sections from each other, and packages of one source have one description. Of these one is taken.
_AKIN = 0.1


def available() -> list[str]:
    """List the presets that can be measured here."""
    return ["ocr", "titles", "code"] if os.environ.get(FOLDER_VARIABLE) else ["code"]


def half_of(identity: str) -> str:
    """Return which half something belongs to, by a digest of it."""
    return HALVES[hashlib.sha256(identity.encode()).digest()[0] & 1]


def _drawn(texts: Iterable[str], half: str, size: int) -> list[str]:
    """Draw some of a half, none of them akin to another."""
    found = sorted({text for text in texts if half_of(text) == half})
    random.Random(half).shuffle(found)
    drawn: list[str] = []
    known: list[set[tuple[str, str]]] = []
    for text in found:
        words = text.lower().split()
        own = set(pairwise(words)) or {(text, "")}
        if all(len(own & other) < _AKIN * len(own | other) for other in known):
            drawn.append(text)
            known.append(own)
        if len(drawn) == size:
            break
    return drawn


def read_statutes(half: str) -> list[str]:
    """Read sections of statutes, of 800 to 3,000 characters."""
    rows = read_rows(_folder() / "civil-codes-ocr" / "codes.jsonl.xz")
    return _drawn((part for row in rows for part in sections(row["text"])), half, _SECTIONS)


def read_titles(half: str) -> list[str]:
    """Read titles of packages, of 15 characters and more."""
    rows = read_rows(_folder() / "debian-descriptions" / "descriptions.jsonl.xz")
    titles = (row["text"].partition("\n")[0] for row in rows)
    return _drawn((title for title in titles if len(title) >= 15), half, _TITLES)


def read_programs() -> dict[str, str]:
    """Read the modules of Python's library, of a package one, with 50 lines and more."""
    library = Path(sysconfig.get_path("stdlib"))
    packages = [
        sorted(found)
        for folder in sorted(library.iterdir())
        if folder.name not in ("site-packages", "test") and (found := list(folder.glob("*.py")))
    ]
    files = [
        *sorted(library.glob("[!_]*.py")),
        *(random.Random(1).choice(each) for each in packages),
    ]
    read = [(file.name, file.read_text("utf-8", errors="replace")) for file in files]
    long = [(name, text) for name, text in read if text.count("\n") >= 50]
    return dict(long[:_PROGRAMS])


def _folder() -> Path:
    return Path(os.environ[FOLDER_VARIABLE])
