"""Python values as the flat tables that neardup works on."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import accumulate, pairwise, zip_longest

import numpy as np

from neardup.matching.measures import MEASURES
from neardup.tables import Buckets, Int64s, ShingleSets, Texts, Uint64s, WeightedSets

# How kernels know the measures.
CODES = {name: measure.code for name, measure in MEASURES.items()}

# Stands where nothing should be read: in front of, between and behind the data.
JUNK = 0xA5A5A5A5A5A5A5A5


def make_texts(strings: Sequence[str], *, lead: str = "", trail: str = "") -> Texts:
    """Lay texts out as a slice of a larger block that starts with ``lead``."""
    parts = [string.encode() for string in strings]
    offsets = list(accumulate((len(part) for part in parts), initial=len(lead.encode())))
    data = lead.encode() + b"".join(parts) + trail.encode()
    return Texts(np.frombuffer(data or b"\0", np.uint8), np.array(offsets, np.int64))


def ragged(lists: Sequence[Sequence[int]], *, lead: int = 0) -> tuple[Uint64s, Int64s]:
    """Lay lists of 64-bit values out one after another, behind ``lead`` values of junk."""
    offsets = np.array(list(accumulate(map(len, lists), initial=lead)), np.int64)
    values = np.array([JUNK] * lead + [v for values in lists for v in values], np.uint64)
    return values, offsets


def unragged(values: Uint64s, offsets: Int64s) -> list[list[int]]:
    return [values[start:stop].tolist() for start, stop in pairwise(offsets)]


def make_sets(sets: Sequence[Set[int]], *, gap: int = 2) -> ShingleSets:
    """Lay sets out in sorted order with ``gap`` values of junk before and after each."""
    values: list[int] = [JUNK] * gap
    starts = []
    for elements in sets:
        starts.append(len(values))
        values += [*sorted(elements), *[JUNK] * gap]
    return ShingleSets(
        np.array(values, np.uint64),
        np.array(starts, np.int64),
        np.array([len(elements) for elements in sets], np.int64),
    )


def make_weighted_sets(sets: Sequence[Mapping[int, int]], *, gap: int = 2) -> WeightedSets:
    """Lay weighted sets out as ``make_sets`` does; what stands between them weighs most."""
    table = make_sets([chosen.keys() for chosen in sets], gap=gap)
    weights = np.full(len(table.values), 2**62, np.int64)
    for start, chosen in zip(table.starts, sets, strict=True):
        weights[start : start + len(chosen)] = [chosen[element] for element in sorted(chosen)]
    totals = np.array([sum(chosen.values()) for chosen in sets], np.int64)
    return WeightedSets(table.values, weights, table.starts, table.sizes, totals)


def make_buckets(bands: Sequence[Sequence[object]]) -> Buckets:
    """Number, band by band, the groups of two documents or more that have equal labels."""
    n_documents = len(bands[0])
    numbers = np.full((len(bands), n_documents), -1, np.int32)
    sizes: list[int] = []
    for band, labels in enumerate(bands):
        for label in dict.fromkeys(labels):
            members = [d for d in range(n_documents) if labels[d] == label]
            if len(members) > 1:
                numbers[band, members] = len(sizes)
                sizes.append(len(members))
    return Buckets(numbers, np.array(sizes, np.int64))


def random_words(generator: random.Random, n: int) -> list[int]:
    """Give 64-bit words, the extremes among them now and then."""
    return [
        generator.choice((0, 1, 2**63 - 1, 2**63, 2**64 - 1))
        if generator.random() < 0.1
        else generator.getrandbits(64)
        for _ in range(n)
    ]


def as_uint64(values: Iterable[int]) -> Uint64s:
    return np.array(list(values), np.uint64)


def random_sets(generator: random.Random, n: int, largest: int) -> list[set[int]]:
    """Give sets that are often alike: drawn from a few elements, or an earlier one changed."""
    sets: list[set[int]] = []
    for _ in range(n):
        elements = set(generator.choices(range(1, 2 * largest), k=generator.randint(1, largest)))
        if sets and generator.random() < 0.6:
            elements = set(generator.choice(sets))
            elements ^= set(generator.choices(range(1, 2 * largest), k=generator.randrange(3)))
        sets.append(elements or {1})
    return sets


def random_weighted_sets(
    generator: random.Random, n: int, largest: int, heaviest: int
) -> list[dict[int, int]]:
    """Give such sets with weights, most of which are the same in all; some sets are empty."""
    usual = [generator.randint(1, heaviest) for _ in range(2 * largest)]
    return [
        {
            x: usual[x] if generator.random() < 0.8 else generator.randint(1, heaviest)
            for x in (elements if generator.random() < 0.9 else ())
        }
        for elements in random_sets(generator, n, largest)
    ]


def random_labels(generator: random.Random, n: int, n_bands: int) -> list[list[int]]:
    """Give each set a label in every band; equal labels make candidates."""
    return [generator.choices(range(generator.randint(1, n)), k=n) for _ in range(n_bands)]


def first_difference(found: Sequence[object], expected: Sequence[object]) -> object:
    """Give where two long lists first differ, and how; None if nowhere. pytest would take hours."""
    for i, (one, other) in enumerate(zip_longest(found, expected)):
        if one != other:
            return i, one, other
    return None


def same_arrays(one: object, other: object) -> bool:
    """Hold two objects to each other: every number is the same, and of the same type."""
    assert type(one) is type(other)
    for name, values in vars(one).items():
        others = getattr(other, name)
        if values is None:
            assert others is None
        else:
            assert (values.dtype, values.shape) == (others.dtype, others.shape)
            assert (values == others).all()
    return True
