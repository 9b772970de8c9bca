"""What every kind of sketches keeps to: one suite for all of them."""

from __future__ import annotations

import json
import random
from dataclasses import fields
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import get_args, get_type_hints

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidParameterError, SketchFormatError, SketchMismatchError
from neardup.options.choices import SketchKindName
from neardup.options.document_options import SketchOptions
from neardup.runs.runner import Runner
from neardup.sketches.kind import (
    KIND_NAMES,
    WantedPairs,
    kind_named,
    list_pairs,
    make_maker,
    parse_scheme,
)
from neardup.sketches.samples import SampleScheme
from neardup.stages.sketches import Sketches
from neardup.tables import Texts
from tests.arrays import same_arrays
from tests.calls import grouped
from tests.each import each_of

# Each kind with several schemes; small, so that texts are whole, partial, and too short.
VARIANTS = {
    "minhash": {"kind": "minhash", "num_perm": 24, "ngram": 1},
    "minhash numbered": {"kind": "minhash", "num_perm": 100, "ngram": 2, "occurrences": "numbered"},
    "minhash rabin": {"kind": "minhash", "num_perm": 90, "ngram": 1, "fingerprint": "rabin"},
    "weighted": {"kind": "weighted", "num_perm": 24},
    "weighted log": {"kind": "weighted", "num_perm": 40, "tf": "log", "ngram": 2},
    "smallest": {"kind": "smallest", "size": 24, "ngram": 1},
    "smallest rabin": {"kind": "smallest", "size": 40, "ngram": 1, "fingerprint": "rabin"},
    "modulo": {"kind": "modulo", "size": 22, "ngram": 1},
    "modulo fixed": {"kind": "modulo", "modulus": 2, "ngram": 1},
    "edit": {"kind": "edit", "compression": 3},
    "edit folded": {"kind": "edit", "compression": 2, "casefold": True},
}
variants = pytest.mark.parametrize("variant", VARIANTS)
SHORT = ["", " ... ", "one", "One two", "x" * 11]
NAMED = "abcdefghijklmnopqrstuvwxyzäß漢"


def maker_of(variant):
    return make_maker(SketchOptions(**VARIANTS[variant]))


def rows_of(maker, texts):
    return maker.make(texts)[0]


def some_texts(seed, n=30):
    """Texts that are often alike, among them equal, empty and short ones."""
    generator = random.Random(seed)
    texts = list(SHORT)
    while len(texts) < n:
        words = ["".join(generator.choices(NAMED, k=4)) for _ in range(generator.randrange(90))]
        if generator.random() < 0.7:
            words = generator.choice(texts).split()
            for _ in range(generator.randrange(6) if words else 0):
                words[generator.randrange(len(words))] = generator.choice(NAMED)
        texts.append(" ".join(words))
    return texts


def as_texts(strings):
    return Texts.from_arrow(pa.array(strings, pa.large_string()))


def all_pairs(n, n_left=None):
    lists = list(list_pairs(n, n_left))
    nothing = [np.empty(0, np.int64)]
    return tuple(np.concatenate([*column, *nothing]) for column in zip(*lists, strict=True)) or (
        nothing[0],
        nothing[0],
    )


def sketches_of(variant, texts, **more):
    rows = [{"id": f"é{i}", "text": text} for i, text in enumerate(texts)]
    return neardup.sketch(rows, **grouped(id_column="id", **VARIANTS[variant] | more))


def test_variants__have_every_kind():
    assert {options["kind"] for options in VARIANTS.values()} == set(KIND_NAMES)


def test_kinds__are_those_of_the_option():
    assert get_args(SketchKindName) == KIND_NAMES
    for name in KIND_NAMES:
        kind = kind_named(name)
        assert kind.name == name
        assert kind().describe()["kind"] == name


# Making and joining.


@variants
def test_make__cuts_and_threads_change_nothing(variant):
    maker, texts = maker_of(variant), some_texts(variant)
    at_once = rows_of(maker, as_texts(texts))
    assert len(at_once) == len(texts)
    generator = random.Random(variant)
    for workers in (1, 3):
        cuts = [0, 0, *sorted(generator.choices(range(len(texts)), k=5)), len(texts)]
        parts = [as_texts(texts[start:stop]) for start, stop in pairwise(cuts)]
        made = list(Runner(workers).map(partial(rows_of, maker), parts))
        assert same_arrays(maker.kind.join_rows(made), at_once)


@variants
def test_make__from_the_middle_of_a_block(variant):
    maker, texts = maker_of(variant), some_texts(variant)
    strings = pa.array(["before", *texts, "behind"], pa.large_string()).slice(1, len(texts))
    assert same_arrays(rows_of(maker, Texts.from_arrow(strings)), rows_of(maker, as_texts(texts)))


@variants
def test_make__no_texts(variant):
    maker = maker_of(variant)
    nothing = rows_of(maker, as_texts([]))
    assert len(nothing) == 0
    assert same_arrays(maker.kind.join_rows([nothing]), nothing)
    some = rows_of(maker, as_texts(SHORT))
    assert same_arrays(maker.kind.join_rows([nothing, some, nothing]), some)


# Estimates.


def similarity_of(kind, found):
    return found.measures[kind.measures[0]]


@variants
def test_estimate__equal_texts(variant):
    kind, texts = (
        maker_of(variant).kind,
        [text for text in some_texts(variant, 60) if len(text) > 200],
    )
    assert len(texts) > 5
    rows = rows_of(maker_of(variant), as_texts(texts * 2))
    first = np.arange(len(texts))
    found = kind.estimate(rows, first, first + len(texts))
    own = similarity_of(kind, found)
    assert own.is_usable.sum() > 5
    assert (own.reaching(Fraction(1)) == own.is_usable).all()
    assert set(found.columns["similarity"].drop_null().to_pylist()) == {1.0}


@variants
def test_estimate__empty_texts_are_like_none(variant):
    maker, texts = maker_of(variant), ["", "", *some_texts(variant)]
    found = maker.kind.estimate(
        rows_of(maker, as_texts(texts)), np.zeros(len(texts), np.int64), np.arange(len(texts))
    )
    assert not similarity_of(maker.kind, found).reaching(Fraction(1, 10**9)).any()


@variants
def test_estimate__each_pair_alone(variant):
    """An estimate depends on its two sketches only, and not on which is the first."""
    maker, texts = maker_of(variant), some_texts(variant, 14)
    rows = rows_of(maker, as_texts(texts))
    left, right = all_pairs(len(texts))
    together = pa.table(maker.kind.estimate(rows, left, right).columns).to_pylist()
    turned = maker.kind.estimate(rows, right, left).columns["similarity"].to_pylist()
    for i, expected in enumerate(together):
        alone = maker.kind.estimate(rows, left[i : i + 1], right[i : i + 1])
        assert pa.table(alone.columns).to_pylist() == [expected]
        assert turned[i] == expected["similarity"]


@variants
def test_estimate__nulls_where_it_is_not_usable(variant):
    maker, texts = maker_of(variant), some_texts(variant)
    found = maker.kind.estimate(rows_of(maker, as_texts(texts)), *all_pairs(len(texts)))
    own = similarity_of(maker.kind, found)
    assert found.columns["similarity"].is_valid().to_pylist() == own.is_usable.tolist()
    assert {len(column) for column in found.columns.values()} == {len(own.is_usable)}
    shares = own.hits[own.is_usable] / own.samples[own.is_usable]
    assert found.columns["similarity"].drop_null().to_pylist() == shares.tolist()


# Candidates.


def both_ways(pairs, n_left):
    """All pairs of one collection in both orders; of two they have one."""
    left, right = pairs
    if n_left is not None:
        return pairs
    both = np.concatenate([left, right]), np.concatenate([right, left])
    order = np.lexsort(both[::-1])
    return both[0][order], both[1][order]


def check_candidates(kind, rows, measure, threshold, n_left, workers):
    """Against the estimates of all pairs."""
    pairs = all_pairs(len(rows), n_left)
    if measure in kind.directed_measures:
        pairs = both_ways(pairs, n_left)
    left, right = pairs
    chosen = kind.estimate(rows, left, right).measures[measure].reaching(threshold)
    expected = set(zip(left[chosen].tolist(), right[chosen].tolist(), strict=True))
    runner = Runner(workers)
    parts = kind.candidates(rows, WantedPairs(measure, threshold, n_left), runner)
    found = [pair for part in parts for pair in zip(*map(np.ndarray.tolist, part))]  # noqa: B905
    assert found == sorted(set(found))
    assert expected <= set(found) <= set(zip(left.tolist(), right.tolist(), strict=True))


def ties_of(kind, rows, n_left, measure):
    """Thresholds that pairs just reach."""
    pairs = both_ways(all_pairs(len(rows), n_left), n_left)
    found = kind.estimate(rows, *pairs).measures[measure]
    hits, samples = found.hits[found.is_usable], found.samples[found.is_usable]
    shares = {
        Fraction(h) / Fraction(s) for h, s in zip(hits.tolist(), samples.tolist(), strict=True)
    }
    return sorted(share for share in shares if 0 < share <= 1)


@pytest.mark.slow
@variants
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("workers", [1, 2])
def test_candidates__miss_no_pair_that_reaches_the_threshold(variant, seed, workers):
    """At ties and in between, for each measure."""
    maker, texts = maker_of(variant), some_texts(f"{variant} {seed}")
    kind, rows, n = maker.kind, rows_of(maker, as_texts(texts)), len(texts)
    generator = random.Random(seed)
    for measure in kind.measures:
        for n_left in (None, 0, n // 3, n):
            ties = ties_of(kind, rows, n_left, measure)
            chosen = generator.sample(ties, min(len(ties), 4))
            for least in (Fraction(1, 1000), Fraction(3, 10), Fraction(1), *chosen):
                check_candidates(kind, rows, measure, least, n_left, workers)


@variants
def test_candidates__of_few_rows(variant):
    maker = maker_of(variant)
    for texts in ([], [""], ["", ""], [some_texts(variant)[-1]]):
        rows = rows_of(maker, as_texts(texts))
        wanted = WantedPairs(maker.kind.measures[0], Fraction(1, 2))
        found = maker.kind.candidates(rows, wanted, Runner(1))
        assert sum(len(left) for left, _ in found) <= len(texts) // 2


# Storage.


@variants
def test_columns__round_trip(variant):
    maker = maker_of(variant)
    for texts in ([], SHORT, some_texts(variant)):
        rows = rows_of(maker, as_texts(texts))
        columns = maker.kind.to_columns(rows)
        assert list(columns)[-1] == "sketch"
        assert {len(column) for column in columns.values()} == {len(texts)}
        assert same_arrays(maker.kind.from_columns(pa.table(columns)), rows)


@variants
def test_columns__damaged(variant):
    """No column may be missing, unknown, or of anything else."""
    table = sketches_of(variant, some_texts(variant)).to_arrow()
    n = len(table)
    for place, name in enumerate(table.column_names):
        damaged = [table.set_column(place, name, pa.array([{}] * n))]
        damaged.append(table.drop_columns([name]))
        # Numbers are ids as well, and sizes may be unknown where there is a modulus.
        if name != "id":
            damaged.append(table.set_column(place, name, pa.array([-1] * n)))
        # Digests may be left out.
        if name != "digest" and not (name == "size" and "modulus" in table.column_names):
            damaged.append(table.set_column(place, name, pa.nulls(n)))
        for one in damaged:
            with pytest.raises(SketchFormatError):
                Sketches.from_arrow(one.replace_schema_metadata(table.schema.metadata))


@variants
def test_file__damaged(variant, tmp_path):
    """Every byte matters, but for those that say nothing."""
    sketches, path = sketches_of(variant, some_texts(variant)), tmp_path / "a.parquet"
    sketches.write(path)
    data = path.read_bytes()
    generator = random.Random(variant)
    n_refused = 0
    for _ in range(60):
        changed = bytearray(data)
        changed[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        try:
            found = Sketches.read(path)
        except SketchFormatError:
            n_refused += 1
            continue
        assert found.scheme == sketches.scheme
        assert found.ids.equals(sketches.ids)
        assert same_arrays(found.rows, sketches.rows)
    assert n_refused > 20


# Schemes.


@variants
def test_describe__round_trip(variant):
    maker = maker_of(variant)
    scheme = json.loads(json.dumps(maker.describe()))
    assert scheme == maker.describe()
    again = parse_scheme(scheme)
    assert type(again) is type(maker.kind)
    assert (again, again.name) == (maker.kind, scheme["kind"])
    assert again.describe().items() <= scheme.items()
    assert set(VARIANTS[variant].items()) <= set(scheme.items())


# Of each kind every field of its scheme, with a value that the variant does not have.
CHANGES = {
    "minhash": {"num_perm": 7, "seed": 7},
    "weighted": {"num_perm": 7, "seed": 7},
    "smallest": {"size": 7, "seed": 7},
    "modulo": {"size": 7, "seed": 7},
    "modulo fixed": {"modulus": 5},
    "edit": {"compression": 7, "seed": 7},
}


def test_changes__have_every_field():
    for name in KIND_NAMES:
        kind = kind_named(name)
        changed = {
            field
            for variant, changes in CHANGES.items()
            if VARIANTS[variant]["kind"] == name
            for field in changes
        }
        assert changed == {field.name for field in fields(kind)}


@each_of("variant", CHANGES)
def test_schemes__unlike_fields_are_named(variant):
    own = sketches_of(variant, ["one two three"])
    for name, value in CHANGES[variant].items():
        with pytest.raises(SketchMismatchError) as caught:
            neardup.estimate(own, sketches_of(variant, ["one two three"], **{name: value}))
        assert caught.value.differences == {name: (own.scheme[name], value)}
        assert name in str(caught.value)


@each_of("name", KIND_NAMES)
def test_schemes__know_their_ranges(name):
    """No number of an option goes unchecked."""
    scheme = kind_named(name)
    hints = get_type_hints(scheme)
    numbers = [
        field.name
        for field in fields(scheme)
        if int in (hints[field.name], *get_args(hints[field.name]))
    ]
    assert "seed" in numbers
    for number in numbers:
        for value in (-1, 2**64):
            with pytest.raises(InvalidParameterError, match=number):
                scheme(**{number: value})


# What only some kinds have.


@variants
def test_clusters__where_a_kind_has_them(variant):
    texts = some_texts(variant) * 2
    sketches = sketches_of(variant, texts)
    if not isinstance(parse_scheme(sketches.scheme), SampleScheme):
        with pytest.raises(InvalidParameterError, match=f"smallest.*modulo.*{sketches.kind}"):
            neardup.cluster_sketches(sketches)
        return
    clusters = neardup.cluster_sketches(sketches, 1).clusters["cluster_id"].to_pylist()
    rows = np.arange(len(texts))
    first = np.array([texts.index(text) for text in texts])
    kind = parse_scheme(sketches.scheme)
    found = kind.estimate(sketches.rows, first, rows)
    is_alike = similarity_of(kind, found).reaching(Fraction(1))
    assert (is_alike & (first < rows)).any()
    for i in np.flatnonzero(is_alike):
        assert clusters[first[i]] == clusters[i]
