"""Made-up words: hashes that stand for chance, and a vocabulary drawn from as languages do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Uint64s = npt.NDArray[np.uint64]
Int64s = npt.NDArray[np.int64]
# Numbers of words with what surrounds each: see ``Vocabulary``.
Forms = npt.NDArray[np.int32]

STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

N_WORDS = 1 << 17
_SLOT_BITS = 20

# How a word may stand in a text, written as in JSON, and how often. The last form ends a text.
_FORMS = (
    ("{} ", 0.84),
    ("{}, ", 0.06),
    ("{}. ", 0.04),
    ("{}.\\n\\n", 0.01),
    ("{:C} ", 0.05),
    ("{}.", 0.0),
)
N_FORMS = len(_FORMS)
_LAST_FORM = N_FORMS - 1

_CONSONANTS, _VOWELS, _ENDS = "bcdfghjklmnprstvwz", "aeiou", "nrst"
_SYLLABLES = [c + v for c in _CONSONANTS for v in _VOWELS]
# A prime above the number of syllables: no two words that differ in one vowel are both accented.
_ACCENTED_EVERY = 97


def mix(values: Uint64s) -> Uint64s:
    """Scramble numbers in place (the finaliser of SplitMix64), and return them."""
    values ^= values >> np.uint64(30)
    values *= _FACTORS[0]
    values ^= values >> np.uint64(27)
    values *= _FACTORS[1]
    values ^= values >> np.uint64(31)
    return values


def draw(numbers: Uint64s, key: int) -> Uint64s:
    """Return 64 random bits for each number; other keys give other bits."""
    salt = np.uint64(key * int(STEP) % 2**64)
    return mix(mix(numbers * STEP) + salt)


def shares(bits: Uint64s) -> npt.NDArray[np.float64]:
    """Return random bits as numbers from 0 to below 1."""
    shifted: npt.NDArray[np.float64] = (bits >> np.uint64(11)) * 2.0**-53
    return shifted


def word(rank: int) -> str:
    """Return the word of a rank: commoner words are shorter, some have a letter beyond ASCII."""
    digits, rest = [], rank + 1
    while rest:
        rest, digit = divmod(rest - 1, len(_SYLLABLES))
        digits.append(_SYLLABLES[digit])
    first = digits[0]
    if rank % _ACCENTED_EVERY == _ACCENTED_EVERY - 1:
        first = first[0] + "é"
    return first + _ENDS[rank % len(_ENDS)] + "".join(digits[1:])


@dataclass(frozen=True)
class Vocabulary:
    """Words; rank r is drawn with a probability in proportion to 1 / (r + 2.7).

    ``texts`` has the forms of each word one after the other, so form f of word w is f + 6 w.
    ``slots`` are the forms from which one is drawn, the common ones many times.
    """

    texts: pa.StringArray
    slots: Forms

    def forms(self, bits: Uint64s) -> Forms:
        """Return a form for each number of random bits."""
        drawn: Forms = self.slots[bits >> np.uint64(64 - _SLOT_BITS)]
        return drawn


@cache
def vocabulary() -> Vocabulary:
    """Return the one vocabulary there is."""
    texts = []
    for rank in range(N_WORDS):
        plain = word(rank)
        capital = plain.capitalize()
        texts += [form.replace("{:C}", capital).replace("{}", plain) for form, _ in _FORMS]
    n_slots = 1 << _SLOT_BITS
    weights = np.cumsum(1 / (np.arange(N_WORDS) + 2.7))
    ranks = np.searchsorted(weights, (np.arange(n_slots) + 0.5) / n_slots * weights[-1])
    chances = np.cumsum([chance for _, chance in _FORMS])
    chosen = shares(draw(np.arange(n_slots, dtype=np.uint64), 0))
    forms = np.searchsorted(chances[:-1], chosen * chances[-1], side="right")
    return Vocabulary(pa.array(texts), (ranks * N_FORMS + forms).astype(np.int32))


def words_of(forms: Forms) -> Forms:
    """Return the word of each form."""
    return forms // np.int32(N_FORMS)


def end_texts(forms: Forms, ends: Int64s) -> None:
    """Have the last word of each text end it; ``ends`` are exclusive, and no text is empty."""
    last = ends - 1
    forms[last] += _LAST_FORM - forms[last] % N_FORMS


@cache
def mean_form_bytes() -> float:
    """Return how many bytes a drawn form takes in a file on average."""
    import pyarrow.compute as pc

    lengths = pc.binary_length(vocabulary().texts).to_numpy()
    return float(lengths[vocabulary().slots].mean())
