"""What was done for an open index is not done again, however often it is searched or changed."""

from __future__ import annotations

import random

import pytest

import neardup
from neardup import (
    DocumentIndex,
    InvalidParameterError,
    PassageIndex,
    ReadError,
    ReadOptions,
    TextOptions,
)
from neardup.runs.runner import Runner

WORDS = [f"w{i}" for i in range(500)]


def texts(n: int, seed: int = 0) -> list[dict[str, str]]:
    generator = random.Random(seed)
    return [
        {"id": f"{seed}-{i}", "text": " ".join(generator.choices(WORDS, k=30))} for i in range(n)
    ]


@pytest.fixture(autouse=True)
def _all_get_segments(monkeypatch):
    monkeypatch.setattr("neardup.passages.open_passages.MOST_PENDING", 0)


def test_view__of_an_index_that_was_built_anew(tmp_path):
    """Segments of the same names under another scheme are other segments."""
    made = PassageIndex.create(tmp_path / "index", min_tokens=5, num_perm=16)
    made.add(texts(5), read=ReadOptions(id_column="id"))
    assert len(made) == 5
    (tmp_path / "index").rename(tmp_path / "old")
    other = PassageIndex.create(
        tmp_path / "index", min_tokens=3, num_perm=8, text=TextOptions(idf="smooth")
    )
    other.add(texts(5), read=ReadOptions(id_column="id"))
    assert made.info() == other.info()
    query = texts(5)[2]["text"]
    assert made.search(query).passages == other.search(query).passages
    assert len(made.search(query)) == 1


def test_view__of_the_same_files_under_another_scheme(tmp_path):
    """Lower-case words are the same tokens for two tokenizers, so that all files are equal."""
    for tokenizer in ("words", "whitespace"):
        folder = tmp_path / tokenizer
        PassageIndex.create(folder, min_tokens=5, text=TextOptions(tokenizer=tokenizer)).add(
            texts(5), read=ReadOptions(id_column="id")
        )
    made = PassageIndex.open(tmp_path / "words")
    before = made._handle.view(Runner(1))
    (tmp_path / "words").rename(tmp_path / "old")
    (tmp_path / "whitespace").rename(tmp_path / "words")
    after = made._handle.view(Runner(1))
    assert after.manifest.segments == before.manifest.segments
    assert after.searchers[0] is not before.searchers[0]
    assert len(made.search("W1 W2 W3 W4 W5 W6", "0.1", recall="0.5")) == 0


def test_create__refuses_a_function_before_it_writes(tmp_path):
    message = r"^tokenizer.*\bwords\b.*tokenizer\.json.*str\.split.*align"
    with pytest.raises(InvalidParameterError, match=message) as caught:
        PassageIndex.create(tmp_path / "index", text=TextOptions(tokenizer=str.split))
    assert caught.value.parameters == ("tokenizer",)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", [3, None, b"folder", "a\0b"])
def test_open__something_that_is_not_a_path(folder):
    for call in (
        *(neardup.open_index, DocumentIndex.open, PassageIndex.open),
        *(DocumentIndex.create, PassageIndex.create),
    ):
        with pytest.raises(InvalidParameterError, match=r"^folder must be a path"):
            call(folder)


def test_open__current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in (".", "/"):
        with pytest.raises(ReadError, match=r"index\.sqlite"):
            neardup.open_index(folder)
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n')
    result = neardup.deduplicate(["one", "two"], against=".")
    assert result.removed["id"].to_pylist() == ["0"]
    (tmp_path / "a.jsonl").unlink()
    index = DocumentIndex.create(".")
    index.insert("a", "one")
    index.close()
    assert neardup.deduplicate(["two"], against=".", add=True).summary["documents_kept"] == 1
    assert list(index) == ["a", "0"]


def test_search__refuses_what_is_no_flag(tmp_path):
    index = DocumentIndex.create(tmp_path / "index")
    with pytest.raises(InvalidParameterError, match=r"^with_columns must be True or False"):
        index.search("a text", with_columns="text")
