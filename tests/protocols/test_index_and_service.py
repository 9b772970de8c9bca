"""One list of calls, made of an index here and of the same one that is served: equal answers.

And errors of equal classes. What is said of them may name fields of requests, and files of inputs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import neardup
from neardup.errors import NeardupError
from neardup.results import TableResult
from tests.service.conftest import start_service

CAT = "the cat sat on the mat and looked at the moon for a long time"
CAT_TOO = "the cat sat on the mat and looked at the moon for a short time"
DOG = "a dog ran over the hill and came back with a stick in its mouth"
ROWS = [
    {"id": "cat", "text": CAT, "lang": "en", "size": 3},
    {"id": "cat too", "text": CAT_TOO, "lang": "de", "size": 5},
    {"id": "dog/#?", "text": DOG, "lang": None, "size": 7},
    *({"id": f"n{k}", "text": f"number {k} of many", "lang": "en", "size": k} for k in range(9)),
]

Call = Callable[[Any], Any]


READS: dict[str, Call] = {
    "query": lambda i: i.query(CAT),
    "query nothing": lambda i: i.query("words that nobody wrote"),
    "query empty": lambda i: i.query(""),
    "query string": lambda i: i.query(CAT, threshold="0.9"),
    "query float": lambda i: i.query(CAT, threshold=0.9),
    "query decimal": lambda i: i.query(CAT, threshold=Decimal("0.9")),
    "query fraction": lambda i: i.query(CAT, threshold=Fraction(9, 10)),
    "query limit": lambda i: i.query(CAT, limit=1),
    "query count": lambda i: i.query(CAT, limit=1).n_matches,
    "search": lambda i: i.search([CAT, DOG]),
    "search one": lambda i: i.search(CAT),
    "search nothing": lambda i: i.search(["nobody wrote this"]),
    "search no texts": lambda i: i.search([]),
    "search ids": lambda i: i.search([{"id": "q", "text": CAT}, {"id": "r", "text": DOG}]),
    "search whole ids": lambda i: i.search([{"id": 5, "text": CAT}, {"id": 7, "text": DOG}]),
    "search threshold": lambda i: i.search([CAT], "0.95"),
    "search columns": lambda i: i.search([CAT], with_columns=True).table.to_pylist(),
    "search no columns": lambda i: i.search(["nobody"], with_columns=True).table.column_names,
    "get": lambda i: i.get("cat"),
    "get with a slash": lambda i: i.get("dog/#?"),
    "get nobody": lambda i: i.get("nobody"),
    "item": lambda i: i["cat"],
    "no item": lambda i: i["nobody"],
    "contains": lambda i: ("cat" in i, "nobody" in i),
    "len": len,
    "bool": bool,
    "iter": list,
    "documents": lambda i: i.documents(),
    "documents from": lambda i: i.documents(2, 3),
    "documents behind": lambda i: i.documents(100, 3),
    "info": lambda i: {k: v for k, v in i.info().items() if k not in ("folder", "name")},
    # What is refused.
    "query bytes": lambda i: i.query(b"a"),
    "query number": lambda i: i.query(5),
    "query surrogate": lambda i: i.query("\ud800"),
    "query below": lambda i: i.query("a", threshold="0.1"),
    "query above": lambda i: i.query("a", threshold="1.5"),
    "query nonsense": lambda i: i.query("a", threshold="much"),
    "query limit 0": lambda i: i.query("a", limit=0),
    "query limit text": lambda i: i.query("a", limit="5"),
    "search below": lambda i: i.search(["a"], "0.1"),
    "search bytes": lambda i: i.search([b"a"]),
    "documents below 0": lambda i: i.documents(-1),
}
PASSAGE_READS: dict[str, Call] = {
    "search": lambda i: i.search([CAT, DOG], "0.6"),
    "search text": lambda i: i.search([CAT], with_text=True),
    "get": lambda i: i.get("cat"),
    "documents": lambda i: i.documents(1, 2),
    "len": len,
    "iter": list,
    "search nonsense": lambda i: i.search([CAT], "5"),
}
# One after the other, so that each sees what those before have done.
CHANGES: dict[str, Call] = {
    "insert": lambda i: i.insert("x", "quite another text of some words", lang="fr", size=1),
    "insert again": lambda i: i.insert("x", "whatever it says"),
    "insert whole id": lambda i: i.insert(12, "a text with a number as its id"),
    "insert text": lambda i: i.insert("t", "some tokens of mine"),
    "insert no id": lambda i: i.insert(None, "a"),
    "insert a column": lambda i: i.insert("y", "a", colour="red"),
    "insert surrogate": lambda i: i.insert("y", "\ud800"),
    "found at once": lambda i: i.query("quite another text of some words"),
    "insert if new": lambda i: i.insert_if_new("z", "a text that is new to everybody here"),
    "insert not new": lambda i: i.insert_if_new("zz", "a text that is new to everybody here"),
    "insert if new at": lambda i: i.insert_if_new("zy", CAT_TOO, threshold="0.95"),
    "insert if new below": lambda i: i.insert_if_new("zx", CAT, threshold="0.1"),
    "add": lambda i: (
        i.add([{"id": "a1", "text": "added with others", "lang": "it", "size": 9}]).n_documents
    ),
    "add again": lambda i: i.add(
        [{"id": "a1", "text": "added with others", "lang": "it", "size": 9}]
    ),
    "get added": lambda i: i.get("a1"),
    "remove": lambda i: i.remove(["z", "a1"]).summary | {"seconds": 0},
    "replace": lambda i: (
        i.replace("x", "a new text of the old id", lang="es").summary | {"seconds": 0}
    ),
    "replaced": lambda i: (i.get("x"), i.query("a new text of the old id")),
    "the old one": lambda i: i.query("quite another text of some words"),
    "replace nobody": lambda i: i.replace("x2", "a text of a new id").summary | {"seconds": 0},
    "replace a column": lambda i: i.replace("x2", "a", colour="red"),
    "remove nobody": lambda i: i.remove(["nobody"]),
    "remove a string": lambda i: i.remove("cat"),
    "remove denied": lambda i: i.remove(["t"], deny=True).summary | {"seconds": 0},
    "replace denied": lambda i: i.replace("x2", "some tokens of mine"),
    "denied": lambda i: i.insert("t2", "some tokens of mine"),
    "compact": lambda i: i.compact().summary | {"seconds": 0},
    "compact again": lambda i: i.compact().summary | {"seconds": 0},
    "len": len,
    "ids": list,
}


PASSAGE_CHANGES: dict[str, Call] = {
    "replace": lambda i: i.replace("cat too", DOG + " too").summary | {"seconds": 0},
    "replaced": lambda i: i.get("cat too"),
    "found new": lambda i: i.search([DOG], "0.9"),
    "not found": lambda i: i.search([CAT_TOO], "0.95"),
    "replace nobody": lambda i: i.replace("new", CAT_TOO).summary | {"seconds": 0},
    "found": lambda i: i.search([CAT_TOO], "0.95"),
    "replace with bytes": lambda i: i.replace("cat", b"a"),
    "replace whole id": lambda i: i.replace(7, "a text with a number as its id").summary["removed"],
    "still there": lambda i: i.get("cat"),
    "remove": lambda i: i.remove(["new", "dog/#?"]).summary | {"seconds": 0},
    "remove nobody": lambda i: i.remove(["nobody"]),
    "remove denied": lambda i: i.remove(["cat"], deny=True),
    "compact": lambda i: i.compact().summary | {"seconds": 0},
    "ids": list,
    "len": len,
}


def outcome(call: Call, index: Any) -> Any:
    """Return what a call comes to: its answer in plain values, or its error."""
    try:
        found = call(index)
    except (NeardupError, KeyError, TypeError) as error:
        return type(error)
    if isinstance(found, TableResult):
        # How rows were read says nothing of what was found.
        left_out = ("seconds", "workers", "id_column", "id_column_by_default")
        summary = {key: value for key, value in found.summary.items() if key not in left_out}
        return type(found), found.table.schema, found.table.to_pylist(), summary
    return found


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("indexes")
    documents = neardup.DocumentIndex.create(
        folder / "docs",
        threshold="0.5",
        columns=["lang", "size"],
        text=neardup.TextOptions(ngram=2),
    )
    documents.add(ROWS)
    passages = neardup.PassageIndex.create(folder / "passages", min_tokens=5, num_perm=16)
    passages.add([{"id": row["id"], "text": row["text"]} for row in ROWS[:3]])
    for name in ("docs", "passages"):
        shutil.copytree(folder / name, folder / f"served {name}")
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def url(folders):
    indexes = [f"{name}={folders[f'served {name}']}" for name in ("docs", "passages")]
    for running in start_service(indexes):
        yield running.url


def check_equal(calls: dict[str, Call], here: Any, there: Any) -> None:
    differing = {}
    for name, call in calls.items():
        expected, found = outcome(call, here), outcome(call, there)
        if found != expected:
            differing[name] = f"expected {expected!r}, found {found!r}"
    assert not differing, "\n".join(f"{name}: {how}" for name, how in differing.items())


def test_reads__of_documents(folders, url):
    check_equal(
        READS, neardup.DocumentIndex.open(folders["docs"]), neardup.connect(url, index="docs")
    )


@pytest.mark.slow
def test_reads__of_passages(folders, url):
    here = neardup.PassageIndex.open(folders["passages"])
    check_equal(PASSAGE_READS, here, neardup.connect(url, index="passages"))


def test_changes(folders, url):
    here = neardup.DocumentIndex.open(folders["docs"])
    check_equal(CHANGES, here, neardup.connect(url, index="docs"))


@pytest.mark.slow
def test_changes__of_passages(folders, url):
    here = neardup.PassageIndex.open(folders["passages"])
    check_equal(PASSAGE_CHANGES, here, neardup.connect(url, index="passages"))
