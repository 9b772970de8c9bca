"""Scheme of an index: tokenization of texts and min-hashes of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from neardup.errors import InvalidParameterError
from neardup.index.store import check_restored, described_tokenizer
from neardup.kernels.common.hashing import function_seeds
from neardup.options.choices import InverseFrequency
from neardup.options.groups import ShingleOptions
from neardup.options.passages import PassageOptions
from neardup.tables import TokenLists, Uint64s
from neardup.text.shingles import ShingleScheme, shingle_scheme
from neardup.text.tokenizers import ShingledTokenizer, TokenFunction, Tokenizer, shingle_tokens
from neardup.text.weighting import Weighting


@dataclass(frozen=True)
class PassageScheme:
    """Scheme of a passage index: equal schemes yield equal windows.

    Parameters
    ----------
    shingles
        Units of a text: tokens, or runs of ``ngram`` tokens. ``weighting`` defines the effect of
        copies.
    min_tokens
        Tokens of the shortest passage that is certainly found, from ``ngram`` to 65,536. Half of it
        doubles the size of the windows.
    num_perm
        Hash functions, from 8 to 1,024: an estimate of a similarity J has a standard error of
        sqrt(J (1 - J) / num_perm). 0 stores no windows; searches then compare all possibly similar
        passages.
    weighting
        Weights of tokens.
    seed
        Seed of the hash functions.
    """

    shingles: ShingleScheme
    min_tokens: int = 50
    num_perm: int = 64
    weighting: Weighting = field(default_factory=Weighting)
    seed: int = 42

    def __post_init__(self) -> None:
        for name in ("min_tokens", "num_perm", "seed"):
            # A plain int, for the manifest.
            number = PassageOptions.known[name].given(getattr(self, name))
            object.__setattr__(self, name, number)
        check_length(self.min_tokens, self.shingles.ngram)

    @property
    def tokenizer(self) -> Tokenizer:
        """Tokenizer of shingles; with ``ngram`` 1, shingles are tokens."""
        plain, ngram = self.shingles.tokenizer, self.shingles.ngram
        return plain if ngram == 1 else ShingledTokenizer(plain, ngram)

    @property
    def least_shingles(self) -> int:
        """Shingles of a passage of ``min_tokens`` tokens."""
        return self.count_shingles(self.min_tokens)

    def shingle(self, tokens: TokenLists) -> TokenLists:
        """Return the shingles of token lists."""
        ngram = self.shingles.ngram
        return tokens if ngram == 1 else shingle_tokens(tokens, ngram)

    def count_shingles(self, n_tokens: int) -> int:
        """Return the number of shingles of a passage, given its tokens."""
        return max(n_tokens - self.shingles.ngram + 1, 1)

    def count_tokens(self, n_shingles: int) -> int:
        """Return the number of tokens of a passage, given its shingles."""
        return n_shingles + self.shingles.ngram - 1

    @property
    def seeds(self) -> Uint64s:
        """A 64-bit seed per hash function."""
        return function_seeds(self.seed, self.num_perm)

    def weighed_by(self, idf: InverseFrequency) -> PassageScheme:
        """Return a scheme without hash functions, with other inverse document frequencies."""
        return replace(self, weighting=replace(self.weighting, idf=idf))

    def describe(self) -> dict[str, Any]:
        """Return all parameters of the windows, as plain values."""
        shingles = self.shingles.describe()
        del shingles["occurrences"]
        return {
            **shingles,
            "min_tokens": self.min_tokens,
            "num_perm": self.num_perm,
            **self.weighting.describe(),
            "seed": self.seed,
        }


def check_length(min_tokens: int, ngram: int) -> None:
    """Check that a passage of ``min_tokens`` tokens has a shingle."""
    if min_tokens < ngram:
        message = (
            f"min_tokens must be at least ngram, got {min_tokens} and {ngram}: a passage of fewer "
            "tokens has no shingle"
        )
        raise InvalidParameterError(message, "min_tokens", "ngram")


def make_passage_scheme(**given: Any) -> PassageScheme:
    """Make a scheme from ``PassageOptions`` by name."""
    options = PassageOptions(**given)
    return PassageScheme(
        shingle_scheme(options.part(ShingleOptions)),
        options.min_tokens,
        options.num_perm,
        Weighting(options.tf, options.idf),
        options.seed,
    )


def restore_scheme(
    description: Mapping[str, Any], tokenizer: str | Path | TokenFunction | None = None
) -> PassageScheme:
    """Restore a scheme from its description.

    Parameters
    ----------
    description
        Result of ``describe``.
    tokenizer
        The ``tokenizer.json`` of the scheme, if it has one.
    """
    # Indexes from before passages had shingles lack it.
    description = {"ngram": 1, **description}
    tokenizer = described_tokenizer(description, tokenizer)
    options = {key: description[key] for key in PassageOptions.known if key in description}
    scheme = make_passage_scheme(**(options | {"tokenizer": tokenizer}))
    check_restored(scheme.describe(), description)
    return scheme
