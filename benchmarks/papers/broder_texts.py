"""Greedy clusters of real texts, and fingerprints: what docs/papers/broder.md says of them."""

from __future__ import annotations

import json
import lzma
import statistics
import string
import time
from math import comb
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.papers.broder_real import cut
from neardup.clustering.greedy import Representative, cluster_greedily
from neardup.kernels.hashing import mix_words
from neardup.matching.measures import make_join_measure
from neardup.matching.set_join import join_sets
from neardup.sketches.broder import SmallestScheme, sketch_sets
from neardup.sketches.rabin import draw_polynomial, rabin_shingle_lists, remainder
from neardup.tables import ShingleLists, ShingleSets, Texts
from neardup.text.shingles import ShingleScheme, make_shingle_scheme, shingle_lists

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from neardup.tables import ScoredPairs

Row = dict[str, Any]
Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

THRESHOLD = "0.8"
SKETCH = SmallestScheme(256)
WORDS = 5
# Texts with less than this are notices of a line, and most of them the same.
LEAST_SHINGLES = 20
REPEATS = 5
# Strings that differ in their last bytes, of which two sets share the middle third.
PAGES, LAST_BYTES = 3_000, 192
STEM = b"https://example.org/page/"
NULLS = 8
SAMPLE, BYTE_SAMPLE = 100, 16
SPEED_BYTES = 4_000_000
# A window of so many bytes, as a shingle.
BYTES = 16


def read_licences(folder: Path, most: int | None) -> tuple[ShingleSets, list[str]]:
    """Read licence texts that are no mere mentions, and their labels."""
    with lzma.open(folder / "texts.jsonl.xz", "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines][:most]
    sets = cut([entry["text"] for entry in entries], WORDS)
    rows = np.flatnonzero(sets.sizes >= LEAST_SHINGLES)
    return sets.take(rows), [entries[row]["label"] for row in rows]


def run_greedy(sets: ShingleSets, labels: list[str], orders: int, seed: int) -> Row:
    """Cluster in the order of the file and in others; compare with what is exact."""
    numbers = np.unique(labels, return_inverse=True)[1]
    pairs, _ = join_sets(sets, make_join_measure("jaccard", THRESHOLD), workers=2)
    generator = np.random.default_rng(seed)
    shuffled = [np.arange(len(sets)), *(generator.permutation(len(sets)) for _ in range(orders))]
    report: Row = {
        "texts": len(sets),
        "pairs": len(pairs),
        "threshold": THRESHOLD,
        "orders": orders,
        "components": _describe(_components(pairs, len(sets)), pairs, numbers),
        "survivors": [_count_survivors(pairs, order) for order in shuffled],
    }
    for way in get_args(Representative):
        found = []
        for order in shuffled:
            sketches = sketch_sets(_lists(sets, order), SKETCH)
            clusters = np.empty(len(sets), np.int64)
            greedy = cluster_greedily(sketches, SKETCH, THRESHOLD, representative=way)
            clusters[order] = greedy.clusters
            found.append(clusters)
        report[way] = {
            "orders": [_describe(clusters, pairs, numbers) for clusters in found],
            "agreement": [_agreement(found[0], other) for other in found[1:]],
        }
    return report


def _lists(sets: ShingleSets, order: Integers) -> ShingleLists:
    values = [sets.values[sets.starts[row] :][: sets.sizes[row]] for row in order]
    offsets = np.concatenate([[0], np.cumsum(sets.sizes[order])]).astype(np.int64)
    return ShingleLists(np.concatenate(values), offsets)


def _components(pairs: ScoredPairs, n: int) -> Integers:
    """Give each text the least number in its component."""
    least = np.arange(n, dtype=np.int64)
    while True:
        before = least.copy()
        np.minimum.at(least, pairs.left, before[pairs.right])
        np.minimum.at(least, pairs.right, before[pairs.left])
        least = least[least]
        if np.array_equal(least, before):
            return least


def _count_survivors(pairs: ScoredPairs, order: Integers) -> int:
    """Count the texts that stay if each gives way to a similar one that stays already."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    first, second = np.sort(np.stack([place[pairs.left], place[pairs.right]]), axis=0)
    stays = np.ones(len(order), bool)
    sequence = np.argsort(second, kind="stable")
    for one, other in zip(first[sequence].tolist(), second[sequence].tolist(), strict=True):
        if stays[one]:
            stays[other] = False
    return int(stays.sum())


def _describe(clusters: Integers, pairs: ScoredPairs, labels: Integers) -> Row:
    """Count clusters and pairs within them, and how many of these are similar or labelled alike."""
    together = _count_pairs(clusters)
    similar = int((clusters[pairs.left] == clusters[pairs.right]).sum())
    alike = _count_pairs(clusters * (labels.max() + 1) + labels)
    return {
        "clusters": len(np.unique(clusters)),
        "largest": int(np.unique(clusters, return_counts=True)[1].max()),
        "pairs": together,
        "precision": similar / max(together, 1),
        "recall": similar / max(len(pairs), 1),
        "same_label": alike / max(together, 1),
    }


def _count_pairs(clusters: Integers) -> int:
    return sum(comb(size, 2) for size in np.unique(clusters, return_counts=True)[1].tolist())


def _agreement(clusters: Integers, other: Integers) -> float:
    """Give the share of the pairs that are together in either that are in both."""
    both = _count_pairs(clusters * (other.max() + 1) + other)
    return both / max(_count_pairs(clusters) + _count_pairs(other) - both, 1)


def run_speed(text: str) -> list[Row]:
    """Time fingerprints of the shingles of a text, one thread, and count collisions."""
    table = Texts.from_arrow(pa.array([text], pa.large_string()))
    size = len(text.encode())
    rows = []
    for name, ngram in (("words", WORDS), ("bytes", BYTES)):
        scheme = make_shingle_scheme(name, ngram=ngram)
        tokens = None if name == "bytes" else scheme.tokenizer.hash_tokens(table)
        distinct = _distinct_shingles(text, scheme)
        ways: dict[str, Callable[[], ShingleLists]] = {
            "mixer": lambda tokens=tokens, scheme=scheme: shingle_lists(
                scheme.tokenizer.hash_tokens(table) if tokens is None else tokens, scheme
            ),
            "rabin": lambda tokens=tokens, scheme=scheme: rabin_shingle_lists(
                table if tokens is None else tokens, scheme
            ),
        }
        for way, hash_shingles in ways.items():
            found = hash_shingles()
            seconds = []
            for _ in range(REPEATS):
                start = time.perf_counter()
                hash_shingles()
                seconds.append(time.perf_counter() - start)
            rows.append(
                {
                    "shingles": f"{ngram} {name}",
                    "fingerprint": way,
                    "megabytes_per_second": size / 1e6 / min(seconds),
                    "number": len(found.values),
                    "distinct": distinct,
                    "collisions": distinct - len(np.unique(found.values)),
                }
            )
    return rows


def _distinct_shingles(text: str, scheme: ShingleScheme) -> int:
    """Count different shingles as strings; those of words by the hashes of their tokens."""
    if scheme.tokenizer.name == "bytes":
        data = text.encode()
        return len({data[i : i + scheme.ngram] for i in range(len(data) - scheme.ngram + 1)})
    table = Texts.from_arrow(pa.array([text], pa.large_string()))
    tokens = scheme.tokenizer.hash_tokens(table).values.tolist()
    return len(set(zip(*(tokens[i:] for i in range(scheme.ngram)), strict=False)))


def made_up_text(seed: int) -> str:
    """Make a text up: words as long as English ones, the first ones the most frequent."""
    generator = np.random.default_rng(seed)
    letters = np.array(list(string.ascii_lowercase))
    lengths = generator.integers(2, 10, 5_000)
    words = np.array(["".join(generator.choice(letters, length)) for length in lengths])
    ranks = np.minimum(generator.zipf(1.3, SPEED_BYTES // 5) - 1, len(words) - 1)
    return " ".join(words[ranks])[:SPEED_BYTES]


def run_order(polynomials: int) -> list[Row]:
    """Estimate the resemblance of sets of strings that differ in their last bytes.

    Fingerprints are put in their own order, in that with nulls appended, and mixed.
    """
    pages = [STEM + b"%04d" % number for number in range(PAGES)]
    bytes_ = [STEM + bytes([number]) for number in range(LAST_BYTES)]
    return [
        *_run_order("pages 0000 to 2999", pages, SAMPLE, polynomials),
        *_run_order("192 last bytes", bytes_, BYTE_SAMPLE, polynomials),
    ]


def _run_order(name: str, strings: list[bytes], sample: int, polynomials: int) -> list[Row]:
    """Take the first two thirds for A and the last two for B."""
    n = len(strings)
    third = n // 3
    truth = third / n
    is_common = (np.arange(n) >= third) & (np.arange(n) < 2 * third)
    estimates: dict[str, list[float]] = {"as it is": [], "8 nulls appended": [], "mixed": []}
    for seed in range(polynomials):
        polynomial = draw_polynomial(seed)
        plain = fingerprints(strings, polynomial)
        nulls = fingerprints([each + bytes(NULLS) for each in strings], polynomial)
        with np.errstate(over="ignore"):
            mixed = mix_words(plain)
        for way, values in zip(estimates, (plain, nulls, mixed), strict=True):
            # The smallest of both sets together: what the right estimator looks at.
            estimates[way].append(float(is_common[np.argsort(values)[:sample]].mean()))
    theory = (truth * (1 - truth) / sample * (n - sample) / (n - 1)) ** 0.5
    return [
        {
            "strings": name,
            "sample": sample,
            "order": way,
            "truth": truth,
            "bias": statistics.mean(values) - truth,
            "deviation": statistics.stdev(values),
            "theory": theory,
            "polynomials": polynomials,
        }
        for way, values in estimates.items()
    ]


def fingerprints(strings: list[bytes], polynomial: int) -> Hashes:
    """Give the remainders of equally long strings, unmixed, a 1 before each of them."""
    data = np.frombuffer(b"".join(strings), np.uint8).reshape(len(strings), -1)
    width = data.shape[1]
    found = np.full(len(strings), remainder(1 << 8 * width, polynomial), np.uint64)
    for place in range(width):
        # Only few places differ, and only they need a table of all bytes.
        used = np.unique(data[:, place])
        table = np.zeros(256, np.uint64)
        for byte in used.tolist():
            table[byte] = remainder(byte << 8 * (width - 1 - place), polynomial)
        found ^= table[data[:, place]]
    return found
