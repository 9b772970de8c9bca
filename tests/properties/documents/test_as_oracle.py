"""Whatever becomes of an index of documents, its answers are those of looking at all of them."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import DocumentIndex, InvalidInputError, ReadOptions, RunOptions
from tests.calls import grouped
from tests.examples import examples
from tests.oracles import documents as oracle
from tests.oracles.measures import MEASURES, WEIGHTED
from tests.oracles.shingles import elements

# So many bands of one row that every pair of small sets that share anything meets in one.
MANY_BANDS = {"num_perm": 256, "bands": (256, 1)}
THRESHOLDS = [Fraction(t) for t in ("0.3", "0.5", "0.6", "0.8", "1")]

texts = st.lists(st.sampled_from("abcde"), max_size=7).map(" ".join)
ids = st.sampled_from(["a", "b", "c", "1", "2", "é", "01"])
operations = st.one_of(
    st.tuples(st.just("insert"), ids, texts),
    st.tuples(st.just("insert"), ids, texts),
    st.tuples(st.just("insert_if_new"), ids, texts, st.sampled_from([None, *THRESHOLDS])),
    st.tuples(st.just("insert_if_new"), ids, texts, st.none()),
    st.tuples(st.just("add"), st.dictionaries(ids, texts, max_size=4)),
    st.tuples(st.just("remove"), st.lists(ids, max_size=3), st.sampled_from([True, True, False])),
    st.tuples(st.just("compact")),
    st.tuples(st.just("commit")),
    st.tuples(st.just("discard")),
    st.tuples(st.just("reopen")),
)


@dataclass
class Driven:
    """An index, another that reads it, and what both should answer."""

    folder: Path
    options: dict[str, Any]
    index: DocumentIndex = field(init=False)
    now: oracle.Index = field(init=False)
    threshold: Fraction = field(init=False)

    def __post_init__(self) -> None:
        self.index = DocumentIndex.create(
            self.folder, **grouped(tokenizer="whitespace", **self.options)
        )
        self.reader = DocumentIndex.open(self.folder)
        measure, ngram = self.options["measure"], self.options["ngram"]
        self.threshold = Fraction(self.options["threshold"])

        def cut(tokens):
            if measure == WEIGHTED:
                return dict(Counter(tokens)) if ngram == 1 else _counted(tokens, ngram)
            return elements(tokens, ngram, self.options.get("occurrences", "set"))

        self.now = oracle.Index(measure, self.threshold, cut)
        self.committed = self.now.copy()
        self.committed = self.now.copy()

    def do(self, name, *arguments):
        getattr(self, name)(*arguments)

    def insert(self, identifier, text):
        if identifier in self.now.ids():
            with pytest.raises(InvalidInputError, match="already"):
                self.index.insert(identifier, text)
            return
        self.index.insert(identifier, text)
        self.now.insert(identifier, text.split())

    def insert_if_new(self, identifier, text, threshold):
        if threshold is not None:
            threshold = max(threshold, self.threshold)
        expected = self.now.copy()
        try:
            found = expected.insert_if_new(identifier, text.split(), threshold)
        except AssertionError:
            with pytest.raises(InvalidInputError, match="already"):
                self.index.insert_if_new(identifier, text, threshold=threshold)
            return
        assert self.index.insert_if_new(identifier, text, threshold=threshold) == found
        self.now = expected

    def add(self, new):
        self.commit()
        rows = [{"id": name, "text": text} for name, text in new.items()]
        if any(name in self.now.ids() for name in new):
            with pytest.raises(InvalidInputError, match="already"):
                self.index.add(rows, read=ReadOptions(id_column="id"), run=RunOptions(workers=2))
            return
        self.index.add(rows, read=ReadOptions(id_column="id"), run=RunOptions(workers=2))
        for name, text in new.items():
            self.now.insert(name, text.split())
        self.committed = self.now.copy()

    def remove(self, names, is_there):
        self.commit()
        names = [name for name in names if name in self.now.ids()] if is_there else names
        if not set(names) <= set(self.now.ids()):
            with pytest.raises(InvalidInputError, match="no document"):
                self.index.remove(names)
            return
        gone = [" ".join(d.tokens) for d in self.now.documents if d.id in names]
        removal = self.index.remove(names)
        orphans = self.now.remove(names)
        pairs = zip(*(removal.orphans[name].to_pylist() for name in ("id", "kept_id")), strict=True)
        assert sorted(pairs) == sorted(orphans)
        assert (removal.n_removed, removal.n_documents) == (len(set(names)), len(self.now.ids()))
        self.committed = self.now.copy()
        for text in gone:
            self.check(text)

    def compact(self):
        self.index.compact()
        self.committed = self.now.copy()
        info = self.index.info()
        assert info["gone_documents"] == len(self.now.gone)
        assert (info["segments"] <= 1, info["removed_documents"]) == (True, 0)

    def commit(self):
        n_before = len(self.now.documents) - len(self.committed.documents)
        assert self.index.commit() == n_before
        self.committed = self.now.copy()

    def discard(self):
        with pytest.raises(ZeroDivisionError), self.index:
            raise ZeroDivisionError
        self.now = self.committed.copy()

    def reopen(self):
        self.index.close()
        self.committed = self.now.copy()
        self.index = DocumentIndex.open(self.folder)

    def check(self, text, threshold=None):
        """Ask the writer, which sees what it has inserted, and the reader, which does not."""
        threshold = None if threshold is None else max(threshold, self.threshold)
        for index, expected in ((self.index, self.now), (self.reader, self.committed)):
            found = index.query(text, threshold=threshold)
            wanted = expected.query(text.split(), threshold)
            assert [match.id for match in found] == [name for name, _ in wanted]
            assert [match.similarity for match in found] == pytest.approx(
                [similarity for _, similarity in wanted], abs=1e-12
            )
            assert len(index) == len(expected.ids())

    def check_all(self):
        for index, expected in ((self.index, self.now), (self.reader, self.committed)):
            rows = index.documents(0, 100)
            assert [row["id"] for row in rows] == expected.ids()
            assert [row["text"].split() for row in rows] == [
                list(document.tokens) for document in expected.documents
            ]
            assert all(index.get(row["id"]) == row for row in rows)
            names = [name for name in ("a", "b", "c", "1", "2", "é", "01") if name in index]
            assert names == [name for name in ("a", "b", "c", "1", "2", "é", "01")
                             if name in expected.ids()]  # fmt: skip
            found = index.search(["a b", "c d e"]).matches.to_pylist()
            wanted = [name for text in ("a b", "c d e") for name, _ in expected.query(text.split())]
            assert [row["doc_id"] for row in found] == wanted
        info = self.reader.info()
        assert info["documents"] == len(self.committed.ids())


def _counted(tokens, ngram):
    from tests.oracles.shingles import shingle_tuples

    return dict(Counter(shingle_tuples(tokens, ngram)))


kinds = st.fixed_dictionaries(
    {
        "measure": st.sampled_from([*MEASURES, "jaccard", WEIGHTED]),
        "threshold": st.sampled_from(["0.3", "0.5", "0.8"]),
        "ngram": st.sampled_from([1, 1, 2]),
    }
).map(lambda o: o | ({"tf": "raw", "idf": "unary"} if o["measure"] == WEIGHTED else {}))


@given(
    options=kinds,
    steps=st.lists(st.tuples(operations, texts, st.sampled_from(THRESHOLDS)), max_size=25),
    fanout=st.sampled_from([2, 3, 8]),
    block_bytes=st.sampled_from([1, 40, 200, 32_768]),
    most_pending=st.sampled_from([0, 2, 5, 256]),
)
@examples(90)
def test_answers__of_any_history(options, steps, fanout, block_bytes, most_pending):
    with (
        tempfile.TemporaryDirectory() as place,
        patch("neardup.documents.document_handle.FANOUT", fanout),
        patch("neardup.documents.document_handle.MOST_PENDING", most_pending),
        patch("neardup.documents.records.BLOCK_BYTES", block_bytes),
        patch("neardup.runs.disk.os.fsync", lambda _: None),
    ):
        driven = Driven(Path(place) / "index", options | MANY_BANDS)
        for operation, text, threshold in steps:
            driven.do(*operation)
            driven.check(text, threshold)
        driven.check_all()
        driven.commit()
        driven.check_all()
        driven.index.close()
