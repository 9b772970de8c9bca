"""What `estimate` promises, whatever the kind of sketches."""

from __future__ import annotations

from contextlib import contextmanager
from fractions import Fraction
from itertools import product
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import neardup
from neardup.jobs import estimate as job
from neardup.matching import join
from neardup.sketches import kind
from neardup.stages import sketches as stored
from neardup.stages.sketches import bytes_to_read
from tests.calls import grouped
from tests.examples import examples

KINDS = [
    {"kind": "minhash", "ngram": 1, "num_perm": 24},
    {"kind": "weighted", "num_perm": 24},
    {"kind": "smallest", "ngram": 1, "size": 24},
    {"kind": "smallest", "ngram": 1, "size": 8},
    {"kind": "modulo", "ngram": 1, "size": 22},
    {"kind": "modulo", "ngram": 1, "modulus": 2},
    {"kind": "edit", "compression": 1},
    {"kind": "edit", "compression": 2},
]
kinds = pytest.mark.parametrize(
    "options", KINDS, ids=lambda options: " ".join(map(str, options.values()))
)


@st.composite
def collections(draw):
    """Texts that are often alike, some empty, some too short for estimates."""
    generator = draw(st.randoms(use_true_random=False))
    texts = []
    for _ in range(draw(st.integers(0, 7))):
        words = generator.choices(range(100), k=generator.choice((0, 1, 5, 40, 90)))
        if texts and generator.random() < 0.6:
            words = list(generator.choice(texts))
            for _ in range(generator.randrange(4) if words else 0):
                words[generator.randrange(len(words))] = generator.randrange(100)
        texts.append(words)
    return [" ".join(f"w{word}" for word in words) for words in texts]


thresholds = st.integers(1, 24).map(lambda n: Fraction(n, 24))


def sketched(texts, options, prefix="", **more):
    rows = [{"id": f"{prefix}{i}", "text": text} for i, text in enumerate(texts)]
    return neardup.sketch(rows, **grouped(id_column="id", **options, **more))


def reaches(row, threshold, lengths):
    """Whether an estimate reaches a threshold, as a fraction; null never does."""
    if row["similarity"] is None:
        return False
    if "distance" in row:
        longer = max(lengths[row["id_a"]], lengths[row["id_b"]], 1)
        return Fraction(longer - row["distance"]) >= threshold * longer
    samples = max(row["samples"], 1)
    return Fraction(round(row["similarity"] * samples), samples) >= threshold


def is_told_by_rounding(row, threshold, lengths):
    """Whether a distance that is no whole number is at the threshold, but for rounding."""
    distance = row.get("distance") or 0.0
    longer = max(lengths.get(row["id_a"], 1), lengths.get(row["id_b"], 1), 1)
    return not distance.is_integer() and abs(longer - distance - threshold * longer) < 1e-9


def lengths_of(*collections):
    return {
        name: length
        for sketches in collections
        if sketches.kind == "edit"
        for name, length in zip(
            sketches.ids.to_pylist(), sketches.rows.lengths.tolist(), strict=True
        )
    }


@kinds
@examples(40)
@given(texts=collections(), others=st.none() | collections(), threshold=thresholds, data=st.data())
def test_estimate__with_a_threshold_is_all_of_them_filtered(
    options, texts, others, threshold, data
):
    own = sketched(texts, options)
    other = None if others is None else sketched(others, options, "b")
    lengths = lengths_of(own, *([] if other is None else [other]))
    every = neardup.estimate(own, other)
    rows = every.pairs.to_pylist()
    shares = [row["similarity"] for row in rows if row["similarity"]]
    if shares and data.draw(st.booleans()):
        # A tie.
        threshold = Fraction(data.draw(st.sampled_from(shares))).limit_denominator(1000)
    found = neardup.estimate(own, other, threshold=threshold)
    clear = [row for row in rows if not is_told_by_rounding(row, threshold, lengths)]
    expected = [row for row in clear if reaches(row, threshold, lengths)]
    assert [row for row in found.pairs.to_pylist() if row not in rows or row in clear] == expected
    assert found.pairs.schema == every.pairs.schema
    assert found.summary["pairs"] == len(found.pairs)
    assert every.summary["estimated_pairs"] == every.summary["pairs"] == len(rows)
    assert every.summary["unusable_pairs"] == sum(row["similarity"] is None for row in rows)


@kinds
@examples(25)
@given(texts=collections())
def test_estimate__all_pairs_once_in_input_order(options, texts):
    found = neardup.estimate(sketched(texts, options)).pairs.select(["id_a", "id_b"]).to_pylist()
    n = len(texts)
    expected = [{"id_a": str(a), "id_b": str(b)} for a in range(n) for b in range(a + 1, n)]
    assert found == expected


@kinds
@examples(25)
@given(texts=collections(), others=collections(), threshold=st.none() | thresholds)
def test_estimate__of_two_is_the_cross_part_of_both_together(options, texts, others, threshold):
    own, other = sketched(texts, options), sketched(others, options, "b")
    both = neardup.Sketches.from_arrow(pa.concat_tables([own.to_arrow(), other.to_arrow()]))
    together = neardup.estimate(both, threshold=threshold).pairs.to_pylist()
    cross = [row for row in together if row["id_b"].startswith("b") > row["id_a"].startswith("b")]
    assert neardup.estimate(own, other, threshold=threshold).pairs.to_pylist() == cross


@kinds
@examples(25)
@given(texts=collections(), threshold=st.none() | thresholds, generator=st.randoms())
def test_estimate__order_changes_nothing(options, texts, threshold, generator):
    numbered = list(enumerate(texts))
    generator.shuffle(numbered)
    rows = [{"id": str(i), "text": text} for i, text in numbered]
    shuffled = neardup.sketch(rows, **grouped(id_column="id", **options))

    def found(sketches):
        return {
            frozenset((row["id_a"], row["id_b"])): (row["similarity"], row["low"], row["high"])
            for row in neardup.estimate(sketches, threshold=threshold).pairs.to_pylist()
        }

    assert found(shuffled) == found(sketched(texts, options))


@kinds
@examples(15)
@given(
    texts=collections(),
    others=st.none() | collections(),
    threshold=st.none() | thresholds,
    workers=st.integers(2, 3),
    piece=st.integers(1, 5),
)
def test_estimate__workers_and_pieces_change_nothing(
    options, texts, others, threshold, workers, piece
):
    own = sketched(texts, options, workers=1)
    other = None if others is None else sketched(others, options, workers=1)
    assert sketched(texts, options, workers=workers).to_arrow() == own.to_arrow()
    once = neardup.estimate(own, other, threshold=threshold, run=neardup.RunOptions(workers=1))
    with patch.object(kind, "_PIECE", piece), patch.object(join, "_PIECE", piece):
        again = neardup.estimate(
            own, other, threshold=threshold, run=neardup.RunOptions(workers=workers)
        )
    assert again.pairs.to_pylist() == once.pairs.to_pylist()
    unlike = {"seconds", "workers"}
    assert {k: v for k, v in again.summary.items() if k not in unlike} == {
        k: v for k, v in once.summary.items() if k not in unlike
    }


@kinds
@examples(25)
@given(texts=collections())
def test_estimate__written_and_read_is_the_same(options, texts, tmp_path_factory):
    own = sketched(texts, options)
    path = tmp_path_factory.mktemp("sketches") / "a.parquet"
    own.write(path)
    again = neardup.Sketches.read(path)
    assert again.to_arrow() == own.to_arrow()
    assert neardup.estimate(path).pairs == neardup.estimate(own).pairs


@examples(15)
@given(texts=collections(), others=collections())
def test_estimate__containments_change_places_with_the_documents(texts, others):
    options = {"kind": "modulo", "ngram": 1, "size": 22}
    own, other = sketched(texts, options), sketched(others, options, "b")
    turned = {
        (row["id_b"], row["id_a"]): row for row in neardup.estimate(other, own).pairs.to_pylist()
    }
    rows = neardup.estimate(own, other).pairs.to_pylist()
    assert len(rows) == len(turned)
    for row, side in product(rows, ("", "_error")):
        back = turned[row["id_a"], row["id_b"]]
        assert row[f"containment_a{side}"] == back[f"containment_b{side}"]
        assert row[f"containment_b{side}"] == back[f"containment_a{side}"]
        assert row["similarity"] == back["similarity"]


@contextmanager
def in_parts(n_parts, sketches):
    """Let files of some sketches be read in about so many parts."""
    with TemporaryDirectory() as folder:
        paths = []
        for number, each in enumerate(sketches):
            paths.append(f"{folder}/{number}.parquet")
            pq.write_table(each.to_arrow(), paths[-1], row_group_size=5)
        n_bytes = max(map(bytes_to_read, paths))
        held = {"_HELD_OF_ALL": 10**9, "_HELD_OF_PART": LEAST_MEMORY * n_parts // n_bytes}
        with patch.multiple(job, **held), patch.object(stored, "_READ_ROWS", 2):
            yield paths


def counts_of(result):
    """Give what a summary says but for the time."""
    return {key: value for key, value in result.summary.items() if key != "seconds"}


LEAST_MEMORY = 16_000_000
MORE = [
    {},
    {"threshold": "0.5"},
    {"threshold": "0.75", "measure": "containment"},
    {"threshold": "0.75", "measure": "max-containment"},
    {"super_shingles": 2, "bands": (6, 300)},
]


@kinds
@examples(30)
@given(
    texts=collections(),
    others=st.none() | collections(),
    more=st.sampled_from(MORE),
    n_parts=st.integers(1, 5),
)
def test_estimate__of_files_in_parts_is_the_same(options, texts, others, more, n_parts):
    sides = [sketched(texts, options)]
    if others is not None:
        sides.append(sketched(others, options, "b"))
    try:
        expected = neardup.estimate(*sides, **grouped(**more))
    except neardup.InvalidParameterError:
        reject()
    with in_parts(n_parts, sides) as paths:
        found = neardup.estimate(*paths, **grouped(memory=LEAST_MEMORY, **more))
        assert found.pairs.schema == expected.pairs.schema
        assert found.pairs.equals(expected.pairs)
        assert counts_of(found) == counts_of(expected)
        n_pairs = len(expected.pairs)
        if n_pairs > 1:
            with pytest.raises(neardup.errors.ResultLimitError):
                neardup.estimate(*paths, **grouped(memory=LEAST_MEMORY, limit=n_pairs - 1, **more))


@pytest.mark.parametrize("more", [{"threshold": "0.5", "measure": "containment"}, {}])
def test_estimate__of_many_parts_is_the_same(more):
    words = [f"w{number}" for number in range(200)]
    own = sketched([" ".join(words[n : 150 + 2 * n]) for n in range(12)], KINDS[5])
    expected = neardup.estimate(own, **grouped(**more)).pairs
    with in_parts(4, [own]) as (path,):
        assert len(stored.SketchParts(path, LEAST_MEMORY // job._HELD_OF_PART).rows) > 3
        assert neardup.estimate(path, **grouped(memory=LEAST_MEMORY, **more)).pairs.equals(expected)
    ids = expected.select(["id_a", "id_b"]).to_pylist()
    assert len(ids) > 12


def test_estimate__of_parts_notices_an_id_that_comes_twice():
    own = sketched(["a b c", "d e f", "g h i", "j k l"], KINDS[0])
    table = own.to_arrow()
    twice = pa.concat_tables([table, table.slice(0, 1)])
    with in_parts(5, [own]) as (path,):
        pq.write_table(twice, path)
        with pytest.raises(neardup.errors.SketchFormatError, match="twice"):
            neardup.estimate(path, threshold=0.5, run=neardup.RunOptions(memory=LEAST_MEMORY))


def test_cluster_sketches__need_memory_for_all(tmp_path):
    sketched(["a b c", "a b d"], KINDS[2]).write(tmp_path / "some.sketches.parquet")
    with (
        patch.object(job, "memory_budget", lambda _: 100),
        pytest.raises(neardup.InvalidParameterError, match=r"clusters.*memory"),
    ):
        neardup.cluster_sketches(tmp_path / "some.sketches.parquet", "0.3")
