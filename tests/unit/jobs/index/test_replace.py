"""A document in the place of another: both happen at once, or neither."""

from __future__ import annotations

import pytest

import neardup
from neardup.errors import WriteError
from tests.calls import grouped
from tests.document_indexes import OPTIONS, text_of

OLD, NEW = text_of(0), "entirely other words than there were before"


@pytest.fixture
def index(tmp_path):
    made = neardup.DocumentIndex.create(tmp_path / "idx", **grouped(columns=["lang"], **OPTIONS))
    made.add([{"id": f"d{k}", "text": text_of(k), "lang": "en"} for k in range(10)])
    return made


def check(index, *, n_documents: int) -> None:
    for seen in (index, neardup.DocumentIndex.open(index.folder)):
        assert seen.get("d0") == {"id": "d0", "text": NEW, "lang": "de"}
        assert [match.id for match in seen.query(NEW)] == ["d0"]
        assert "d0" not in [match.id for match in seen.query(OLD)]
        assert len(seen) == n_documents
        assert list(seen)[-1] == "d0"
        assert len(set(seen)) == n_documents
        seen.info()


def test_replace__wherever_the_old_one_is(index):
    """In a segment, in the tail, among those that wait; or nowhere."""
    result = index.replace("d0", NEW, lang="de")
    assert (result.n_removed, result.n_documents) == (1, 10)
    check(index, n_documents=10)
    index.remove(["d0"])
    assert index.replace("d0", NEW, lang="de").n_removed == 0
    check(index, n_documents=10)
    for is_committed in (True, False):
        index.remove(["d0"])
        index.insert("d0", OLD, lang="en")
        if is_committed:
            index.commit()
        index.replace("d0", NEW, lang="de")
        check(index, n_documents=10)
    index.compact()
    check(index, n_documents=10)


@pytest.mark.parametrize(
    "place",
    ["neardup.index.store.Database.commit", "neardup.documents.delta.Delta.pack"],
)
def test_replace__all_or_nothing(index, monkeypatch, place):
    def fail(*_: object, **__: object) -> None:
        message = "no space left"
        raise WriteError(message)

    before = index.documents()
    with monkeypatch.context() as patched:
        patched.setattr(place, fail)
        with pytest.raises(WriteError):
            index.replace("d0", NEW, lang="de")
    for seen in (index, neardup.DocumentIndex.open(index.folder)):
        assert seen.documents() == before
        assert seen.query(OLD)[0].id == "d0"
    index.replace("d0", NEW, lang="de")
    check(index, n_documents=10)
