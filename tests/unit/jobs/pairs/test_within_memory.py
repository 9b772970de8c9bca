"""Method minhash finds the same pairs, and counts the same, whatever memory it may use."""

from __future__ import annotations

import random

import pytest

import neardup
from neardup.engine.threads import ThreadEngine
from neardup.files.inputs import resolve_inputs
from neardup.jobs.pairs import pair_rows
from neardup.jobs.pairs.find_pairs import find_pairs_in_sources
from neardup.jobs.pairs.pair_plan import plan_pairs
from neardup.options.document_options import PairOptions
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from tests.calls import grouped

# Nearly every two texts share a bucket of a single row, so that components are large.
LARGE = {"bands": (24, 1), "threshold": "0.5"}
# Components are clusters.
SMALL = {"threshold": "0.6"}


def edited(rng, words):
    words = list(words)
    words[rng.randrange(len(words))] = f"e{rng.randrange(10**6)}"
    return words


@pytest.fixture(scope="module")
def texts():
    """Clusters of edited texts, exact copies, other orders of the same words, and texts alone."""
    rng = random.Random(7)
    found = [""]
    for cluster in range(12):
        words = [f"c{cluster}-{rng.randrange(60)}" for _ in range(rng.randrange(8, 30))]
        words += rng.sample([f"shared{i}" for i in range(6)], 4)
        for _ in range(rng.randrange(1, 8)):
            words = edited(rng, words)
            found.append(" ".join(words))
        found += [found[-1]] * (cluster % 3)
        found.append(" ".join(reversed(words)))
        found += [" ".join(f"alone{cluster}-{i}" for i in range(9))] * (1 + cluster % 2)
    rng.shuffle(found)
    return found


def find(left, right, workspace, workers=2, **options):
    options = PairOptions(method="minhash", tokenizer="whitespace", ngram=1, **options)
    sources = [resolve_inputs(data, options) for data in (left, right) if data is not None]
    right_sources = sources[1] if right is not None else None
    plan = plan_pairs(options, has_other=True)
    with Runner(workers) as runner:
        return find_pairs_in_sources(
            sources[0], right_sources, plan, ThreadEngine(runner, workspace)
        )


def parts_of(result):
    counts = {key: value for key, value in result.summary.items() if key != "seconds"}
    return result.pairs.to_pylist(), counts, vars(result.counts)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [10_000, 10**9])
@pytest.mark.parametrize(
    "options",
    [
        LARGE,
        SMALL,
        LARGE | {"measure": "containment"},
        SMALL | {"measure": "max-containment"},
        LARGE | {"measure": "cosine"},
        SMALL | {"measure": "dice"},
        LARGE | {"measure": "weighted-jaccard"},
        SMALL | {"measure": "weighted-jaccard", "idf": "unary"},
    ],
)
def test_pairs__same_at_any_memory(texts, tmp_path, monkeypatch, options, memory):
    monkeypatch.setattr(pair_rows, "_ROWS_AT_ONCE", 50)
    for right in (None, texts[::3]):
        with Workspace(memory, WorkFolder.temporary(tmp_path)) as workspace:
            spilled = find(texts, right, workspace, **options)
            assert (workspace.work.n_done > 0) == (memory < 10**9)
            assert parts_of(spilled) == parts_of(find(texts, right, IN_MEMORY, **options))
        assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_pairs__all_where_all_share_a_bucket(texts, tmp_path, measure):
    """With so many buckets of one row nothing is missed, as the exact join confirms."""
    options = {"measure": measure, "threshold": "0.5"}
    exact = neardup.find_pairs(texts, **grouped(tokenizer="whitespace", ngram=1, **options))
    assert len(exact) > 100
    with Workspace(20_000, WorkFolder.temporary(tmp_path)) as workspace:
        spilled = find(texts, None, workspace, **LARGE | options)
        assert spilled.pairs.to_pylist() == exact.pairs.to_pylist()
