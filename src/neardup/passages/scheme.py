"""What decides an index: how texts become tokens, and tokens min-hashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neardup.kernels.hashing import function_seeds
from neardup.options.choices import InverseFrequency, TermFrequency, UnicodeForm
from neardup.options.jobs import SCHEME_OF_PASSAGES
from neardup.tables import Uint64s
from neardup.text.restoring import check_restored, described_tokenizer
from neardup.text.shingles import ShingleScheme, make_shingle_scheme
from neardup.text.tokenizers import TokenFunction, Tokenizer
from neardup.text.weighting import Weighting

_NUMBERS = ("min_tokens", "num_perm", "seed")

# The tokens of passages stand for themselves, so these parts of a shingle scheme say nothing.
_OF_SHINGLES = ("ngram", "occurrences")


@dataclass(frozen=True)
class PassageScheme:
    """How passages are found: two indexes of one scheme have the same windows.

    Parameters
    ----------
    shingles
        What a text is cut into; only its tokens count.
    min_tokens
        Tokens of the shortest passage that is found for certain, from 1 to 65,536. Half of it, and
        windows take twice the room.
    num_perm
        Hash functions, from 8 to 1,024: an estimate of a similarity J has a standard error of
        sqrt(J (1 - J) / num_perm).
    weighting
        What tokens weigh.
    seed
        Which hash functions.
    """

    shingles: ShingleScheme
    min_tokens: int = 50
    num_perm: int = 64
    weighting: Weighting = field(default_factory=Weighting)
    seed: int = 42

    def __post_init__(self) -> None:
        for option in SCHEME_OF_PASSAGES:
            if option.name in _NUMBERS:
                # A plain int, for the manifest.
                number = option.given(getattr(self, option.name))
                object.__setattr__(self, option.name, number)

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts texts into tokens."""
        return self.shingles.tokenizer

    @property
    def seeds(self) -> Uint64s:
        """A 64-bit seed for each hash function."""
        return function_seeds(self.seed, self.num_perm)

    def describe(self) -> dict[str, Any]:
        """Give all that decides the windows, as plain values."""
        shingles = self.shingles.describe()
        tokens = {name: value for name, value in shingles.items() if name not in _OF_SHINGLES}
        return {
            **tokens,
            "min_tokens": self.min_tokens,
            "num_perm": self.num_perm,
            **self.weighting.describe(),
            "seed": self.seed,
        }


def make_passage_scheme(
    *,
    min_tokens: int = 50,
    num_perm: int = 64,
    tf: TermFrequency = "binary",
    idf: InverseFrequency = "unary",
    seed: int = 42,
    tokenizer: str | Path | TokenFunction = "words",
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
) -> PassageScheme:
    """Make a scheme from options.

    Raises
    ------
    InvalidParameterError
        For the first option that is out of range.
    """
    shingles = make_shingle_scheme(
        tokenizer,
        ngram=1,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
    )
    return PassageScheme(shingles, min_tokens, num_perm, Weighting(tf, idf), seed)


def restore_scheme(
    description: Mapping[str, Any], tokenizer: str | Path | TokenFunction | None = None
) -> PassageScheme:
    """Make the scheme that ``describe`` told of.

    Parameters
    ----------
    description
        What ``describe`` gave.
    tokenizer
        The ``tokenizer.json`` that was used, if one was.

    Raises
    ------
    InvalidParameterError
        If a tokenizer is missing.
    SketchMismatchError
        If this scheme would give other tokens: another tokenizer, or another Unicode version.
    """
    tokenizer = described_tokenizer(description, tokenizer)
    options = {
        key: description[key]
        for key in (
            *("min_tokens", "num_perm", "tf", "idf", "seed"),
            *("casefold", "unicode_form", "strip_accents", "fold_digits"),
        )
        if key in description
    }
    scheme = make_passage_scheme(tokenizer=tokenizer, **options)
    check_restored(scheme.describe(), description)
    return scheme
