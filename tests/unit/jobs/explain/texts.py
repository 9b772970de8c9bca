"""Collections of short texts with many near-duplicates, and definitions of what is between two."""

from __future__ import annotations

import random
from fractions import Fraction

from tests.oracles import measures
from tests.oracles.shingles import elements
from tests.oracles.tokens import Options, tokenize


def make_texts(seed: int, n: int = 36) -> list[str]:
    """Make texts that differ from others in a few words: chains, copies, short and empty ones."""
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(40)]
    texts = [" ".join(rng.choices(words, k=rng.randint(8, 30))) for _ in range(n // 6)]
    while len(texts) < n - 4:
        changed = rng.choice(texts).split()
        for _ in range(rng.randint(0, 4)):
            changed[rng.randrange(len(changed))] = rng.choice(words)
        if rng.random() < 0.3:
            changed += rng.choices(words, k=rng.randint(1, 12))
        texts.append(" ".join(changed))
    return [*texts, "", "!?", "w1 w2", "W1, w2."]


def sets_of(texts: list[str], ngram: int, occurrences: str = "set") -> list[frozenset[object]]:
    """Give the sets of shingles of texts, as tuples of words."""
    return [elements(tokenize(text, "words", Options()), ngram, occurrences) for text in texts]


def similarity(measure: str, x: frozenset[object], y: frozenset[object]) -> float:
    """Give the value of a measure for the document that would go, and the one that stays."""
    if not x or not y:
        return 0.0
    return measures.value(measure, measures.rank_of_sets(measure, x, y))


def reaches(measure: str, x: frozenset[object], y: frozenset[object], threshold: Fraction) -> bool:
    return bool(x and y) and measures.sets_reach(measure, x, y, threshold)
