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
from neardup.kernels import folding, spans, tokens
from neardup.kernels.hashing import hash_bytes
from neardup.options import table
from neardup.tables import Int64s, Texts, TokenLists, TokenSpans, Uint64s
from neardup.text.characters import token_tables
from neardup.text.forms import form_texts
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

    @abstractmethod
    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the tokens of each text, and tell where in the text each of them stands.

        Texts are normalised before they are cut, but places are those in the texts as given: a
        token made of characters that were normalised together has the place of all of them.

        Raises
        ------
        InvalidParameterError
            If the tokenizer cannot tell places, which is so for functions.
        """


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
    table.TOKENIZER.given(tokenizer)
    if callable(tokenizer):
        return FunctionTokenizer(tokenizer, normalisation)
    if tokenizer == "bytes":
        return ByteTokenizer()
    if tokenizer in TABLE_TOKENIZERS:
        return TableTokenizer(str(tokenizer), normalisation)
    return load_file_tokenizer(Path(tokenizer), normalisation)


@dataclass(frozen=True)
class TableTokenizer(Tokenizer):
    """Cuts at characters, by tables from ``unicodedata``, in compiled code."""

    name: str
    normalisation: Normalisation

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text."""
        return self._hash(_normalise_form(texts, self.normalisation))

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the tokens of each text, and tell where each stands."""
        formed = form_texts(texts, self.normalisation)
        if formed is None:
            lists = self._hash(texts)
            return lists, self._locate(texts, len(lists.values))
        lists = self._hash(formed.texts)
        found = self._locate(formed.texts, len(lists.values))
        return lists, formed.locate(found, lists.offsets)

    def _locate(self, texts: Texts, n_tokens: int) -> TokenSpans:
        """Find the tokens that ``_hash`` has found in the same texts."""
        ascii_table, table = token_tables(self.name, self.normalisation)
        starts: Int64s = np.empty(n_tokens + 1, np.int64)
        stops: Int64s = np.empty(n_tokens + 1, np.int64)
        if self.name == "characters":
            spans.locate_characters(texts.data, texts.offsets, table, starts, stops)
        else:
            spans.locate_tokens(texts.data, texts.offsets, ascii_table, table, starts, stops)
        return TokenSpans(starts[:n_tokens], stops[:n_tokens])

    def _hash(self, texts: Texts) -> TokenLists:
        """Hash the tokens of texts that are in the Unicode form asked for."""
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

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the bytes of each text, and tell where each stands."""
        lists = self.hash_tokens(texts)
        starts: Int64s = np.arange(lists.offsets[-1], dtype=np.int64)
        starts -= np.repeat(lists.offsets[:-1], np.diff(lists.offsets))
        return lists, TokenSpans(starts, starts + 1)


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

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Refuse: a function gives tokens without their places."""
        message = (
            f"passages need a tokenizer that tells where each token stands, got the function "
            f"{self.name}; choose one of {', '.join(TOKENIZER_NAMES)} or a tokenizer.json file"
        )
        raise InvalidParameterError(message)


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

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the token ids of each text, and tell where each token stands."""
        formed = form_texts(texts, self.normalisation)
        strings = (texts if formed is None else formed.texts).to_arrow().to_pylist()
        folded = [self.normalisation.fold_text(string) for string in strings]
        encodings = self.tokenizer.encode_batch(folded, add_special_tokens=False)
        lists = _hash_lists([encoding.ids for encoding in encodings])
        places: Int64s = np.empty((lists.offsets[-1], 2), np.int64)
        for d, (string, encoding) in enumerate(zip(strings, encodings, strict=True)):
            edges = _folded_edges(string, self.normalisation)
            offsets: Int64s = np.array(encoding.offsets, np.int64).reshape(-1, 2)
            rows = places[lists.offsets[d] : lists.offsets[d + 1]]
            rows[:, 0] = edges[0][offsets[:, 0]]
            rows[:, 1] = edges[1][offsets[:, 1]]
        found = TokenSpans(places[:, 0].copy(), places[:, 1].copy())
        return lists, found if formed is None else formed.locate(found, lists.offsets)


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


def _folded_edges(text: str, normalisation: Normalisation) -> tuple[Int64s, Int64s]:
    """Tell where in a text's bytes a span of characters of the folded text starts and stops.

    Both arrays have one value more than the folded text has characters. A place inside what one
    character has become is the start or the stop of that character; dropped characters belong to
    the one before them.
    """
    sizes = {c: (len(c.encode()), len(normalisation.fold(c))) for c in set(text)}
    starts, stops = [], [0]
    position, n_last = 0, 1
    for character in text:
        n_bytes, n_folded = sizes[character]
        starts += [position] * n_folded
        position += n_bytes
        if n_folded:
            stops += [position] * n_folded
            n_last = n_folded
        else:
            # All places in what the character before has become: its stop has moved.
            stops[-n_last:] = [position] * n_last
    return np.array([*starts, position], np.int64), np.array(stops, np.int64)


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
