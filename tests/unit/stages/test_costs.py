"""Costs of stages: what the real arrays, columns and files take, against what is planned."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pytest

from neardup.files.memory import MemorySource
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.dedup.run import deduplicate_sources
from neardup.options.documents import DedupOptions
from neardup.reading.catalogue import make_catalogue
from neardup.reading.first_pass import sign_collections
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from neardup.stages import costs
from neardup.stages.components import find_components, pack_components
from neardup.stages.contents import Contents, find_contents
from neardup.stages.decide import Decision, assign
from neardup.stages.plan import DedupPlan, plan_deduplication
from neardup.stages.sample import draw_sample, load_of

pytestmark = pytest.mark.slow

N = 8_000
R = TypeVar("R")
RUNNER = Runner(1)


def collection(n: int = N) -> pa.Table:
    """Documents of which every twentieth is nearly an earlier one, and as many are copies."""
    generator = np.random.default_rng(1)
    texts = [" ".join(map(str, words)) for words in generator.integers(0, 5000, (n, 30))]
    for i in range(0, n // 2, 10):
        texts[n // 2 + i], texts[n // 2 + i + 1] = texts[i] + " x", texts[i + 1]
    return pa.table({"text": texts, "id": [f"document {i}" for i in range(n)]})


def planned(keep: str, id_column: str) -> tuple[list[Source], DedupPlan, costs.Load]:
    options = DedupOptions(keep=keep, id_column=id_column)
    plan = plan_deduplication(options)
    sources = list(resolve_inputs(collection(), options))
    return sources, plan, load_of(draw_sample(sources, plan, RUNNER), sources, plan)


def peak_of(function: Callable[[], R]) -> tuple[float, R]:
    """Return the bytes a document of NumPy's arrays at the peak of a call, and what it returns."""
    gc.collect()
    tracemalloc.start()
    result = function()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / N, result


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("id_column", ["id", ""])
def test_arrays__as_planned(monkeypatch, keep, id_column):
    """All arrays as long as the collection, in each stage; one more in any of them is noticed."""
    # What is held of a block for a moment is little of a large collection.
    monkeypatch.setitem(MemorySource.__init__.__kwdefaults__, "block_rows", 700)
    sources, plan, load = planned(keep, id_column)
    arrays = costs.arrays_of_stages(load)
    peaks = {}
    # Once before, so that what is imported then is not counted.
    collections = [([], plan.reading), (sources, plan.reading)]
    sign_collections(collections, IN_MEMORY, RUNNER)

    def making(*arguments: object, **named: object) -> object:
        peaks["ids"], made = peak_of(lambda: make_catalogue(*arguments, **named))
        return made

    monkeypatch.setattr("neardup.reading.first_pass.make_catalogue", making)
    signed = sign_collections(collections, IN_MEMORY, RUNNER)
    contents = find_contents(signed, plan.keep, IN_MEMORY)
    catalogue = contents.own.n_tokens.nbytes
    catalogue += 0 if contents.own.lengths is None else contents.own.lengths.nbytes
    ranks = 0 if contents.ranks is None else contents.ranks.nbytes
    held = (catalogue + contents.firsts.nbytes + ranks) / N
    assert held == costs.held_bytes(load) == arrays["copies"]

    gone = np.flatnonzero(contents.is_content)[1::2]
    decision = Decision(gone, np.zeros_like(gone), np.ones(len(gone)))
    beyond, assignment = peak_of(lambda: assign(contents, decision))
    peaks["assign"] = held + beyond
    arrays_of = [each for each in vars(assignment).values() if isinstance(each, np.ndarray)]
    assigned = sum(array.nbytes for array in arrays_of)
    # Rows of tables are made some at a time, which are few of a large collection.
    monkeypatch.setattr("neardup.stages.selection.ROWS_AT_ONCE", 200)
    tables, _ = peak_of(lambda: read_tables(contents, assignment))
    peaks["write"] = (catalogue + assigned) / N + tables
    for stage, peak in peaks.items():
        assert peak == pytest.approx(arrays[stage], rel=0.08), stage


def read_tables(contents: Contents, assignment: object) -> None:
    result = DeduplicationResult(contents.own, contents.other, assignment, {})
    for rows in result._tables().values():
        for _ in rows:
            pass


def test_components__as_planned():
    sources, plan, load = planned("first", "id")
    signed = sign_collections([([], plan.reading), (sources, plan.reading)], IN_MEMORY, RUNNER)
    contents = find_contents(signed, plan.keep, IN_MEMORY)
    join, roots = peak_of(lambda: find_components(signed.batches, contents, IN_MEMORY, RUNNER))
    sorting = costs.SORTING_BYTES
    planned_peak = costs.arrays_of_stages(load)["bucket"] - costs.held_bytes(load) + sorting
    assert 0.7 * planned_peak < join <= planned_peak
    pack, partitions = peak_of(lambda: pack_components(roots, contents, plan.reading, None))
    assert pack < planned_peak
    assert len(partitions.documents) == pytest.approx(load.candidates, rel=0.2)


def test_files__as_planned(tmp_path):
    """What a run puts into its work folder: columns of all, rows of candidates, texts."""
    sources, plan, load = planned("first", "id")
    memory = 40_000
    assert not costs.choose_storage(load, memory).is_memory
    disk = costs.disk_of_stages(load, memory)
    sizes = {}
    with Workspace(memory, WorkFolder.temporary(tmp_path)) as workspace:
        folder = workspace.work
        deduplicate_sources(sources, [], plan, RUNNER, workspace)
        for path in folder.folder.iterdir():
            name = path.name.partition("-")[0]
            sizes[name] = sizes.get(name, 0) + path.stat().st_size
    assert sizes["sign"] == pytest.approx(disk["read"], rel=0.05)
    assert sizes["keys"] == pytest.approx(disk["bucket"] - disk["read"], rel=0.2)
    assert sizes["texts"] == pytest.approx(disk["compare"] - disk["sieve"], rel=0.2)
    assert sum(sizes.values()) == pytest.approx(disk["write"], rel=0.1)


def test_storage__by_what_a_run_may_take():
    _, _, load = planned("first", "id")
    least = costs.memory_for_all(load)
    assert costs.choose_storage(load, least + 1).is_memory
    assert not costs.choose_storage(load, least - 1).is_memory
    assert set(costs.disk_of_stages(load, least + 1).values()) == {0}
    few, many = (costs.memory_of_stages(load, memory, 2) for memory in (10**6, 10**12))
    assert max(few.values()) < max(many.values())
    twice = replace(load, documents=2 * load.documents)
    grown = costs.memory_of_stages(twice, 10**12, 2)
    assert all(grown[stage] > many[stage] for stage in ("read", "bucket", "write"))
