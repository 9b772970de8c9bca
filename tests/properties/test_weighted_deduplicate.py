"""Deduplication by weights, against brute force on tuples of words."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup
from neardup.files.memory import MemorySource
from neardup.jobs.dedup.options import Options, make_plan
from neardup.jobs.dedup.run import deduplicate_sources
from neardup.reading import plan as reading_plan
from neardup.reading import second_pass
from neardup.runtime.runner import Runner
from neardup.text.weighting import INVERSE_FREQUENCIES, TERM_FREQUENCIES
from tests.oracles import components, hashing, survivors, weighted
from tests.oracles.measures import WEIGHTED
from tests.oracles.shingles import shingle_tuples
from tests.oracles.tokens import Options as TokenOptions
from tests.oracles.tokens import tokenize
from tests.strategies import small_texts

# Bands of one row: a pair at the least threshold here, 1/5, is missed with probability
# (4/5)^512 < 10^-49, so that all similar pairs are compared.
SURE = {"num_perm": 512, "bands": 512, "rows": 1}
ALL = list(product(TERM_FREQUENCIES, INVERSE_FREQUENCIES))
SCHEMA = pa.schema([("id", "string"), ("text", "string"), ("score", "int64")])

texts = st.lists(
    st.one_of(small_texts, st.sampled_from(["", " . ", "a", "A b.", "a a b", "b a"])),
    min_size=1,
    max_size=12,
)
tfs, idfs = st.sampled_from(TERM_FREQUENCIES), st.sampled_from(INVERSE_FREQUENCIES)
thresholds = st.sampled_from(["0.2", "0.25", "0.5", "0.6", "0.75", "0.8", "1"])
ngrams = st.integers(1, 3)
ORDERS = {
    "first": lambda row: 0,
    "longest": lambda row: -len(row["text"]),
    "shortest": lambda row: len(row["text"]),
    "max:score": lambda row: -row["score"],
}
keeps = st.sampled_from(sorted(ORDERS))


def make_rows(strings, prefix="d"):
    return [
        {"id": f"{prefix}{i}", "text": text, "score": 7 * i % 4} for i, text in enumerate(strings)
    ]


def words_of(row):
    return tuple(tokenize(row["text"], "words", TokenOptions()))


def weigh(sequences, collection, tf, idf, ngram):
    """Weigh the shingles of some token sequences as those of a collection of sequences."""
    counts = weighted.document_frequencies([shingle_tuples(s, ngram) for s in collection])
    return [
        weighted.weigh(shingle_tuples(sequence, ngram), tf, idf, counts, len(collection))
        for sequence in sequences
    ]


def band_keys(weights, bands, rows, seed):
    """Give a document's band keys, none if it weighs nothing."""
    hashed = {
        hashing.hash_shingle([hashing.hash_token(token) for token in shingle]): weight
        for shingle, weight in weights.items()
    }
    if not hashed:
        return []
    values = [
        weighted.minimum(each, hashed) >> 32 for each in weighted.function_seeds(seed, bands * rows)
    ]
    return [hashing.band_key(values[b * rows : (b + 1) * rows], b) for b in range(bands)]


def expected_result(
    rows,
    others=(),
    *,
    threshold,
    tf,
    idf,
    ngram=1,
    keep="first",
    clusters="survivors",
    bands=None,
):
    """Give kept id, similarity and whether it is a copy for each removed id, and comparisons.

    Copies of a token sequence collapse to the first in keep order; then the rule is applied to one
    document of each, those of ``others`` first. Weights are those of all documents. ``bands`` are
    number, rows and seed; without them all pairs are compared.
    """
    ranked = [*others, *sorted(rows, key=ORDERS[keep])]
    firsts: dict[tuple[bytes, ...], str] = {}
    for row in ranked:
        if words_of(row):
            firsts.setdefault(words_of(row), row["id"])
    sets = weigh(firsts, [words_of(row) for row in ranked], tf, idf, ngram)
    ids = list(firsts.values())
    n_fixed = len({words_of(row) for row in others} - {()})
    meet = survivors.all_pairs
    if bands:
        keys = [set(band_keys(weights, *bands)) for weights in sets]

        def meet(d, other):
            return bool(keys[d] & keys[other])

    rule = survivors.choose if clusters == "survivors" else components.choose
    keepers = rule(sets, WEIGHTED, Fraction(threshold), n_fixed=n_fixed, are_candidates=meet)
    removed = {}
    for row in rows:
        if not words_of(row):
            continue
        place = ids.index(firsts[words_of(row)])
        keeper = keepers[place]
        if keeper >= 0:
            exact = float(weighted.weighted_jaccard(sets[place], sets[keeper]))
            removed[row["id"]] = (ids[keeper], exact, False)
        elif row["id"] != ids[place]:
            removed[row["id"]] = (ids[place], 1.0, True)
    n_compared = sum(
        meet(d, other) for d in range(n_fixed, len(ids)) for other in range(d) if keepers[other] < 0
    )
    return removed, n_compared


def check(result, rows, expected):
    removed = {row["id"]: row for row in result.removed.to_pylist()}
    assert {i: (row["kept_id"], row["exact_copy"]) for i, row in removed.items()} == {
        i: (kept, is_exact) for i, (kept, _, is_exact) in expected.items()
    }
    for identifier, (_, similarity, _) in expected.items():
        found = removed[identifier]["similarity"]
        assert found == pytest.approx(similarity, rel=4 * 2.0**-53, abs=0)
    assert result.kept.to_pylist() == [row for row in rows if row["id"] not in expected]
    assert result.summary["documents_removed"] == len(expected)


def run(rows, others=None, /, **options):
    return neardup.deduplicate(
        pa.Table.from_pylist(rows, SCHEMA),
        against=None if others is None else pa.Table.from_pylist(others, SCHEMA),
        id_column="id",
        measure=WEIGHTED,
        workers=1,
        **options,
    )


@given(texts, tfs, idfs, thresholds, ngrams, keeps, st.sampled_from(["survivors", "components"]))
def test_deduplicate__as_oracle(strings, tf, idf, threshold, ngram, keep, clusters):
    rows = make_rows(strings)
    options = {
        "tf": tf,
        "idf": idf,
        "threshold": threshold,
        "ngram": ngram,
        "keep": keep,
        "clusters": clusters,
    }
    check(run(rows, **SURE, **options), rows, expected_result(rows, **options)[0])


@given(texts, texts, tfs, idfs, thresholds, st.sampled_from(["survivors", "components"]))
@settings(max_examples=40)
def test_deduplicate__against_as_oracle(own, other, tf, idf, threshold, clusters):
    """The other collection stays as it is, and its documents count for what shingles weigh."""
    rows, others = make_rows(own), make_rows(other, "o")
    options = {"tf": tf, "idf": idf, "threshold": threshold, "clusters": clusters}
    result = run(rows, others, **SURE, **options)
    check(result, rows, expected_result(rows, others, **options)[0])
    assert result.summary["against_documents"] == len(others)


@given(texts, st.none() | texts, tfs, idfs, st.sampled_from(["0.2", "0.5"]), st.integers(0, 5))
@settings(max_examples=40)
def test_deduplicate__compares_what_shares_a_band(own, other, tf, idf, threshold, seed):
    """With few bands, so that much is missed: the same is missed by the definition."""
    rows, others = make_rows(own), None if other is None else make_rows(other, "o")
    options = {"tf": tf, "idf": idf, "threshold": threshold}
    result = run(rows, others, bands=3, rows=2, seed=seed, **options)
    expected, n_compared = expected_result(rows, others or (), bands=(3, 2, seed), **options)
    check(result, rows, expected)
    assert result.summary["candidates"] == n_compared


def passages(seed, n):
    """Give texts that overlap in many ways, copies, empty and short ones among them."""
    generator = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(40)]
    found = ["", "w1", "!", "the", "the the"]
    while len(found) < n:
        words = ["the", *generator.choices(vocabulary, k=generator.randint(1, 40))]
        found.append(" ".join(words))
        for _ in range(generator.randrange(4)):
            changed = [
                w if generator.random() < 0.93 else generator.choice(vocabulary) for w in words
            ]
            found.append(" ".join(changed))
    generator.shuffle(found)
    return found[:n]


@pytest.mark.parametrize(("tf", "idf"), ALL)
def test_deduplicate__hundreds_of_texts_as_oracle(tf, idf):
    rows = make_rows(passages(3, 120))
    options = {"tf": tf, "idf": idf, "threshold": "0.7", "keep": "longest"}
    expected, _ = expected_result(rows, **options)
    assert len(expected) > 20
    check(run(rows, **SURE, **options), rows, expected)


@pytest.mark.parametrize("idf", INVERSE_FREQUENCIES)
def test_deduplicate__every_removal_is_verified(idf):
    """With bands that miss some: what goes is similar to what it goes for, and that stays."""
    rows = make_rows(passages(4, 300))
    result = run(rows, tf="log", idf=idf, threshold="0.6", recall="0.5")
    texts_of = {row["id"]: words_of(row) for row in rows}
    sets = dict(
        zip(texts_of, weigh(texts_of.values(), texts_of.values(), "log", idf, 1), strict=True)
    )
    kept = set(result.kept["id"].to_pylist())
    removed = result.removed.to_pylist()
    assert len(removed) > 20
    for row in removed:
        assert row["id"] not in kept
        assert row["kept_id"] in kept
        if texts_of[row["id"]] == texts_of[row["kept_id"]]:
            assert row["exact_copy"]
        else:
            exact = weighted.weighted_jaccard(sets[row["id"]], sets[row["kept_id"]])
            assert exact >= Fraction("0.6")
            assert not row["exact_copy"]
    assert len(kept) + len(removed) == len(rows)


@pytest.mark.parametrize(("tf", "occurrences"), [("binary", "set"), ("raw", "numbered")])
@pytest.mark.parametrize("clusters", ["survivors", "components"])
def test_deduplicate__plain_counts_are_jaccard_similarity(tf, occurrences, clusters):
    """Where weights are counts, or 1, all is as with sets."""
    strings, others = passages(5, 200), passages(6, 60)
    options = {"threshold": "0.6", "ngram": 2, "clusters": clusters, "against": others, **SURE}
    result = neardup.deduplicate(strings, measure=WEIGHTED, tf=tf, idf="unary", **options)
    expected = neardup.deduplicate(strings, occurrences=occurrences, **options)
    assert result.removed == expected.removed
    assert result.clusters == expected.clusters
    assert len(result.removed) > 20


def test_deduplicate__raw_and_smooth_by_default():
    strings = passages(7, 100)
    result = neardup.deduplicate(strings, measure=WEIGHTED, threshold="0.6")
    options = {"tf": "raw", "idf": "smooth", "ngram": 1}
    expected = neardup.deduplicate(strings, measure=WEIGHTED, threshold="0.6", **options)
    assert result.removed == expected.removed
    scheme = result.summary["scheme"]
    assert (scheme["tf"], scheme["idf"], scheme["ngram"]) == ("raw", "smooth", 1)


def tables_of(strings, against, *, block_rows, workers, **options):
    plan = make_plan(Options(measure=WEIGHTED, **options))

    def sources(collection):
        table = pa.table({"text": collection})
        half = len(table) // 2
        parts = (table.slice(0, half), table.slice(half))
        return [MemorySource(part, block_rows=block_rows) for part in parts]

    others = sources(against) if against else []
    result = deduplicate_sources(sources(strings), others, plan, Runner(workers))
    counts = {
        name: value
        for name, value in result.summary.items()
        if name not in ("seconds", "peak_memory_bytes", "workers")
    }
    return result.kept, result.removed, result.clusters, counts


@pytest.mark.parametrize("clusters", ["survivors", "components"])
@pytest.mark.parametrize("idf", INVERSE_FREQUENCIES)
def test_deduplicate__workers_and_blocks_change_nothing(idf, clusters, monkeypatch):
    strings = passages(1, 200)
    against = passages(2, 60) + strings[:20] if idf != "smooth" else None
    options = {"idf": idf, "threshold": "0.6", "clusters": clusters, "keep": "longest"}
    expected = tables_of(strings, against, block_rows=10**6, workers=1, **options)
    assert expected[3]["documents_removed"] > 20
    for slice_bytes in (1 << 21, 100):
        monkeypatch.setattr(reading_plan, "WEIGHTED_SLICE_BYTES", slice_bytes)
        monkeypatch.setattr(second_pass, "SLICE_BYTES", slice_bytes)
        for workers, block_rows in ((1, 1), (1, 64), (2, 7), (5, 1), (5, 64)):
            found = tables_of(strings, against, block_rows=block_rows, workers=workers, **options)
            assert found == expected


@pytest.mark.parametrize(("tf", "idf"), ALL)
def test_deduplicate__exact_copies_collapse(tf, idf):
    strings = ["the cat sat", "The cat, sat!", "a dog", "the cat sat", "the", "THE"]
    result = neardup.deduplicate(strings, measure=WEIGHTED, tf=tf, idf=idf, threshold=1)
    assert result.removed.select(["id", "kept_id", "similarity", "exact_copy"]).to_pylist() == [
        {"id": i, "kept_id": kept, "similarity": 1.0, "exact_copy": True}
        for i, kept in (("1", "0"), ("3", "0"), ("5", "4"))
    ]


@pytest.mark.parametrize("idf", ["standard", "probabilistic"])
@pytest.mark.parametrize("clusters", ["survivors", "components"])
@pytest.mark.parametrize("against", [None, ["the " * 50, "the the"]])
def test_deduplicate__what_weighs_nothing_stays_and_costs_nothing(idf, clusters, against):
    strings = ["the " * i for i in range(1, 40)]
    options = {"threshold": "0.01", "clusters": clusters, "bands": 128, "rows": 1}
    result = neardup.deduplicate(
        strings, measure=WEIGHTED, idf=idf, against=against, num_perm=128, **options
    )
    removed = [] if against is None else [{"id": "1", "kept_id": "against/1", "exact_copy": True}]
    assert result.removed.select(["id", "kept_id", "exact_copy"]).to_pylist() == removed
    assert (result.summary["candidates"], result.summary["verified_pairs"]) == (0, 0)


def test_deduplicate__what_all_have_makes_nothing_similar():
    strings = ["the the the cat", "the the the dog"] * 2 + ["the the the bird"]
    for idf, n_removed in (("standard", 2), ("unary", 4)):
        result = neardup.deduplicate(
            strings, measure=WEIGHTED, idf=idf, threshold="0.5", recall="0.999", num_perm=128
        )
        assert result.summary["documents_removed"] == n_removed


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
            own, against=other, measure=WEIGHTED, idf="standard", threshold="0.199", **SURE
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
    expected = neardup.deduplicate(rows, **options).removed
    found = neardup.deduplicate(bad, on_error="skip", **options)
    assert found.removed["similarity"] == expected["similarity"]
    assert len(found.removed) > 5
    assert found.summary["skipped_rows"]


class ChangingSource(MemorySource):
    """A source whose texts are longer when they are read for the last time."""

    def __init__(self, texts, longer, n_reads):
        super().__init__(pa.table({"text": texts}))
        self.longer, self.n_left = longer, n_reads

    def blocks(self):
        self.n_left -= 1
        if self.n_left:
            return super().blocks()
        return MemorySource(pa.table({"text": self.longer})).blocks()


@pytest.mark.parametrize(("idf", "n_reads"), [("unary", 2), ("smooth", 3)])
def test_deduplicate__text_that_changes_while_it_is_read(idf, n_reads):
    texts = ["a b c d e f g h", "A b c d e f g h i"]
    plan = make_plan(Options(measure=WEIGHTED, idf=idf, threshold="0.5"))
    whole = deduplicate_sources([ChangingSource(texts, texts, n_reads)], [], plan, Runner(1))
    assert whole.summary["documents_removed"] == 1
    for longer in ([texts[0] + " x y", texts[1]], [texts[0], texts[1] + " x"]):
        with pytest.raises(neardup.ReadError, match="a text has changed since it was first read"):
            deduplicate_sources([ChangingSource(texts, longer, n_reads)], [], plan, Runner(1))


def test_deduplicate__documents_are_counted_once_where_that_is_needed():
    for idf in INVERSE_FREQUENCIES:
        reports: dict[str, int] = {}

        def report(stage, done, total, reports=reports):
            reports[stage] = done

        result = neardup.deduplicate(
            ["a b", "b", "a"], against=["c", ""], measure=WEIGHTED, idf=idf, progress=report
        )
        assert ("count" in result.summary["seconds"]) == (idf != "unary")
        assert reports.get("count") == (None if idf == "unary" else 5)


def test_deduplicate__one_template_costs_a_comparison_a_document():
    strings = [" ".join(f"w{j}" if j != i else "new" for j in range(200)) for i in range(200)]
    result = neardup.deduplicate(strings, measure=WEIGHTED, threshold="0.9", workers=1)
    assert result.summary["documents_kept"] == 1
    assert result.summary["candidates"] == 199


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tf": "raw"}, "tf has no effect with measure jaccard; leave it out, or choose measure"),
        ({"idf": "unary", "measure": "dice"}, "idf has no effect with measure dice"),
        ({"measure": WEIGHTED, "occurrences": "numbered"}, "occurrences has no effect with"),
        ({"measure": WEIGHTED, "method": "exact"}, "goes with method minhash, got exact"),
        ({"measure": WEIGHTED, "method": "auto"}, "goes with method minhash, got auto"),
        ({"measure": WEIGHTED, "audit": 3}, "audit cannot be had with measure weighted-jaccard"),
        ({"measure": WEIGHTED, "tf": "often"}, "tf must be one of binary, .*, got 'often'"),
        ({"measure": WEIGHTED, "idf": "none"}, "idf must be one of unary, .*, got 'none'"),
        ({"measure": WEIGHTED, "threshold": 0}, "threshold must lie in"),
    ],
    ids=repr,
)
def test_deduplicate__option_out_of_range(options, message):
    with pytest.raises(neardup.InvalidParameterError, match=message):
        neardup.deduplicate(["a", "b"], **options)
