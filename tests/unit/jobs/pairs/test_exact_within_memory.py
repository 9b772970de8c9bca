"""The exact methods find the same pairs, byte for byte, whatever memory they may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.engine.threads import ThreadEngine
from neardup.files.inputs import resolve_inputs
from neardup.jobs.pairs import exact
from neardup.jobs.pairs.find_pairs import find_pairs_in_sources
from neardup.jobs.pairs.pair_plan import plan_pairs
from neardup.options.document_options import PairOptions
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from tests.examples import examples
from tests.unit.jobs.pairs.test_within_memory import texts  # noqa: F401

OPTIONS = {
    "jaccard": {"threshold": "0.6"},
    "cosine": {"measure": "cosine", "threshold": "0.7", "method": "allpairs"},
    "dice": {"measure": "dice", "threshold": "0.7", "method": "ppjoin"},
    "overlap": {"measure": "overlap", "threshold": "6", "method": "ppjoin+"},
    "containment": {"measure": "containment", "threshold": "0.6"},
    "max-containment": {"measure": "max-containment", "threshold": "0.6"},
    "weighted": {"measure": "weighted-jaccard", "threshold": "0.5"},
    "standard": {"measure": "weighted-jaccard", "idf": "standard", "threshold": "0.5"},
    "edits": {"max_distance": 12},
    "edit similarity": {"measure": "edit", "threshold": "0.7", "tokenizer": "whitespace"},
    "best": {"threshold": 0.3, "top": 40},
    "best of each": {"threshold": 0.3, "top": 3, "per_document": True},
    "one to one": {"threshold": "0.5", "one_to_one": True},
}
SLOW = pytest.mark.slow
_OWN = ("seconds", "workers", "filters", "steps")


def find(left, right, workspace, workers=2, **options):
    if "max_distance" not in options and options.get("measure") != "edit":
        options = {"tokenizer": "whitespace", "ngram": 1} | options
    options = PairOptions(**options)
    sources = [resolve_inputs(data, options) for data in (left, right) if data is not None]
    plan = plan_pairs(options, has_other=right is not None)
    with Runner(workers) as runner:
        return find_pairs_in_sources(
            sources[0],
            sources[1] if right is not None else None,
            plan,
            ThreadEngine(runner, workspace),
        )


def parts_of(result):
    summary = {key: value for key, value in result.summary.items() if key not in _OWN}
    return result.pairs.to_pylist(), result.pairs.schema, summary, result.counts.results


@contextmanager
def workspace_of(memory: int, folder) -> Iterator[Workspace]:
    """Give next to no memory; a thousand bytes are for some ten records at a time."""
    with Workspace(memory, WorkFolder.temporary(folder)) as workspace:
        yield workspace


def counted_units(monkeypatch):
    numbers = []
    units = exact.RecordBlocks.units
    monkeypatch.setattr(
        exact.RecordBlocks, "units", lambda *a: numbers.append(len(units(*a))) or units(*a)
    )
    return numbers


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(options, id=name, marks=[SLOW] * (name == "edits"))
        for name, options in OPTIONS.items()
    ],
)
def test_pairs__same_within_memory(texts, tmp_path, monkeypatch, options):  # noqa: F811
    numbers = counted_units(monkeypatch)
    for right in (None, texts[::3]):
        in_memory = parts_of(find(texts, right, IN_MEMORY, **options))
        assert len(in_memory[0]) > 5
        assert set(numbers) == {1}
        numbers.clear()
        with workspace_of(16_000, tmp_path) as workspace:
            spilled = parts_of(find(texts, right, workspace, **options))
            assert workspace.work.n_done > 0
        assert spilled == in_memory
        assert max(numbers) >= 5
        numbers.clear()
        assert not any(tmp_path.iterdir())


words = st.lists(st.sampled_from("abcdefgh"), max_size=7).map(" ".join)
rows = st.lists(st.tuples(words, st.sampled_from(["x", "y", ""])), max_size=14)


@examples(120)
@given(
    left=rows,
    right=st.none() | rows,
    name=st.sampled_from(list(OPTIONS)),
    memory=st.integers(100, 6_000),
    workers=st.integers(1, 3),
    in_blocks=st.booleans(),
)
def test_pairs__as_in_memory(
    left, right, name, memory, workers, in_blocks, tmp_path_factory, monkeypatch_once
):
    options = OPTIONS[name] | ({"blocking": ["b"]} if in_blocks else {})
    given_rows = [
        None if side is None else [{"text": text, "b": b} for text, b in [*side, ("a", "x")]]
        for side in (left, right)
    ]
    expected = parts_of(find(*given_rows, IN_MEMORY, **options))
    with workspace_of(memory, tmp_path_factory.mktemp("work")) as workspace:
        assert parts_of(find(*given_rows, workspace, workers, **options)) == expected


@pytest.fixture(scope="module")
def monkeypatch_once():
    """Count few elements as distinct and as costing little, so that blocks differ in number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "_COUNTED_BELOW", np.uint64(2**62))
        yield patch
