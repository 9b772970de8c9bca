"""Tokenizers: what a text is cut into, each token as a 64-bit hash."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError, MissingExtraError, ReadError
from neardup.kernels import folding, tokens
from neardup.kernels.hashing import hash_bytes
from neardup.tables import Int64s, Texts, TokenLists, Uint64s
from neardup.text.characters import token_tables
from neardup.text.normalise import Normalisation

if TYPE_CHECKING:
    from tokenizers import Tokenizer as HuggingFaceTokenizer

TABLE_TOKENIZERS = ("words", "whitespace", "characters")
TOKENIZER_NAMES = (*TABLE_TOKENIZERS, "bytes")

TokenFunction = Callable[[str], Iterable[str | int]]


class Tokenizer(ABC):
    """Cuts texts into tokens and hashes them.

    ``name`` goes into schemes: tokenizers of equal name and normalisation give equal hashes.
    """

    name: str

    @abstractmethod
    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text; safe to call from several threads."""


def make_tokenizer(
    tokenizer: str | Path | TokenFunction, normalisation: Normalisation
) -> Tokenizer:
    """Make a tokenizer from what a user may name.

    Parameters
    ----------
    tokenizer
        ``words``: runs of letters, marks, numbers and underscores; characters of scripts written
        without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) are one token each. ``whitespace``:
        runs of anything but white space. ``characters``: every code point. ``bytes``: every
        UTF-8 byte. The path of a ``tokenizer.json`` file. A function from a text to its tokens,
        all strings or all integers.
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
    if callable(tokenizer):
        return FunctionTokenizer(tokenizer, normalisation)
    if tokenizer == "bytes":
        return ByteTokenizer()
    if tokenizer in TABLE_TOKENIZERS:
        return TableTokenizer(str(tokenizer), normalisation)
    if str(tokenizer).endswith(".json"):
        return load_file_tokenizer(Path(tokenizer), normalisation)
    message = (
        f"tokenizer must be one of {', '.join(TOKENIZER_NAMES)}, a tokenizer.json file or a "
        f"function, got {str(tokenizer)!r}"
    )
    raise InvalidParameterError(message)


@dataclass(frozen=True)
class TableTokenizer(Tokenizer):
    """Cuts at characters, by tables from ``unicodedata``, in compiled code."""

    name: str
    normalisation: Normalisation

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text."""
        texts = _normalise_form(texts, self.normalisation)
        ascii_table, table = token_tables(self.name, self.normalisation)
        n_bytes = int(texts.offsets[-1] - texts.offsets[0])
        hashes: Uint64s = np.empty(n_bytes, np.uint64)
        offsets: Int64s = np.empty(len(texts) + 1, np.int64)
        if self.name == "characters":
            tokens.hash_characters(texts.data, texts.offsets, table, hashes, offsets)
        else:
            room = folding.GROWTH * n_bytes + folding.SLACK * (len(texts) + 1)
            words: Uint64s = np.empty(room // 8 + 1, np.uint64)
            folded_offsets: Int64s = np.empty(len(texts) + 1, np.int64)
            folding.fold_texts(
                texts.data, texts.offsets, ascii_table, table, words.view(np.uint8), folded_offsets
            )
            tokens.hash_tokens(words, folded_offsets, hashes, offsets)
        return TokenLists(hashes[: offsets[-1]], offsets)


@dataclass(frozen=True)
class ByteTokenizer(Tokenizer):
    """Every byte is a token."""

    name: Literal["bytes"] = "bytes"

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the bytes of each text."""
        start, stop = int(texts.offsets[0]), int(texts.offsets[-1])
        return TokenLists(_BYTE_HASHES[texts.data[start:stop]], texts.offsets - start)


@dataclass(frozen=True)
class FunctionTokenizer(Tokenizer):
    """Calls a function for each text; as fast as that function."""

    function: TokenFunction
    normalisation: Normalisation

    @property
    def name(self) -> str:  # type: ignore[override]
        """Module and name of the function: give a changed function another name."""
        function = self.function
        return (
            f"{getattr(function, '__module__', '?')}."
            f"{getattr(function, '__qualname__', type(function).__name__)}"
        )

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash what the function returns: strings as their UTF-8 bytes, integers as 8 bytes."""
        results = [self.function(text) for text in _strings(texts, self.normalisation)]
        for result in results:
            if not isinstance(result, Iterable):
                message = f"a tokenizer must return a list of tokens, got {type(result).__name__}"
                raise InvalidParameterError(message)
        return _hash_lists([list(result) for result in results])


@dataclass(frozen=True)
class FileTokenizer(Tokenizer):
    """A Hugging Face ``tokenizer.json``, by the package ``tokenizers``."""

    name: str
    normalisation: Normalisation
    tokenizer: HuggingFaceTokenizer

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the token ids of each text, without special tokens."""
        strings = _strings(texts, self.normalisation)
        encodings = self.tokenizer.encode_batch(strings, add_special_tokens=False)
        return _hash_lists([encoding.ids for encoding in encodings])


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
    name = f"{path.name}:{hashlib.sha256(content).hexdigest()[:16]}"
    return FileTokenizer(name, normalisation, tokenizer)


_BYTE_HASHES: Uint64s = np.array([hash_bytes(bytes([b])) for b in range(256)], np.uint64)


def _normalise_form(texts: Texts, normalisation: Normalisation) -> Texts:
    if normalisation.unicode_form is None:
        return texts
    return Texts.from_arrow(normalisation.apply_form(texts.to_arrow()))


def _strings(texts: Texts, normalisation: Normalisation) -> list[str]:
    strings: list[str] = normalisation.apply_form(texts.to_arrow()).to_pylist()
    return [normalisation.fold_text(string) for string in strings]


def _hash_lists(lists: Sequence[Sequence[str | int]]) -> TokenLists:
    offsets: Int64s = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(tokens) for tokens in lists], out=offsets[1:])
    known: dict[tuple[type, str | int], int] = {}
    values: Uint64s = np.empty(offsets[-1], np.uint64)
    for start, tokens_of_text in zip(offsets[:-1], lists, strict=True):
        for i, token in enumerate(tokens_of_text):
            # With its type, because 1 and 1.0 and True are the same key.
            key = (type(token), token)
            if key not in known:
                known[key] = _hash_token(token)
            values[start + i] = known[key]
    return TokenLists(values, offsets)


def _hash_token(token: object) -> int:
    try:
        if isinstance(token, str):
            return hash_bytes(token.encode())
        if isinstance(token, (int, np.integer)):
            return hash_bytes(int(token).to_bytes(8, "little", signed=True))
    except (UnicodeEncodeError, OverflowError) as error:
        message = f"a tokenizer returned {token!r}, which cannot be hashed: {error}"
        raise InvalidParameterError(message) from None
    message = f"a tokenizer must return strings or integers, got {type(token).__name__}"
    raise InvalidParameterError(message)
