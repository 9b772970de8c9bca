"""Tokenizers of ``tokenizer.json`` files, by the package ``tokenizers``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import InvalidInputError, MissingExtraError, ReadError
from neardup.tables import Texts, TokenLists, TokenSpans
from neardup.text.normalise import Normalisation
from neardup.text.tokenizers.strings import Place, folded_strings, hash_lists, locate_strings
from neardup.text.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer as HuggingFaceTokenizer

# Between the name of a file and the digest of its content.
_BEFORE_DIGEST = ":"


@dataclass(frozen=True)
class FileTokenizer(Tokenizer):
    """A Hugging Face ``tokenizer.json``, by the package ``tokenizers``."""

    name: str
    normalisation: Normalisation
    tokenizer: HuggingFaceTokenizer

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the token ids of each text, without special tokens."""
        strings = folded_strings(texts, self.normalisation)
        encodings = self.tokenizer.encode_batch(strings, add_special_tokens=False)
        return hash_lists([encoding.ids for encoding in encodings])

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the token ids of each text, and find where each token stands."""

        def cut(strings: list[str]) -> tuple[TokenLists, list[list[Place]]]:
            encodings = self.tokenizer.encode_batch(strings, add_special_tokens=False)
            lists = hash_lists([encoding.ids for encoding in encodings])
            return lists, [encoding.offsets for encoding in encodings]

        return locate_strings(texts, self.normalisation, cut)


def load_file_tokenizer(path: Path, normalisation: Normalisation) -> FileTokenizer:
    """Load a ``tokenizer.json``; the name carries a digest of the file, which decides the tokens.

    Raises
    ------
    ReadError, InvalidInputError
        If the file cannot be read, or is something else.
    MissingExtraError
        Without the package ``tokenizers``.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from None
    try:
        import tokenizers
    except ImportError:
        raise MissingExtraError("tokenizers", "a tokenizer.json file") from None
    try:
        tokenizer = tokenizers.Tokenizer.from_str(content.decode())
    except Exception as error:  # the library raises plain Exception
        message = f"not a tokenizer.json file: {error}"
        raise InvalidInputError(message, path=str(path)) from None
    # Many files ask for cutting or filling up texts to a model's length.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    name = f"{path.name}{_BEFORE_DIGEST}{hashlib.sha256(content).hexdigest()[:16]}"
    return FileTokenizer(name, normalisation, tokenizer)


def file_in_name(name: str) -> str | None:
    """Return the file name in the name of a tokenizer; None for one that is not of a file."""
    file, separator, _ = name.partition(_BEFORE_DIGEST)
    return file if separator else None
