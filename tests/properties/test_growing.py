"""Batches that are deduplicated against an index and added give what one run over all gives."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.documents.document_handle import DocumentHandle
from neardup.documents.scheme import DocumentScheme
from neardup.engine.threads import ThreadEngine
from neardup.files.memory import rows_source
from neardup.index.store import create_index
from neardup.jobs.dedup.run import deduplicate_sources
from neardup.options.document_options import DedupOptions
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.options import Reference, plan_deduplication
from tests.calls import grouped
from tests.each import each_of
from tests.examples import examples
from tests.oracles.growing import GrowingCollection
from tests.oracles.measures import MEASURES, WEIGHTED
from tests.oracles.shingles import elements

RUNNER = Runner(1)

# Bands of one row: a pair of Jaccard similarity J is missed with probability (1 - J)^bands. The
# least J here is 1/9: (8/9)^512 < 10^-26.
SURE = {"bands": (512, 1), "num_perm": 512}

# Few words, so that copies, ties and copies of what went abound.
words = st.lists(st.sampled_from("abcde"), max_size=8)


@st.composite
def collections(draw):
    """Token lists, many of them alike, and where batches end."""
    base = draw(st.lists(words, min_size=1, max_size=5))
    changed = st.tuples(st.sampled_from(base), words, st.integers(0, 3)).map(
        lambda x: [*x[0], *x[1][:1]] if x[2] == 0 else x[0]
    )
    documents = draw(st.lists(st.one_of(changed, st.sampled_from(base)), max_size=16))
    sizes = draw(st.lists(st.integers(0, 6), max_size=4))
    cuts = sorted({0, *(min(cut, len(documents)) for cut in accumulate(sizes)), len(documents)})
    return documents, list(pairwise(cuts))


def offer_all(oracle, rows, documents):
    """Offer a batch to the oracle, and give what goes."""
    found = [
        (row["id"], *removal)
        for row, tokens in zip(rows, documents, strict=True)
        if (removal := oracle.offer(row["id"], tokens)) is not None
    ]
    oracle.end_batch()
    return found


thresholds = st.sampled_from(["0.25", "0.5", "0.6", "0.75", "0.8", "1"])


def make_rows(documents):
    return [{"id": f"d{i}", "text": " ".join(tokens)} for i, tokens in enumerate(documents)]


@contextmanager
def new_index(measure, threshold, *, ngram=2, tf=None, idf=None, **bands):
    """Make an empty index; give its folder."""
    options = DedupOptions(
        measure=measure, threshold=threshold, ngram=ngram, tf=tf, idf=idf, **bands
    )
    plan = plan_deduplication(options)
    scheme = DocumentScheme(
        plan.reading.shingles,
        plan.measure,
        plan.options.recall_asked_for,
        plan.banding,
        plan.minhash,
        plan.reading.weighted,
    )
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "index"
        create_index(folder, scheme.describe())
        yield folder


def removals(result):
    return [
        (row["id"], row["kept_id"], row["similarity"], row["exact_copy"])
        for row in result.removed.to_pylist()
    ]


def add_all(folder, rows, batches, **options):
    """Deduplicate batch after batch; give what went, and what stays."""
    gone, kept = [], []
    for start, stop in batches:
        result = neardup.deduplicate(
            rows[start:stop], **grouped(workers=1, against=folder, add=True, **options)
        )
        gone += removals(result)
        kept += result.kept["id"].to_pylist() if stop > start else []
        assert result.summary["documents_added"] == result.summary["documents_kept"]
    return gone, kept


@examples(60)
@given(collections(), st.sampled_from(MEASURES), thresholds, thresholds, st.integers(1, 3))
def test_batches__as_one_run_and_as_the_oracle(drawn, measure, least, threshold, ngram):
    documents, batches = drawn
    least, threshold = sorted([least, threshold], key=Fraction)
    rows = make_rows(documents)
    with new_index(measure, least, ngram=ngram, **SURE) as folder:
        gone, kept = add_all(folder, rows, batches, threshold=threshold)
    oracle = GrowingCollection(
        measure, Fraction(threshold), lambda tokens: elements(tokens, ngram, "set")
    )
    expected = []
    for start, stop in batches:
        expected += offer_all(oracle, rows[start:stop], documents[start:stop])
    assert [(d, kept_id, exact) for d, kept_id, _, exact in gone] == [
        (d, kept_id, exact) for d, kept_id, _, exact in expected
    ]
    assert [each[2] for each in gone] == pytest.approx([each[2] for each in expected], rel=1e-15)
    assert kept == list(oracle.stays)
    whole = neardup.deduplicate(
        rows, **grouped(ngram=ngram, id_column="id", measure=measure, threshold=threshold, **SURE)
    )
    assert [each[0] for each in removals(whole)] == [each[0] for each in gone]


@examples(40)
@given(
    collections(),
    st.sampled_from([*MEASURES, WEIGHTED]),
    st.sampled_from([(4, 2), (3, 3), (2, 1)]),
    st.integers(0, 5),
)
def test_batches__as_one_run_where_bands_miss_pairs(drawn, measure, banding, seed):
    documents, batches = drawn
    bands = {"bands": banding, "seed": seed}
    weights = {"tf": "raw", "idf": "unary"} if measure == WEIGHTED else {}
    rows = make_rows(documents)
    with new_index(measure, "0.3", ngram=1, **bands, **weights) as folder:
        gone, _ = add_all(folder, rows, batches)
    whole = neardup.deduplicate(
        rows,
        **grouped(ngram=1, id_column="id", measure=measure, threshold="0.3", **bands, **weights),
    )
    assert [each[0] for each in removals(whole)] == [each[0] for each in gone]


@examples(25)
@given(collections(), st.sampled_from(["smooth", "standard", "probabilistic"]))
def test_batches__as_one_run_with_the_weights_of_the_first(drawn, idf):
    documents, batches = drawn
    bands = {"bands": (64, 1)}
    rows = make_rows(documents)
    with new_index(WEIGHTED, "0.4", ngram=1, tf="raw", idf=idf, **bands) as folder:
        gone, _ = add_all(folder, rows, batches)
        scheme = DocumentHandle(folder).view(RUNNER).scheme
    options = DedupOptions(
        measure=WEIGHTED, threshold="0.4", tf="raw", idf=idf, id_column="id", **bands
    )
    plan = plan_deduplication(options)
    if scheme.weighted.frequencies is None:
        assert not any(documents)
        return
    other = Reference(plan.weighed(scheme.weighted.frequencies), [])
    whole = deduplicate_sources(ThreadEngine(RUNNER, IN_MEMORY), [rows_source(rows)], other)
    assert [each[0] for each in removals(whole)] == [each[0] for each in gone]


@examples(40)
@given(collections(), st.sampled_from(MEASURES), thresholds, st.data())
def test_batches__after_removals_and_compaction_as_the_oracle(drawn, measure, threshold, data):
    documents, batches = drawn
    rows = make_rows(documents)
    oracle = GrowingCollection(
        measure, Fraction(threshold), lambda tokens: elements(tokens, 2, "set")
    )
    with new_index(measure, threshold, **SURE) as folder:
        for start, stop in batches:
            gone, _ = add_all(folder, rows, [(start, stop)])
            expected = offer_all(oracle, rows[start:stop], documents[start:stop])
            assert [each[:2] for each in gone] == [each[:2] for each in expected]
            handle = DocumentHandle(folder)
            if oracle.stays and data.draw(st.booleans()):
                taken = data.draw(st.sets(st.sampled_from(sorted(oracle.stays)), min_size=1))
                removal = handle.remove(taken, RUNNER)
                orphans = {tuple(row.values()) for row in removal.orphans.to_pylist()}
                assert {each[:2] for each in orphans} == {each[:2] for each in oracle.remove(taken)}
            if data.draw(st.booleans()):
                handle.compact(RUNNER)


@pytest.mark.slow
@each_of(("first", "second"), [(9, 1), (1, 9), (18, 2), (2, 18)])
@each_of("cut", [1, 2])
def test_batches__exact_tie_under_cosine(first, second, cut):
    """1 / sqrt(3 * 1) = 3 / sqrt(3 * 9), whose roundings differ: still the earlier one stays."""
    common = {1: 1, 9: 3, 2: 1, 18: 3}
    strings = [
        " ".join(
            ["a", "b", "c"][: common[size]] + [f"x{size}y{i}" for i in range(common[size], size)]
        )
        for size in (first, second)
    ]
    rows = [{"id": str(i), "text": text} for i, text in enumerate([*strings, "a b c"])]
    with new_index("cosine", "0.4", ngram=1, **SURE) as folder:
        gone, _ = add_all(folder, rows, [(0, cut), (cut, 3)])
    assert [each[:2] for each in gone] == [("2", "0")]


@pytest.mark.slow
@pytest.mark.parametrize("threshold", ["0.5", "0.6", "0.61"])
def test_batches__at_a_threshold_above_that_of_the_index(threshold):
    rows = [{"id": "a", "text": "a b c d e f g h"}, {"id": "b", "text": "a b c d e f x y"}]
    with new_index("jaccard", "0.5", ngram=1, **SURE) as folder:
        gone, _ = add_all(folder, rows, [(0, 1), (1, 2)], threshold=threshold)
    assert [each[0] for each in gone] == (["b"] if threshold != "0.61" else [])
