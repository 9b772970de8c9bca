"""What was done for an open index is not done again, however often it is searched or changed."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from neardup import InvalidParameterError, PassageIndex, ReadOptions, RunOptions, TextOptions
from neardup.runs.runner import Runner

WORDS = [f"w{i}" for i in range(500)]


def texts(n: int, seed: int = 0) -> list[dict[str, str]]:
    generator = random.Random(seed)
    return [
        {"id": f"{seed}-{i}", "text": " ".join(generator.choices(WORDS, k=30))} for i in range(n)
    ]


@pytest.fixture(autouse=True)
def _all_get_segments(monkeypatch):
    monkeypatch.setattr("neardup.passages.index.MOST_PENDING", 0)


@pytest.fixture(params=[("binary", "unary"), ("log", "smooth")])
def index(tmp_path, request) -> PassageIndex:
    """Make an index of several segments, some documents of which are removed."""
    tf, idf = request.param
    made = PassageIndex.create(
        tmp_path / "index", min_tokens=5, num_perm=16, text=TextOptions(tf=tf, idf=idf)
    )
    for seed in range(3):
        made.add(texts(20, seed), read=ReadOptions(id_column="id"))
    made.remove(["0-3", "2-7"])
    return PassageIndex.open(made.folder)


def find(index: PassageIndex) -> list[dict]:
    query = texts(20, 1)[4]["text"]
    return index.search(
        query, "0.7", with_text=True, run=RunOptions(workers=1)
    ).passages.to_pylist()


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


@pytest.mark.slow
def test_search__while_another_thread_is_forgotten(index):
    """Searches of other threads go on with what they have, or make it again."""
    expected, searchers = find(index), index._handle.view(Runner(1)).searchers
    with ThreadPoolExecutor(3) as threads:
        found = [threads.submit(find, index) for _ in range(60)]
        while not all(each.done() for each in found):
            for searcher in searchers:
                searcher.forget()
        assert all(each.result() == expected for each in found)


@pytest.mark.slow
def test_search__while_another_thread_adds(index):
    """Each search sees one state as a whole; after the last addition, all is found."""
    query = "a b c d e f g h i j"
    errors: list[BaseException] = []
    is_done = threading.Event()

    def search_on() -> None:
        try:
            last = 0
            while not is_done.is_set():
                found = len(index.search(query, run=RunOptions(workers=1)))
                assert found >= last
                last = found
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=search_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(6):
        index.add(
            [{"id": f"new{number}", "text": query}],
            read=ReadOptions(id_column="id"),
            run=RunOptions(workers=1),
        )
        assert len(index.search(query)) == number + 1
    is_done.set()
    for thread in threads:
        thread.join()
    assert errors == []


def test_create__refuses_a_function_before_it_writes(tmp_path):
    message = (
        r"^tokenizer must be one of words, .* or a tokenizer\.json file for an index on disk, got "
        r"the function .*str\.split, .*; align takes functions$"
    )
    with pytest.raises(InvalidParameterError, match=message) as caught:
        PassageIndex.create(tmp_path / "index", text=TextOptions(tokenizer=str.split))
    assert caught.value.parameters == ("tokenizer",)
    assert list(tmp_path.iterdir()) == []
