"""What was done for an open index is not done again, however often it is searched or changed."""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from neardup import InvalidParameterError, PassageIndex, align
from neardup.indexes import folder as extras
from neardup.indexes import segments
from neardup.passages import index as handle
from neardup.passages import search, segment
from neardup.runs.runner import Runner

WORDS = [f"w{i}" for i in range(500)]


def texts(n: int, seed: int = 0) -> list[dict[str, str]]:
    generator = random.Random(seed)
    return [
        {"id": f"{seed}-{i}", "text": " ".join(generator.choices(WORDS, k=30))} for i in range(n)
    ]


@pytest.fixture(params=[("binary", "unary"), ("log", "smooth")])
def index(tmp_path, request) -> PassageIndex:
    """Make an index of several segments, some documents of which are removed."""
    tf, idf = request.param
    made = PassageIndex.create(tmp_path / "index", min_tokens=5, num_perm=16, tf=tf, idf=idf)
    for seed in range(3):
        made.add(texts(20, seed), id_column="id")
    made.remove(["0-3", "2-7"])
    return PassageIndex.open(made.folder)


@pytest.fixture
def work(monkeypatch) -> Counter[str]:
    """Count what takes a look at whole files, vocabularies or collections of documents."""
    done: Counter[str] = Counter()

    def count(module, name, what) -> None:
        real = getattr(module, name)

        def counting(*arguments, **options):
            done[what] += 1
            return real(*arguments, **options)

        monkeypatch.setattr(module, name, counting)

    for module in (segments, extras):
        count(module, "check_file", "checksums")
        count(module, "map_file", "mapped files")
    count(handle, "read_segment", "segments")
    count(handle, "restore_scheme", "schemes")
    count(search, "inverse_frequencies", "frequencies")
    count(search.SegmentSearcher, "_make_scratch", "scratch memory")
    count(segment, "IdTable", "tables of ids")
    return done


def find(index: PassageIndex) -> list[dict]:
    query = texts(20, 1)[4]["text"]
    return index.search(query, "0.7", workers=1, with_text=True).passages.to_pylist()


@pytest.mark.slow
def test_search__looks_once_at_what_it_keeps(index, work):
    first = find(index)
    assert first
    for seed in range(3):
        assert len(index.search(texts(20, seed), "0.9", workers=1)) >= 19
    work.clear()
    for _ in range(3):
        assert find(index) == first
        index.search(texts(3, 1), "0.7", id_column="id", workers=1)
        align(texts(3, 1), index, id_column="id", workers=1)
    assert len(index) == 58
    assert index.info()["documents"] == 58
    assert work == {}


def test_search__memory_for_as_many_threads_as_search_at_a_time(index, work):
    queries = texts(20, 0) * 4
    index.search(queries, "0.9", id_column="id", workers=2)
    # Twice for each segment at most, whatever the number of calls and queries.
    assert work["scratch memory"] <= 2 * 3
    for _ in range(4):
        index.search(queries, "0.9", id_column="id", workers=2)
    assert work["scratch memory"] <= 2 * 3


def test_add__checks_what_is_new(index, work):
    find(index)
    n_files = len([*(index.folder / "segments").glob("*/*")]) // 3
    work.clear()
    index.add(texts(5, 9), id_column="id")
    # The old segments get a table of their ids, the first time.
    assert (work["checksums"], work["segments"], work["tables of ids"]) == (0, 0, 3)
    work.clear()
    find(index)
    assert (work["checksums"], work["segments"], work["schemes"]) == (n_files, 1, 0)
    work.clear()
    index.add(texts(5, 10), id_column="id")
    # Only the segment that the last addition has made.
    assert (work["checksums"], work["tables of ids"]) == (0, 1)
    assert len(index) == 68


def test_remove_and_compact__check_what_is_new(index, work):
    find(index)
    n_files = len([*(index.folder / "segments").glob("*/*")]) // 3
    work.clear()
    assert index.remove(["1-4"]).n_removed == 1
    assert work["checksums"] == 0
    assert len(index) == 57
    # The list of documents that one segment has lost.
    assert (work["checksums"], work["segments"]) == (1, 0)
    work.clear()
    assert index.compact().n_segments == 1
    assert work["checksums"] == 0
    assert len(index) == 57
    assert (work["checksums"], work["segments"]) == (n_files, 1)


def test_refresh__sees_what_others_have_added(index, work):
    other, index = (
        PassageIndex.open(index.folder),
        PassageIndex.open(index.folder, refresh="manual"),
    )
    find(index)
    n_files = len([*(index.folder / "segments").glob("*/*")]) // 3
    other.add([{"id": "new", "text": "a b c d e f g h i j"}], id_column="id")
    assert len(index.search("a b c d e f g h i j")) == 0
    work.clear()
    index.refresh()
    assert work["checksums"] == n_files
    assert index.search("a b c d e f g h i j").passages["doc_id"].to_pylist() == ["new"]
    work.clear()
    index.refresh()
    assert work == {}


def test_refresh__of_an_index_that_was_built_anew(tmp_path):
    """Segments of the same names under another scheme are other segments."""
    made = PassageIndex.create(tmp_path / "index", min_tokens=5, num_perm=16)
    made.add(texts(5), id_column="id")
    assert len(made) == 5
    (tmp_path / "index").rename(tmp_path / "old")
    other = PassageIndex.create(tmp_path / "index", min_tokens=3, num_perm=8, idf="smooth")
    other.add(texts(5), id_column="id")
    made.refresh()
    assert made.info() == other.info()
    query = texts(5)[2]["text"]
    assert made.search(query).passages == other.search(query).passages
    assert len(made.search(query)) == 1


def test_refresh__of_the_same_files_under_another_scheme(tmp_path):
    """Lower-case words are the same tokens for two tokenizers, so that all files are equal."""
    for tokenizer in ("words", "whitespace"):
        folder = tmp_path / tokenizer
        PassageIndex.create(folder, min_tokens=5, tokenizer=tokenizer).add(texts(5), id_column="id")
    made = PassageIndex.open(tmp_path / "words")
    before = made._handle.view(Runner(1))
    (tmp_path / "words").rename(tmp_path / "old")
    (tmp_path / "whitespace").rename(tmp_path / "words")
    made.refresh()
    after = made._handle.view(Runner(1))
    assert after.manifest.segments == before.manifest.segments
    assert after.searchers[0] is not before.searchers[0]
    assert len(made.search("W1 W2 W3 W4 W5 W6", "0.1", recall="0.5")) == 0


def test_search__what_was_forgotten_is_made_again(index, monkeypatch):
    """All but how far passages reach, which takes longest."""
    done: Counter[str] = Counter()
    for name in ("list_places", "find_reaches", "find_least_weights"):
        real = getattr(search.lookups, name)
        monkeypatch.setattr(
            search.lookups, name, lambda *a, name=name, real=real: done.update([name]) or real(*a)
        )
    expected, searchers = find(index), index._handle.view(Runner(1)).searchers
    assert expected
    assert find(index) == expected
    first = Counter(done)
    assert first["find_reaches"]
    for searcher in searchers:
        searcher.forget()
        assert not {"_places", "_documents"} & vars(searcher).keys()
    assert find(index) == expected
    assert done == first + Counter(list_places=len(searchers), find_least_weights=len(searchers))


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
                found = len(index.search(query, workers=1))
                assert found >= last
                last = found
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=search_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(6):
        index.add([{"id": f"new{number}", "text": query}], id_column="id", workers=1)
        assert len(index.search(query)) == number + 1
    is_done.set()
    for thread in threads:
        thread.join()
    assert errors == []


def test_are_kept__as_removed(index):
    view = index._handle.view(Runner(1))
    for number in range(3):
        everything = np.arange(20)
        expected = ~np.isin(everything, view.removed[number])
        assert view.are_kept(number, everything).tolist() == expected.tolist()
    assert [int((~view.are_kept(n, np.arange(20))).sum()) for n in range(3)] == [1, 0, 1]
    assert view.segments_of(np.array([0, 19, 20, 39, 40, 59])).tolist() == [0, 0, 1, 1, 2, 2]


def test_create__refuses_a_function_before_it_writes(tmp_path):
    message = (
        r"^tokenizer must be one of words, .* or a tokenizer\.json file for an index on disk, got "
        r"the function .*str\.split, .*; align takes functions$"
    )
    with pytest.raises(InvalidParameterError, match=message) as caught:
        PassageIndex.create(tmp_path / "index", tokenizer=str.split)
    assert caught.value.parameters == ("tokenizer",)
    assert list(tmp_path.iterdir()) == []
