"""An alignment within little memory: the passages, the summary and the order are as in any."""

from __future__ import annotations

import json
import random
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup import PassageIndex
from tests.calls import grouped
from tests.each import each_of
from tests.examples import examples
from tests.spilling import spilling

RNG = random.Random(8)
SHARED = [" ".join(f"w{RNG.randrange(300)}" for _ in range(40)) for _ in range(5)]


def write(path, n):
    own = [" ".join(f"w{RNG.randrange(300)}" for _ in range(9)) for _ in range(n)]
    texts = [f"{path.stem}{k} {RNG.choice(SHARED)} b{k} {own[k]}" for k in range(n)]
    path.write_text("".join(json.dumps({"id": k, "text": t}) + "\n" for k, t in enumerate(texts)))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    written = {name: write(folder / f"{name}.jsonl", n) for name, n in (("a", 20), ("b", 24))}
    index = PassageIndex.create(folder / "index", min_tokens=17, num_perm=16)
    for k in range(4):
        index.add(write(folder / f"{k}.jsonl", 7), read=neardup.ReadOptions(id_column=""))
    return written | {"index": folder / "index"}


@contextmanager
def within(memory, block):
    """Let few tokens be a segment, and few windows a part."""
    with ExitStack() as stack:
        for name, value in (
            ("passages.passage_lookup._LEAST_TOKENS", 1),
            ("passages.passage_lookup._CHUNK", 4),
            ("passages.passage_lookup._WINDOWS_AT_A_TIME", 16),
        ):
            stack.enter_context(patch(f"neardup.{name}", value))
        stack.enter_context(spilling(memory, block))
        yield


def align(files, other, options, workers):
    b = None if other is None else files[other]
    options = dict(options) if other == "index" else {"min_tokens": 25, **options}
    result = neardup.align(files["a"], b, **grouped(workers=workers, **options))
    summary = {name: value for name, value in result.summary.items() if name != "seconds"}
    return result.passages, result.document_pairs, summary


CASES = [
    ("b", {}),
    (None, {}),
    (None, {"within": True, "max_documents": 6}),
    (None, {"max_documents": "20%", "with_text": True}),
    (None, {"measure": "containment", "threshold": "0.5"}),
    ("b", {"measure": "containment", "threshold": "0.5", "summary": "documents"}),
    ("b", {"places": True, "measure": "containment", "threshold": "0.5"}),
    ("b", {"idf": "smooth", "ngram": 2}),
    ("index", {}),
    ("index", {"max_documents": 9, "place_marker": r"\b([ab]\d+) "}),
]


@pytest.mark.slow
@each_of("other, options", CASES, ids=str)
def test_align__the_same_within_any_memory(files, other, options):
    expected = align(files, other, options, 1)
    assert len(expected[0]) > 5

    @examples(8)
    @given(st.integers(50, 60_000), st.sampled_from([700, 2500, 1 << 20]), st.integers(1, 3))
    def check(memory, block, workers):
        with within(memory, block):
            found = align(files, other, options, workers)
        assert found[0].equals(expected[0])
        assert found[1] is expected[1] or found[1].equals(expected[1])
        assert found[2] == expected[2]

    check()
