"""Two texts that are alike."""

from __future__ import annotations

import random

from tests.oracles.tokens import Options, tokenize

OLD = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age "
    "of foolishness, it was the epoch of belief, it was the epoch of incredulity"
)
NEW = OLD.replace("times", "days").replace("wisdom", "wit and wisdom").upper() + "! Or was it?"


def words_of(text: str) -> list[bytes]:
    return tokenize(text, "words", Options())


def random_pair(seed: int, n_words: int = 3000, n_edits: int = 150) -> tuple[str, str]:
    """Make a text, and one in which some words were replaced."""
    rng = random.Random(seed)
    words = [f"{rng.randrange(10**6):x}" for _ in range(n_words)]
    other = list(words)
    for place in rng.sample(range(n_words), n_edits):
        other[place] = f"{rng.randrange(10**6):x}"
    return " ".join(words), " ".join(other)
