"""Two texts that are alike."""

from __future__ import annotations

from tests.oracles.tokens import Options, tokenize

OLD = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age "
    "of foolishness, it was the epoch of belief, it was the epoch of incredulity"
)
NEW = OLD.replace("times", "days").replace("wisdom", "wit and wisdom").upper() + "! Or was it?"


def words_of(text: str) -> list[bytes]:
    return tokenize(text, "words", Options())
