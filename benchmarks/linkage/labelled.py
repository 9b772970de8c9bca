"""Records with labelled matches, for the section ``linkage``.

One set comes from the package index. The others are files of a folder that the environment variable
NEARDUP_RECORD_LINKAGE names; without it they are left out. For each of them the folder has
``<set>.records.jsonl.xz``, with ``id``, ``side`` (A or B) and fields whose names begin with ``f_``,
and ``<set>.pairs.tsv``, with the ids of the records that are the same, all of them.
"""

from __future__ import annotations

import csv
import io
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora.downloads import download
from benchmarks.corpora.lines import read_rows

FOLDER_VARIABLE = "NEARDUP_RECORD_LINKAGE"

Record = dict[str, str]


@dataclass(frozen=True)
class Kind:
    """Subject and texts of a set.

    ``texts`` are the texts to make of a record: for each the fields that are joined by blanks,
    or none for all fields. ``main`` is one of them.
    """

    about: str
    texts: dict[str, tuple[str, ...]]
    main: str


@dataclass(frozen=True)
class LabelledRecords:
    """Two collections, or one to be joined with itself, and all pairs that are the same.

    A pair has the row numbers of its records, counted from 0; within one collection the lower
    number comes first.
    """

    left: list[Record]
    right: list[Record] | None
    matches: set[tuple[int, int]]


ALL_FIELDS: tuple[str, ...] = ()

KINDS = {
    "restaurants": Kind(
        "restaurants of two guides, Fodor's and Zagat's",
        {
            "name": ("name",),
            "name, address": ("name", "addr"),
            "name, address, phone": ("name", "addr", "phone"),
            "all fields": ALL_FIELDS,
        },
        "name, address",
    ),
    "dblp-acm": Kind(
        "papers on databases, DBLP's and ACM's lists",
        {
            "title": ("title",),
            "title, authors": ("title", "authors"),
            "title, authors, year": ("title", "authors", "year"),
            "all fields": ALL_FIELDS,
        },
        "title, authors, year",
    ),
    "cora": Kind(
        "citations of papers on machine learning",
        {"title": ("title",), "authors, title": ("author", "title"), "all fields": ALL_FIELDS},
        "title",
    ),
    "abt-buy": Kind(
        "electronic goods of two shops",
        {"name": ("name",), "name, description": ("name", "description")},
        "name",
    ),
}
FROM_PACKAGE = "restaurants"


def available(*, quick: bool) -> list[str]:
    """List the sets that can be read here; with ``quick`` the one from the package index."""
    given = not quick and os.environ.get(FOLDER_VARIABLE)
    return [name for name in KINDS if name == FROM_PACKAGE or given]


def read(name: str) -> LabelledRecords:
    """Read one of the available sets."""
    if name == FROM_PACKAGE:
        return restaurants(download("py-entitymatching", "0.4.2", from_source=True))
    return given_records(Path(os.environ[FOLDER_VARIABLE]), name)


def restaurants(archive: Path) -> LabelledRecords:
    """Read the restaurants straight from the packed source archive of ``py-entitymatching``.

    The package's papers of DBLP and ACM are no use here: it says only of a sample of pairs whether
    they are the same.
    """

    def rows(name: str) -> list[Record]:
        path = f"{folder}/py_entitymatching/datasets/end-to-end/restaurants/{name}.csv"
        member = packed.extractfile(path)
        assert member is not None
        return list(csv.DictReader(io.TextIOWrapper(member, encoding="utf-8", newline="")))

    folder = archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive) as packed:
        left, right, pairs = rows("fodors"), rows("zagats"), rows("matches_fodors_zagats")
    ids = [(pair["fodors_id"], pair["zagats_id"]) for pair in pairs]
    return _number(left, right, ids)


def given_records(folder: Path, name: str) -> LabelledRecords:
    """Read a set from the folder of the user; one without a side B is to be joined with itself."""
    sides: dict[str, list[Record]] = {"A": [], "B": []}
    for row in read_rows(folder / f"{name}.records.jsonl.xz"):
        fields = {key[2:]: value for key, value in row.items() if key.startswith("f_")}
        sides[row["side"]].append({"id": row["id"], **fields})
    pairs = (folder / f"{name}.pairs.tsv").read_text(encoding="utf-8").splitlines()
    ids = [(left, right) for left, right in (pair.split("\t") for pair in pairs)]
    return _number(sides["A"], sides["B"] or None, ids)


def text_of(record: Record, fields: tuple[str, ...]) -> str:
    """Join the fields of a record that it has by blanks; all but the id if none are named."""
    names = fields or tuple(name for name in record if name != "id")
    return " ".join(record[name] for name in names if record.get(name))


def _number(
    left: list[Record], right: list[Record] | None, ids: list[tuple[str, str]]
) -> LabelledRecords:
    rows_left = {record["id"]: row for row, record in enumerate(left)}
    rows_right = rows_left if right is None else {r["id"]: row for row, r in enumerate(right)}
    numbered = [(rows_left[a], rows_right[b]) for a, b in ids]
    if right is None:
        numbered = [(min(pair), max(pair)) for pair in numbered]
    return LabelledRecords(left, right, set(numbered))
