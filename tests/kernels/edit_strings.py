"""Random strings, many of them alike."""

from __future__ import annotations

from fractions import Fraction

from neardup.matching.measures import EditThreshold
from neardup.tables import TokenLists
from tests.arrays import ragged

QGRAMS = range(1, 6)
SIMILARITIES = [Fraction(t) for t in ("0.3", "0.5", "0.54", "0.6", "0.75", "0.8", "0.9", "1")]


def random_edit(generator, string, letters):
    """Edit a string once, anywhere; an empty one grows."""
    kinds = ["insert", "delete", "substitute"] if string else ["insert"]
    kind = generator.choice(kinds)
    place = generator.randrange(len(string) + (kind == "insert"))
    new = "" if kind == "delete" else generator.choice(letters)
    return string[:place] + new + string[place + (kind != "insert") :]


def random_strings(generator, n, longest=12):
    """Strings of which many are edited copies of others, some are equal, some empty."""
    letters = generator.choice(["a", "ab", "abcd", "abcdefghijklmnop"])
    strings = []
    for _ in range(n):
        if strings and generator.random() < 0.6:
            new = generator.choice(strings)
            for _ in range(generator.randrange(5)):
                new = random_edit(generator, new, letters)
        else:
            new = "".join(generator.choices(letters, k=generator.randrange(longest)))
        strings.append(new)
    return strings


def token_lists(strings):
    return TokenLists(*ragged([[ord(c) for c in string] for string in strings], lead=2))


def threshold_of(threshold):
    if isinstance(threshold, Fraction):
        return EditThreshold(None, threshold)
    return EditThreshold(threshold)
