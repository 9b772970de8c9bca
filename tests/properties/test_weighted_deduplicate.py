"""What weights change in deduplication, and what they do not."""

from __future__ import annotations

import pyarrow as pa
import pytest

import neardup
from neardup.engine.threads import ThreadEngine
from neardup.files.memory import MemorySource
from neardup.jobs.dedup.run import deduplicate_sources
from neardup.options.document_options import DedupOptions
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.options import Reference, plan_deduplication
from tests.calls import grouped
from tests.each import INVERSE_FREQUENCIES, each_of
from tests.oracles.measures import WEIGHTED
from tests.properties.weighted_documents import ALL, SURE, passages


def test_deduplicate__raw_and_smooth_by_default():
    strings = passages(7, 100)
    result = neardup.deduplicate(strings, measure=WEIGHTED, threshold="0.6")
    options = {"tf": "raw", "idf": "smooth", "ngram": 1}
    expected = neardup.deduplicate(strings, **grouped(measure=WEIGHTED, threshold="0.6", **options))
    assert result.removed == expected.removed
    scheme = result.summary["scheme"]
    assert (scheme["tf"], scheme["idf"], scheme["ngram"]) == ("raw", "smooth", 1)


@pytest.mark.slow
@each_of(("tf", "idf"), ALL)
def test_deduplicate__exact_copies_collapse(tf, idf):
    strings = ["the cat sat", "The cat, sat!", "a dog", "the cat sat", "the", "THE"]
    result = neardup.deduplicate(
        strings, measure=WEIGHTED, threshold=1, text=neardup.TextOptions(tf=tf, idf=idf)
    )
    assert result.removed.select(["id", "kept_id", "similarity", "exact_copy"]).to_pylist() == [
        {"id": i, "kept_id": kept, "similarity": 1.0, "exact_copy": True}
        for i, kept in (("1", "0"), ("3", "0"), ("5", "4"))
    ]


@pytest.mark.slow
@each_of("idf", ["standard", "probabilistic"])
@each_of("clusters", ["survivors", "components"])
def test_deduplicate__what_all_have_is_compared_by_copies(idf, clusters):
    """Where every token has the least weight, texts are as similar as their term frequencies."""
    strings = ["the", "the the", "the the the", *["the " * 10] * 2, "the " * 12]
    result = neardup.deduplicate(
        strings,
        measure=WEIGHTED,
        threshold="0.8",
        clusters=clusters,
        method="exact",
        text=neardup.TextOptions(idf=idf),
    )
    assert result.removed.select(["id", "kept_id", "similarity"]).to_pylist() == [
        {"id": "4", "kept_id": "3", "similarity": 1.0},
        {"id": "5", "kept_id": "3", "similarity": 10 / 12},
    ]


def test_deduplicate__what_all_have_makes_nothing_similar():
    strings = ["the the the cat", "the the the dog"] * 2 + ["the the the bird"]
    for idf, n_removed in (("standard", 2), ("unary", 4)):
        result = neardup.deduplicate(
            strings,
            measure=WEIGHTED,
            threshold="0.5",
            recall="0.999",
            num_perm=128,
            text=neardup.TextOptions(idf=idf),
        )
        assert result.summary["documents_removed"] == n_removed


@pytest.mark.slow
def test_deduplicate__documents_of_against_and_empty_ones_are_counted():
    pair = ["cat x", "cat y"]
    for own, other in (
        ([*pair, "", "."], None),
        ([*pair, "a", "a"], None),
        (pair, ["a", "b"]),
        (pair, ["a", "a"]),
        ([*pair, ""], [""]),
    ):
        result = neardup.deduplicate(
            own,
            **grouped(idf="standard", against=other, measure=WEIGHTED, threshold="0.199", **SURE),
        )
        (similarity,) = [
            row["similarity"] for row in result.removed.to_pylist() if not row["exact_copy"]
        ]
        # Of four documents two have cat: ln 2 / (ln 2 + 2 ln 4) = 1/5, but for roundings.
        assert similarity == pytest.approx(0.2, abs=1e-6)


def test_deduplicate__skipped_rows_are_not_counted():
    rows = [{"text": text} for text in passages(8, 60)]
    bad = [{"text": None}, *rows[:30], {"text": None}, *rows[30:]]
    options = {"measure": WEIGHTED, "idf": "standard", "threshold": "0.5"}
    expected = neardup.deduplicate(rows, **grouped(**options)).removed
    found = neardup.deduplicate(bad, **grouped(on_error="skip", **options))
    assert found.removed["similarity"] == expected["similarity"]
    assert len(found.removed) > 5
    assert found.summary["skipped_rows"]


class ChangingSource(MemorySource):
    """A source whose texts are longer when they are read for the last time."""

    def __init__(self, texts, longer, n_reads):
        super().__init__(pa.table({"text": texts}))
        self.longer, self.n_left = longer, n_reads

    def _read_blocks(self):
        self.n_left -= 1
        if self.n_left:
            return super()._read_blocks()
        return MemorySource(pa.table({"text": self.longer})).blocks()


@pytest.mark.parametrize(("idf", "n_reads"), [("unary", 2), ("smooth", 3)])
def test_deduplicate__text_that_changes_while_it_is_read(idf, n_reads):
    texts = ["a b c d e f g h", "A b c d e f g h i"]
    other = Reference(
        plan_deduplication(DedupOptions(measure=WEIGHTED, idf=idf, threshold="0.5")), []
    )
    engine = ThreadEngine(Runner(1), IN_MEMORY)
    whole = deduplicate_sources(engine, [ChangingSource(texts, texts, n_reads)], other)
    assert whole.summary["documents_removed"] == 1
    for longer in ([texts[0] + " x y", texts[1]], [texts[0], texts[1] + " x"]):
        with pytest.raises(neardup.ReadError, match="changed"):
            deduplicate_sources(engine, [ChangingSource(texts, longer, n_reads)], other)


def test_deduplicate__documents_are_counted_once_where_that_is_needed():
    for idf in INVERSE_FREQUENCIES:
        reports: dict[str, tuple[int, int | None]] = {}

        def report(stage, done, total, reports=reports):
            reports[stage] = done, total

        result = neardup.deduplicate(
            ["a b", "b", "a"],
            against=["c", ""],
            measure=WEIGHTED,
            text=neardup.TextOptions(idf=idf),
            run=neardup.RunOptions(progress=report),
        )
        assert ("count" in result.summary["seconds"]) == (idf != "unary")
        # Both collections, once: as many bytes as are read afterwards.
        assert reports.get("count") == (None if idf == "unary" else reports["read"])
        assert reports["read"][0] == reports["read"][1]


def test_deduplicate__one_template_costs_a_comparison_a_document():
    strings = [" ".join(f"w{j}" if j != i else "new" for j in range(200)) for i in range(200)]
    result = neardup.deduplicate(
        strings, measure=WEIGHTED, threshold="0.9", run=neardup.RunOptions(workers=1)
    )
    assert result.summary["documents_kept"] == 1
    assert result.summary["candidates"] == 199
