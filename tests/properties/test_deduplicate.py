from __future__ import annotations

import random
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.reading import sign as reading_plan
from tests.calls import grouped
from tests.each import each_of
from tests.examples import examples
from tests.oracles import components, survivors
from tests.oracles.measures import MEASURES, rank_of_sets, value
from tests.oracles.shingles import elements
from tests.oracles.tokens import Options as TokenOptions
from tests.oracles.tokens import tokenize
from tests.properties.dedup_tables import tables_of
from tests.strategies import small_texts

# Bands of one row: a pair of Jaccard similarity J is missed with probability (1 - J)^bands. The
# least J here is 1/9 (one shingle within nine): (8/9)^512 < 10^-26.
SURE = {"num_perm": 512, "bands": (512, 1)}

texts = st.lists(
    st.one_of(small_texts, st.sampled_from(["", " . ", "a", "A b.", "a b c d e a b c d"])),
    min_size=1,
    max_size=12,
)
thresholds = st.sampled_from(["0.25", "0.5", "0.6", "0.75", "0.8", "1"])
ORDERS = {
    "first": lambda row: 0,
    "longest": lambda row: -len(row["text"]),
    "shortest": lambda row: len(row["text"]),
    "max:score": lambda row: 10**6 if row["score"] is None else -row["score"],
    "min:score": lambda row: 10**6 if row["score"] is None else row["score"],
    "priority:source=b,a": lambda row: {"b": 0, "a": 1, None: 3}.get(row["source"], 2),
}


def expected_removals(
    rows, others=(), *, measure, threshold, ngram, occurrences, keep="first", clusters="survivors"
):
    """Give kept id, similarity and whether it is an exact copy for each removed id.

    Copies of a token sequence collapse to the first in keep order; then the rule is applied to one
    document of each, those of ``others`` first.
    """
    ranked = [*others, *sorted(rows, key=ORDERS[keep])]
    tokens = {row["id"]: tuple(tokenize(row["text"], "words", TokenOptions())) for row in ranked}
    firsts: dict[tuple[bytes, ...], str] = {}
    for row in ranked:
        if tokens[row["id"]]:
            firsts.setdefault(tokens[row["id"]], row["id"])
    sets = [elements(sequence, ngram, occurrences) for sequence in firsts]
    ids = list(firsts.values())
    n_fixed = len({tokens[row["id"]] for row in others} - {()})
    rule = survivors.choose if clusters == "survivors" else components.choose
    keepers = rule(sets, measure, Fraction(threshold), n_fixed=n_fixed)
    removed = {}
    for row in rows:
        sequence = tokens[row["id"]]
        if not sequence:
            continue
        place = ids.index(firsts[sequence])
        keeper = keepers[place]
        if keeper >= 0:
            ranked_pair = rank_of_sets(measure, sets[place], sets[keeper])
            removed[row["id"]] = (ids[keeper], value(measure, ranked_pair), False)
        elif row["id"] != ids[place]:
            removed[row["id"]] = (ids[place], 1.0, True)
    return removed


def check(result, rows, expected):
    removed = {row["id"]: row for row in result.removed.to_pylist()}
    assert {i: row["kept_id"] for i, row in removed.items()} == {
        i: kept for i, (kept, _, _) in expected.items()
    }
    for identifier, (_, similarity, is_exact) in expected.items():
        assert removed[identifier]["exact_copy"] == is_exact
        assert removed[identifier]["similarity"] == pytest.approx(similarity, rel=1e-15, abs=0)
    assert result.kept.to_pylist() == [row for row in rows if row["id"] not in expected]
    clusters = {row["id"]: row for row in result.clusters.to_pylist()}
    assert list(clusters) == [row["id"] for row in rows]
    for identifier, row in clusters.items():
        assert row["is_duplicate"] == (identifier in expected)
        kept = expected[identifier][0] if identifier in expected else identifier
        assert row["representative_id"] == kept
        assert row["cluster_size"] == 1 + sum(entry[0] == kept for entry in expected.values())
    assert result.summary["documents_in"] == len(rows)
    assert result.summary["documents_removed"] == len(expected)
    assert result.summary["documents_kept"] == len(rows) - len(expected)
    assert result.summary["exact_copies"] == sum(is_exact for _, _, is_exact in expected.values())


def make_rows(strings, prefix="d"):
    return [
        {
            "id": f"{prefix}{i}",
            "text": text,
            "score": (7 * i) % 4 if i % 5 else None,
            "source": ("a", "b", "c", None)[(5 * i + len(text)) % 4],
        }
        for i, text in enumerate(strings)
    ]


@given(
    texts,
    st.sampled_from(MEASURES),
    thresholds,
    st.integers(1, 4),
    st.sampled_from(["set", "numbered"]),
    st.sampled_from(sorted(ORDERS)),
    st.sampled_from(["survivors", "components"]),
)
def test_deduplicate__as_oracle(strings, measure, threshold, ngram, occurrences, keep, clusters):
    rows = make_rows(strings)
    options = {
        "measure": measure,
        "threshold": threshold,
        "ngram": ngram,
        "occurrences": occurrences,
        "keep": keep,
        "clusters": clusters,
    }
    table = pa.Table.from_pylist(
        rows,
        pa.schema([("id", "string"), ("text", "string"), ("score", "int64"), ("source", "string")]),
    )
    result = neardup.deduplicate(table, **grouped(id_column="id", workers=1, **SURE, **options))
    check(result, rows, expected_removals(rows, **options))


@given(
    texts,
    texts,
    st.sampled_from(MEASURES),
    thresholds,
    st.sampled_from(sorted(ORDERS)),
    st.sampled_from(["survivors", "components"]),
)
@examples(40)
def test_deduplicate__against_as_oracle(own, other, measure, threshold, keep, clusters):
    """What is similar to another collection goes; that collection stays as it is."""
    rows, others = make_rows(own), make_rows(other, "o")
    options = {
        "measure": measure,
        "threshold": threshold,
        "ngram": 2,
        "occurrences": "set",
        "keep": keep,
        "clusters": clusters,
    }
    schema = pa.schema(
        [("id", "string"), ("text", "string"), ("score", "int64"), ("source", "string")]
    )
    result = neardup.deduplicate(
        pa.Table.from_pylist(rows, schema),
        **grouped(
            id_column="id",
            workers=1,
            against=pa.Table.from_pylist(others, schema),
            **SURE,
            **options,
        ),
    )
    check(result, rows, expected_removals(rows, others, **options))
    assert result.summary["against_documents"] == len(others)


@pytest.mark.slow
def test_deduplicate__component_of_documents_that_stay():
    """The first document of the component is named, though it is joined by another of its kind."""
    options = {"ngram": 2, "threshold": "0.25", "clusters": "components", **SURE}
    result = neardup.deduplicate(["a a"], **grouped(against=["a b", "a a b"], **options))
    assert result.removed["kept_id"].to_pylist() == ["against/0"]


@given(texts, thresholds)
@examples(30)
def test_deduplicate__list_of_strings(strings, threshold):
    """Ids are positions, rows count from 1; counts of empty and short documents are told."""
    options = {"measure": "jaccard", "threshold": threshold, "ngram": 3, "occurrences": "set"}
    result = neardup.deduplicate(strings, **grouped(workers=1, **SURE, **options))
    rows = [{"id": str(i), "text": text} for i, text in enumerate(strings)]
    expected = expected_removals(rows, **options)
    found = result.removed.select(["id", "kept_id", "row"]).to_pylist()
    assert found == [
        {"id": i, "kept_id": kept, "row": int(i) + 1} for i, (kept, _, _) in expected.items()
    ]
    assert result.kept.to_pylist() == [{"text": r["text"]} for r in rows if r["id"] not in expected]
    lengths = [len(tokenize(text, "words", TokenOptions())) for text in strings]
    assert result.summary["empty_documents"] == lengths.count(0)
    assert result.summary["short_documents"] == lengths.count(1) + lengths.count(2)
    assert result.summary["tokens"] == sum(lengths)


def passages(seed, n):
    """Give texts that overlap in many ways, copies, empty and short ones among them."""
    generator = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(30)]
    found = ["", "w1", "!"]
    while len(found) < n:
        words = generator.choices(vocabulary, k=generator.randint(1, 40))
        found.append(" ".join(words))
        for _ in range(generator.randrange(4)):
            changed = [
                w if generator.random() < 0.93 else generator.choice(vocabulary) for w in words
            ]
            found.append(" ".join(changed))
    generator.shuffle(found)
    return found[:n]


@pytest.mark.slow
@each_of("clusters", ["survivors", "components"])
@each_of("against", [False, True])
def test_deduplicate__workers_and_blocks_change_nothing(clusters, against, monkeypatch):
    strings = passages(1, 300)
    options = {"threshold": "0.6", "ngram": 2, "clusters": clusters, "keep": "longest"}
    options["against"] = passages(2, 80) + strings[:20] if against else None
    expected = tables_of(strings, block_rows=10**6, workers=1, **options)
    assert expected[3]["documents_removed"] > 50
    for slice_bytes in (reading_plan.SLICE_BYTES, 100):
        monkeypatch.setattr(reading_plan, "SLICE_BYTES", slice_bytes)
        monkeypatch.setattr("neardup.reading.passes.SLICE_BYTES", slice_bytes)
        for workers in (1, 2, 5):
            for block_rows in (1, 7, 64):
                found = tables_of(strings, block_rows=block_rows, workers=workers, **options)
                assert found == expected


@pytest.mark.slow
@each_of("keep", ["first", "longest", "shortest"])
@each_of("measure", MEASURES)
def test_deduplicate__hundreds_of_texts_as_oracle(measure, keep):
    """More documents than a test by Hypothesis has, with the banding that the recall asks for."""
    rows = [{"id": str(i), "text": text} for i, text in enumerate(passages(3, 110))]
    options = {
        "measure": measure,
        "threshold": "0.7",
        "ngram": 2,
        "occurrences": "set",
        "keep": keep,
    }
    table = pa.Table.from_pylist(rows)
    result = neardup.deduplicate(table, **grouped(id_column="id", workers=2, **SURE, **options))
    expected = expected_removals(rows, **options)
    assert len(expected) > 30
    check(result, rows, expected)


@pytest.mark.parametrize("keep", ["first", "shortest"])
def test_deduplicate__one_template_costs_a_comparison_a_document(keep):
    """All documents are similar to each other: the work must not grow with the square."""
    strings = [" ".join(f"w{j}" if j != i else "new" for j in range(200)) for i in range(200)]
    result = neardup.deduplicate(
        strings,
        threshold="0.9",
        keep=keep,
        text=neardup.TextOptions(ngram=1),
        run=neardup.RunOptions(workers=1),
    )
    assert result.summary["documents_kept"] == 1
    assert result.summary["candidates"] == 199


@each_of(
    "options",
    [{}, {"exact": True}, {"unit": "sentences"}],
)
def test_cut__none_kept_of_similar_text(options):
    with pytest.raises(neardup.InvalidParameterError, match=r"^keep none\b.*\bunit\b"):
        neardup.cut(["a", "a"], **grouped(keep="none", **options))
