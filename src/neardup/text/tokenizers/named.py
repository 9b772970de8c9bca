"""The tokenizers that have a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from neardup.text.normalise import Normalisation
from neardup.text.tokenizers.bytewise import ByteTokenizer
from neardup.text.tokenizers.lines import LineTokenizer
from neardup.text.tokenizers.tables import CharacterTokenizer, TableTokenizer
from neardup.text.tokenizers.tokenizer import Tokenizer


@dataclass(frozen=True)
class NamedTokenizer:
    """How a tokenizer is made that a user may name.

    Parameters
    ----------
    make
        Makes it from its name and what is folded away.
    casefold
        Whether case is folded away unless the user asks otherwise.
    normalises
        Whether anything can be folded away.
    """

    make: Callable[[str, Normalisation], Tokenizer]
    casefold: bool = False
    normalises: bool = True


NAMED = {
    "words": NamedTokenizer(TableTokenizer, casefold=True),
    "whitespace": NamedTokenizer(TableTokenizer),
    "characters": NamedTokenizer(CharacterTokenizer),
    "lines": NamedTokenizer(LineTokenizer),
    "bytes": NamedTokenizer(lambda name, _: ByteTokenizer(), normalises=False),
}
"""All of them, in the order in which messages list them."""

KNOWN_NAMES = ", ".join(NAMED)
"""The names in words, for errors."""


def named_tokenizer(tokenizer: object) -> NamedTokenizer | None:
    """Return the tokenizer of a name; None for a file, a function or an unknown name."""
    return NAMED.get(tokenizer) if isinstance(tokenizer, str) else None
