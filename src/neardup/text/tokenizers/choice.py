"""From what a user names to a tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup.options import table
from neardup.text.tokenizers.files import load_file_tokenizer
from neardup.text.tokenizers.functions import FunctionTokenizer
from neardup.text.tokenizers.named import named_tokenizer

if TYPE_CHECKING:
    from neardup.text.normalise import Normalisation
    from neardup.text.tokenizers.functions import TokenFunction
    from neardup.text.tokenizers.tokenizer import Tokenizer


def make_tokenizer(
    tokenizer: str | Path | TokenFunction, normalisation: Normalisation
) -> Tokenizer:
    """Make a tokenizer from what a user may name.

    Parameters
    ----------
    tokenizer
        ``words``: runs of letters, marks, numbers and underscores; characters of scripts written
        without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) are one token each. ``whitespace``:
        runs of anything but white space. ``characters``: every code point. ``lines``: every
        line that is not blank, without white space at its end. ``bytes``: every UTF-8 byte. The
        path of a ``tokenizer.json`` file. A function from a text to its tokens, see
        ``TokenFunction``.
    normalisation
        Folded away before tokens are hashed; ``bytes`` takes none.

    Raises
    ------
    InvalidParameterError
        For an unknown name.
    MissingExtraError
        For a ``tokenizer.json`` without the package ``tokenizers``.
    ReadError
        If the file cannot be read.
    """
    table.TOKENIZER.given(tokenizer)
    if callable(tokenizer):
        return FunctionTokenizer(tokenizer, normalisation)
    named = named_tokenizer(tokenizer)
    if named is not None:
        return named.make(str(tokenizer), normalisation)
    return load_file_tokenizer(Path(tokenizer), normalisation)
