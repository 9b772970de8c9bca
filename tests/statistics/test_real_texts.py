"""Real texts: every removal proved, and no more pairs left than the stated recall allows.

Always on the licence texts in ``examples/``. Other JSON lines files (``.xz`` and ``.gz`` too) with
a ``text`` column can be named in the environment variable NEARDUP_REAL_TEXTS, separated as in PATH.
"""

from __future__ import annotations

import gzip
import json
import lzma
import math
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import neardup
from tests.oracles.shingles import elements
from tests.oracles.tokens import Options, tokenize

pytestmark = pytest.mark.statistics

EXAMPLE = Path(__file__).parents[2] / "examples" / "licences.jsonl.gz"
MORE = [Path(path) for path in os.environ.get("NEARDUP_REAL_TEXTS", "").split(os.pathsep) if path]
THRESHOLDS = ("0.5", "0.7", "0.8", "0.9")


def read_texts(path: Path) -> list[str]:
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


@pytest.fixture(scope="module", params=[EXAMPLE, *MORE], ids=lambda path: path.name)
def collection(request):
    """Texts, and their sets of shingles as numbers."""
    texts = read_texts(request.param)
    numbers: dict[object, int] = {}
    sets = [
        {numbers.setdefault(e, len(numbers)) for e in elements(tokens, 5, "set")}
        for tokens in (tokenize(text, "words", Options()) for text in texts)
    ]
    return texts, sets, len(numbers)


def similar_pairs(sets, n_shingles, threshold):
    """Find the pairs of some sets at or above a threshold, by an inverted index of shingles."""
    owners: list[list[int]] = [[] for _ in range(n_shingles)]
    pairs = []
    sizes = np.array([len(s) for s in sets])
    for d, shingles in enumerate(sets):
        earlier = [owners[s] for s in shingles if owners[s]]
        if earlier:
            common = np.bincount(np.concatenate([np.array(o, np.int64) for o in earlier]))
            union = sizes[: len(common)] + sizes[d] - common
            reached = common * threshold.denominator >= threshold.numerator * union
            pairs += [(int(e), d) for e in np.flatnonzero(reached & (common > 0))]
        for s in shingles:
            owners[s].append(d)
    return pairs


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_deduplicate__removals_are_proved_and_misses_are_as_stated(collection, threshold):
    texts, sets, n_shingles = collection
    least = Fraction(threshold)
    result = neardup.deduplicate(texts, threshold=threshold)
    removed = result.removed.to_pylist()
    gone = {int(row["id"]) for row in removed}
    assert removed
    for row in removed:
        x, y = sets[int(row["id"])], sets[int(row["kept_id"])]
        similarity = Fraction(len(x & y), len(x | y))
        assert int(row["kept_id"]) not in gone
        assert similarity >= least
        assert row["similarity"] == float(similarity)
    # Who is similar to one that stays, and stays as well, has been missed. Each is missed with a
    # probability of 1 - recall at most, so their number is binomial at worst.
    stays = [d for d in range(len(texts)) if d not in gone]
    left = similar_pairs([sets[d] for d in stays], n_shingles, least)
    n_missed = len({later for _, later in left})
    trials, chance = len(removed) + n_missed, 1 - result.summary["predicted_recall"]
    # One more for the step from a whole number to the normal curve.
    assert n_missed <= trials * chance + 3.5 * math.sqrt(trials * chance * (1 - chance)) + 1
