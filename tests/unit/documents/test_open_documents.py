"""Look-ups come in blocks, between which they may be ended, and give the same in any."""

from __future__ import annotations

import numpy as np
import pytest

from neardup import DocumentIndex
from neardup.documents.document_segment import DocumentSegment
from neardup.runs.progress import cancellable
from tests.calls import grouped
from tests.document_indexes import OPTIONS

TEXT = "once upon a midnight dreary while I pondered weak and weary"
N = 60


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    found = DocumentIndex.create(tmp_path_factory.mktemp("lookup") / "idx", **grouped(**OPTIONS))
    found.add([{"id": number, "text": f"{TEXT} {number}"} for number in range(N)])
    return found


@pytest.fixture
def sizes(monkeypatch):
    """Note how many documents are compared at once, and how many shingles these have."""
    found = []
    sets_of = DocumentSegment.sets_of

    def note(segment, rows):
        sets = sets_of(segment, rows)
        found.append((len(rows), int(sets.sizes.sum())))
        return sets

    monkeypatch.setattr(DocumentSegment, "sets_of", note)
    return found


@pytest.mark.parametrize(("pairs", "shingles"), [(7, 10**6), (10**6, 40), (7, 40), (1, 1)])
def test_blocks__of_any_size_give_the_same(index, sizes, monkeypatch, pairs, shingles):
    whole = index.query(TEXT), index.search([TEXT, f"{TEXT} 3"]).table
    assert len(whole[0]) == N
    assert sizes[0][0] == N
    sizes.clear()
    monkeypatch.setattr("neardup.documents.open_documents._PAIRS_AT_ONCE", pairs)
    monkeypatch.setattr("neardup.documents.open_documents._SHINGLES_AT_ONCE", shingles)
    assert index.query(TEXT) == whole[0]
    assert index.search([TEXT, f"{TEXT} 3"]).table.equals(whole[1])
    n_documents, n_shingles = np.array(sizes).max(axis=0)
    assert n_documents <= pairs
    # One document may be larger than a block.
    assert n_shingles <= shingles + 12


def test_blocks__nobody_waits_for(index, sizes, monkeypatch):
    """A look-up asks before each block, and ends where the answer is no."""
    monkeypatch.setattr("neardup.documents.open_documents._PAIRS_AT_ONCE", 10)

    def ask() -> None:
        if len(sizes) == 2:
            raise TimeoutError

    with cancellable(ask), pytest.raises(TimeoutError):
        index.query(TEXT)
    assert len(sizes) == 2
    # And is asked no more behind the block.
    assert len(index.query(TEXT)) == N
