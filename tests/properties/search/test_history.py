"""Answers do not depend on how an index came about."""

from __future__ import annotations

import shutil
from dataclasses import replace
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from neardup import InvalidInputError, PassageIndex, RunOptions
from neardup.files.memory import MemorySource
from neardup.files.rows import ColumnNames
from neardup.passages.document_blocks import DocumentReading
from neardup.passages.open_passages import PassageHandle
from neardup.runs.runner import Runner
from tests.calls import grouped
from tests.examples import examples
from tests.properties.search.cases import Case, add, can_reach, cases, indexed, new_folder, recalls


def answers(index: PassageIndex, case: Case, recall: str, workers: int = 1) -> pa.Table:
    """Search for each query twice; a thread takes a single query at a time."""
    queries = case.queries * 2
    return index.search(
        queries, case.threshold, recall=recall, run=RunOptions(workers=workers)
    ).passages


@pytest.mark.slow
@given(
    case=cases(n_documents=6),
    recall=recalls,
    cut=st.integers(1, 3),
    tokens=st.integers(1, 30),
    workers=st.integers(1, 3),
)
@examples(40)
def test_search__same_for_all_workers_and_segments(case, recall, cut, tokens, workers):
    assume(can_reach(case, recall))
    with indexed(case) as index:
        expected = answers(index, case, recall)
        assert answers(index, case, recall, workers=2) == expected
        assert answers(index, case, recall, workers=3) == expected
    with indexed(case, cut=cut, tokens=tokens, workers=workers) as index:
        assert answers(index, case, recall, workers) == expected
        assert index.compact(run=RunOptions(workers=workers)).n_segments <= 1
        assert answers(index, case, recall) == expected


@given(case=cases(n_documents=6, idf="unary"), recall=recalls, data=st.data())
@examples(40)
def test_search__same_however_it_came_about(case, recall, data):
    assume(can_reach(case, recall))
    names = list(case.documents)
    removed = set(data.draw(st.lists(st.sampled_from(names)))) if names else set()
    first = data.draw(st.integers(0, len(names)))
    kept = {name: text for name, text in case.documents.items() if name not in removed}
    with indexed(case) as index, indexed(replace(case, documents=kept)) as other:
        everything, expected = answers(index, case, recall), answers(other, case, recall)
        parts = [dict(list(case.documents.items())[a:b]) for a, b in ((0, first), (first, 99))]
        with indexed(replace(case, documents=parts[0])) as grown:
            add(grown.folder, parts[1], cut=1, tokens=8)
            grown = PassageIndex.open(grown.folder)
            assert answers(grown, case, recall) == everything
            assert grown.remove(sorted(removed)).n_removed == len(removed)
            assert len(grown) == len(kept)
            assert answers(grown, case, recall) == expected
            shutil.copytree(grown.folder, grown.folder.parent / "again")
            grown.compact()
            assert answers(grown, case, recall) == expected
            assert grown.info()["removed_documents"] == 0
            # What was removed may come back, before its room is free.
            back = {name: text for name, text in case.documents.items() if name in removed}
            add(grown.folder.parent / "again", back)
            again = PassageIndex.open(grown.folder.parent / "again")
            assert len(again) == len(names)
            again.remove(list(back))
            assert answers(again, case, recall) == expected


@given(case=cases(n_documents=6), data=st.data())
@examples(30)
def test_search__removed_documents_keep_their_frequencies(case, data):
    assume(can_reach(case, "0.9"))
    names = list(case.documents)
    assume(names)
    gone = data.draw(st.sampled_from(names))
    with indexed(case, cut=2, tokens=5) as index:
        table = answers(index, case, "0.9")
        expected = table.filter(pa.compute.not_equal(table["doc_id"], gone))
        index.remove([gone])
        assert answers(index, case, "0.9") == expected
        index.compact()
        assert answers(index, case, "0.9") == expected
        assert PassageIndex.open(index.folder).info()["documents"] == len(names) - 1


def test_add__id_of_another_segment():
    case = Case({"x": "a b c d", "y": "b c d e"}, ["a b c d"], 2, 8)
    with new_folder() as folder:
        PassageIndex.create(folder, **grouped(**case.options))
        rows = pa.table({"id": ["x", "y", "x"], "text": ["a b", "c d", "e f"]})
        source = MemorySource(rows, block_rows=1)
        options = DocumentReading(ColumnNames("text", "id"))
        with (
            patch("neardup.passages.open_passages.SEGMENT_TOKENS", 1),
            pytest.raises(InvalidInputError, match=r"row 3\b.*'x'.*data, row 1"),
        ):
            PassageHandle(folder).add([source], options, Runner(1))
        assert len(PassageIndex.open(folder)) == 0
        add(folder, case.documents, cut=1, tokens=1)
        with pytest.raises(InvalidInputError, match="'y'"):
            add(folder, {"y": "a"})
