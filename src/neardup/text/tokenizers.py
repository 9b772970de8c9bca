"""Tokenizers: cut texts into tokens, each a 64-bit hash.

``NAMED`` is the table of named tokenizers; ``make_tokenizer`` makes one from a user's name.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError, InvalidParameterError, MissingExtraError, ReadError
from neardup.files.encodings import IN_MEMORY, LANGUAGES, languages_of_ids
from neardup.kernels.common.hashing import hash_bytes
from neardup.kernels.text import folding, shingle_kernels, tokens
from neardup.options.choices import TokenFunction, TokenizerChoice
from neardup.options.groups import TokenOptions
from neardup.options.kinds import cuts_programs
from neardup.tables import Bools, Bytes, Int64s, Texts, TokenLists, TokenSpans, Uint64s
from neardup.text.forms import Normalisation, form_texts, token_tables

if TYPE_CHECKING:
    from tokenizers import Tokenizer as HuggingFaceTokenizer


class Tokenizer(ABC):
    """Cuts texts into tokens and hashes them.

    Tokenizers of equal ``name`` and normalisation return equal hashes; schemes have the name.
    """

    name: str

    is_by_file: bool = False
    """Whether the language of its file decides the tokens of a text."""

    @property
    def splits_characters(self) -> bool:
        """Return whether a character may become several tokens."""
        return True

    def describe(self) -> dict[str, object]:
        """Return all settings that decide the tokens, except folding."""
        return {"tokenizer": self.name}

    def texts_in_index(self, texts: pa.Array, ids: pa.Array, language: int = IN_MEMORY) -> Texts:
        """Return texts of an index with their languages.

        ``language`` is that of the texts' file; without a file the ids decide.
        """
        by_ids = self.is_by_file and language == IN_MEMORY
        return Texts.from_arrow(texts, languages_of_ids(ids) if by_ids else language)

    @abstractmethod
    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text, safely from several threads."""

    @abstractmethod
    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the tokens of each text, and find their positions.

        Positions refer to the original texts: a token of characters that were normalised together
        has the position of all of them. InvalidParameterError for a function without places.
        """

    def hash_with_heads(self, texts: Texts) -> TokenLists:
        """Hash tokens and mark each token that begins a character."""
        if not self.splits_characters:
            return self.hash_tokens(texts)
        lists, spans = self.locate_tokens(texts)
        heads: Bools = np.ones(len(spans), np.bool_)
        heads[1:] = spans.starts[1:] >= spans.stops[:-1]
        # The first token of a text always does.
        heads[lists.offsets[:-1][np.diff(lists.offsets) > 0]] = True
        return replace(lists, heads=heads)


Place = tuple[int, int]
"""Place of a token, in characters of the string that was cut; the stop is exclusive."""

Places = Iterable[Sequence[Place]]
"""Places of the tokens of each string, made on demand."""


class StringTokenizer(Tokenizer):
    """Cut normalised, folded strings."""

    normalisation: Normalisation

    @abstractmethod
    def _cut(self, strings: list[str], texts: Texts) -> tuple[TokenLists, Places]:
        """Hash the tokens of strings of these texts, with their places."""

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text."""
        return self._cut(folded_strings(texts, self.normalisation), texts)[0]

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the tokens of each text, and find their positions."""
        formed = form_texts(texts, self.normalisation)
        strings = (texts if formed is None else formed.texts).to_arrow().to_pylist()
        folded = [self.normalisation.fold_text(string) for string in strings]
        lists, places = self._cut(folded, texts)
        starts, stops = np.empty((2, len(lists.values)), np.int64)
        for d, (string, of_string) in enumerate(zip(strings, places, strict=True)):
            edges = _folded_edges(string, self.normalisation)
            offsets: Int64s = np.array(of_string, np.int64).reshape(-1, 2)
            rows = slice(lists.offsets[d], lists.offsets[d + 1])
            starts[rows] = edges[0][offsets[:, 0]]
            stops[rows] = edges[1][offsets[:, 1]]
        found = TokenSpans(starts, stops)
        return lists, found if formed is None else formed.locate(found, lists.offsets)


def folded_texts(texts: Texts, normalisation: Normalisation) -> Texts:
    """Return texts, normalised and folded."""
    if normalisation.folds:
        strings = folded_strings(texts, normalisation)
        return Texts.from_arrow(pa.array(strings, pa.large_string()))
    formed = form_texts(texts, normalisation)
    return texts if formed is None else formed.texts


def folded_strings(texts: Texts, normalisation: Normalisation) -> list[str]:
    """Return texts as strings, normalised and folded."""
    formed = form_texts(texts, normalisation)
    strings = (texts if formed is None else formed.texts).to_arrow().to_pylist()
    return [normalisation.fold_text(string) for string in strings]


def hash_lists(lists: Sequence[Sequence[str | int]]) -> TokenLists:
    """Hash tokens: strings as UTF-8 bytes, integers as 8 bytes.

    InvalidParameterError for any other token, and for strings that cannot be encoded.
    """
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


def _folded_edges(text: str, normalisation: Normalisation) -> tuple[Int64s, Int64s]:
    """Return each folded character's byte edges in a text.

    Both arrays have one value more than the folded text has characters. An edge inside the
    expansion of a character is the start or the stop of that character; dropped characters belong
    to the character before them.
    """
    sizes = {c: (len(c.encode()), len(normalisation.fold_character(c))) for c in set(text)}
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
            # All edges in the expansion of the character before: its stop has moved.
            stops[-n_last:] = [position] * n_last
    return np.array([*starts, position], np.int64), np.array(stops, np.int64)


@dataclass(frozen=True)
class TableTokenizer(Tokenizer):
    """Cut texts at characters by the tables of a rule."""

    name: str
    normalisation: Normalisation

    @property
    def splits_characters(self) -> bool:
        """Return whether characters may be split into several tokens."""
        return self.normalisation.unicode_form is not None

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text."""
        formed = form_texts(texts, self.normalisation)
        return self._hash(texts if formed is None else formed.texts)

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the tokens of each text, and find their places."""
        formed = form_texts(texts, self.normalisation)
        if formed is None:
            lists = self._hash(texts)
            return lists, self._locate(texts, len(lists.values))
        lists = self._hash(formed.texts)
        found = self._locate(formed.texts, len(lists.values))
        return lists, formed.locate(found, lists.offsets)

    def _hash(self, texts: Texts) -> TokenLists:
        ascii_table, table = token_tables(self.name, self.normalisation)
        n_bytes = int(texts.offsets[-1] - texts.offsets[0])
        hashes: Uint64s = np.empty(n_bytes + 1, np.uint64)
        offsets: Int64s = np.empty(len(texts) + 1, np.int64)
        room = folding.GROWTH * n_bytes + folding.SLACK * (len(texts) + 1)
        folded: Bytes = np.empty(room, np.uint8)
        folded_offsets: Int64s = np.empty(len(texts) + 1, np.int64)
        folding.fold_texts(texts.data, texts.offsets, ascii_table, table, folded, folded_offsets)
        tokens.hash_tokens(folded, folded_offsets, hashes, offsets)
        hashes = hashes[: offsets[-1]]
        if self.normalisation.stem is not None:
            # Imports an optional library.
            from neardup.text.stems import stem_hashes

            hashes = stem_hashes(folded[: folded_offsets[-1]], hashes, self.normalisation.stem)
        return TokenLists(hashes, offsets)

    def _locate(self, texts: Texts, n_tokens: int) -> TokenSpans:
        ascii_table, table = token_tables(self.name, self.normalisation)
        starts, stops = np.empty((2, n_tokens + 1), np.int64)
        tokens.locate_tokens(texts.data, texts.offsets, ascii_table, table, starts, stops)
        return TokenSpans(starts[:n_tokens], stops[:n_tokens])


@dataclass(frozen=True)
class CharacterTokenizer(TableTokenizer):
    """Cut texts into folded characters and separators, each a token."""

    @property
    def splits_characters(self) -> bool:
        """Return whether a character may become several tokens."""
        return super().splits_characters or self.normalisation.folds

    def _hash(self, texts: Texts) -> TokenLists:
        _, table = token_tables(self.name, self.normalisation)
        n_bytes = int(texts.offsets[-1] - texts.offsets[0])
        hashes: Uint64s = np.empty(int(folding.MOST_TOKENS * n_bytes), np.uint64)
        offsets: Int64s = np.empty(len(texts) + 1, np.int64)
        tokens.hash_characters(texts.data, texts.offsets, table, hashes, offsets)
        return TokenLists(hashes[: offsets[-1]], offsets)

    def _locate(self, texts: Texts, n_tokens: int) -> TokenSpans:
        _, table = token_tables(self.name, self.normalisation)
        starts, stops = np.empty((2, n_tokens + 1), np.int64)
        tokens.locate_characters(texts.data, texts.offsets, table, starts, stops)
        return TokenSpans(starts[:n_tokens], stops[:n_tokens])


_BYTE_HASHES: Uint64s = np.array([hash_bytes(bytes([b])) for b in range(256)], np.uint64)


@dataclass(frozen=True)
class ByteTokenizer(Tokenizer):
    """Every byte is a token."""

    name: Literal["bytes"] = "bytes"

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the bytes of each text."""
        start, stop = int(texts.offsets[0]), int(texts.offsets[-1])
        return TokenLists(_BYTE_HASHES[texts.data[start:stop]], texts.offsets - start)

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the bytes of each text, and find their places."""
        lists = self.hash_tokens(texts)
        starts: Int64s = np.arange(lists.offsets[-1], dtype=np.int64)
        starts -= np.repeat(lists.offsets[:-1], np.diff(lists.offsets))
        return lists, TokenSpans(starts, starts + 1)

    def hash_with_heads(self, texts: Texts) -> TokenLists:
        """Hash bytes and mark each byte that begins a character."""
        data = texts.data[int(texts.offsets[0]) : int(texts.offsets[-1])]
        # All bytes but 10xxxxxx.
        return replace(self.hash_tokens(texts), heads=(data & 0xC0) != 0x80)


@dataclass(frozen=True)
class CodeTokenizer(StringTokenizer):
    """Cut programs into tokens without names, values and comments.

    ``language`` is Pygments' name of a language, or None for the language of each text's file.
    """

    language: str | None = None
    normalisation = Normalisation(casefold=False)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Return ``code``, with the language if one is set."""
        return "code" if self.language is None else f"code:{self.language}"

    @property
    def is_by_file(self) -> bool:  # type: ignore[override]
        """Return whether each text's file decides the language."""
        return self.language is None

    @property
    def splits_characters(self) -> bool:
        """Return False, because lexers do not cut within characters."""
        return False

    def _cut(self, strings: list[str], texts: Texts) -> tuple[TokenLists, Places]:
        # Lexers take long to import, and few have programs.
        from neardup.text.code import cut_programs

        found = cut_programs(strings, self._languages(texts))
        lists = hash_lists([[token for token, _, _ in tokens] for tokens in found])
        return lists, ([(start, stop) for _, start, stop in tokens] for tokens in found)

    def _languages(self, texts: Texts) -> list[str]:
        if self.language is not None:
            return [self.language] * len(texts)
        if texts.languages is None:
            return [LANGUAGES[IN_MEMORY]] * len(texts)
        if not texts.languages.all():
            message = (
                "its name has no ending of a language of programs, which tokenizer code needs; "
                "name one, such as tokenizer code:java (--tokenizer code:java), or leave it out"
            )
            raise InvalidInputError(message)
        return [LANGUAGES[number] for number in texts.languages.tolist()]

    def describe(self) -> dict[str, object]:
        """Return the name and the version of lexers."""
        from neardup.text.code import LEXERS

        return {**super().describe(), "lexers": LEXERS}


def _code_tokenizer(name: str, _normalisation: Normalisation) -> CodeTokenizer:
    from neardup.text.code import language_of

    _, separator, language = name.partition(":")
    if not separator:
        return CodeTokenizer()
    found = language_of(language)
    if found is None:
        message = (
            "tokenizer must end with a language's name of Pygments, as code:python or code:java "
            f"do, got {name!r}; pygmentize -L lexers lists them"
        )
        raise InvalidParameterError(message, "tokenizer")
    return CodeTokenizer(found)


@dataclass(frozen=True)
class NamedTokenizer:
    """Recipe that makes a named tokenizer for a normalisation.

    ``casefold`` is the default of folding case; ``normalises`` whether normalisation applies.
    """

    make: Callable[[str, Normalisation], Tokenizer]
    casefold: bool = False
    normalises: bool = True


NAMED = {
    "words": NamedTokenizer(TableTokenizer, casefold=True),
    "whitespace": NamedTokenizer(TableTokenizer),
    "characters": NamedTokenizer(CharacterTokenizer),
    "bytes": NamedTokenizer(lambda name, _: ByteTokenizer(), normalises=False),
    "code": NamedTokenizer(_code_tokenizer, normalises=False),
}
"""All named tokenizers, in the order of messages."""

KNOWN_NAMES = ", ".join(NAMED)
"""The names in words, for errors."""


def named_tokenizer(tokenizer: object) -> NamedTokenizer | None:
    """Return the recipe of a tokenizer's name, or None."""
    if cuts_programs(tokenizer):
        return NAMED["code"]
    return NAMED.get(tokenizer) if isinstance(tokenizer, str) else None


@dataclass(frozen=True)
class FunctionTokenizer(StringTokenizer):
    """Call a Python function for each text."""

    function: TokenFunction
    normalisation: Normalisation

    @property
    def name(self) -> str:  # type: ignore[override]
        """Return module and name, equal even for a changed function."""
        function = self.function
        return (
            f"{getattr(function, '__module__', '?')}."
            f"{getattr(function, '__qualname__', type(function).__name__)}"
        )

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash tokens, strings as UTF-8 and integers as 8 bytes."""
        strings = folded_strings(texts, self.normalisation)
        return hash_lists([[token for token, _ in self._read(text)] for text in strings])

    def _cut(self, strings: list[str], texts: Texts) -> tuple[TokenLists, Places]:
        located = [list(self._locate(text)) for text in strings]
        lists = hash_lists([[token for token, _ in tokens] for tokens in located])
        return lists, ([place for _, place in tokens] for tokens in located)

    def _read(self, text: str) -> Iterator[tuple[Any, Place | None]]:
        """Yield the tokens of a text, with positions if given."""
        result = self.function(text)
        if not isinstance(result, Iterable):
            message = f"a tokenizer must return a list of tokens, got {type(result).__name__}"
            raise InvalidParameterError(message)
        for token in result:
            if not isinstance(token, tuple):
                yield token, None
                continue
            try:
                start, stop = map(index, token[-2:])
                is_place = len(token) <= 3 and 0 <= start <= stop <= len(text)
            except (TypeError, ValueError):
                is_place = False
            if not is_place:
                message = (
                    f"the tokenizer {self.name} returned {token!r} for a text of "
                    f"{len(text):,} characters; a tuple must be (start, stop) or "
                    "(token, start, stop), with a place in the text"
                )
                raise InvalidParameterError(message)
            yield token[0] if len(token) == 3 else text[start:stop], (start, stop)

    def _locate(self, text: str) -> Iterator[tuple[Any, Place]]:
        """Yield tokens with positions, raising if these are wrong or unordered."""
        last: Place = (0, 0)
        for token, given in self._read(text):
            place = given
            if place is None and isinstance(token, str):
                start = text.find(token, last[1])
                place = (start, start + len(token)) if start >= 0 else None
            if place is None:
                message = (
                    f"passages need the position of each token, and {token!r}, which the "
                    f"tokenizer {self.name} returned, is not in the text after the token before "
                    "it; return (token, start, stop) instead, with the position in characters"
                )
                raise InvalidParameterError(message)
            if place[0] < last[0] or place[1] < last[1]:
                message = (
                    f"the tokenizer {self.name} returned a token at {place} behind one at {last}; "
                    "tokens must come in the order of the text"
                )
                raise InvalidParameterError(message)
            yield token, place
            last = place


@dataclass(frozen=True)
class ShingledTokenizer(Tokenizer):
    """Cut texts into runs of ``ngram`` tokens as single tokens.

    A run spans from its first token to its last. A text of fewer tokens is one run.
    """

    tokenizer: Tokenizer
    ngram: int

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the tokenizer, and number of its tokens."""
        return f"{self.tokenizer.name} by {self.ngram}"

    @property
    def is_by_file(self) -> bool:  # type: ignore[override]
        """Return whether the file's language decides the tokens."""
        return self.tokenizer.is_by_file

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the runs of each text."""
        return shingle_tokens(self.tokenizer.hash_tokens(texts), self.ngram)

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the runs of each text, and find their places."""
        tokens, spans = self.tokenizer.locate_tokens(texts)
        runs = shingle_tokens(tokens, self.ngram)
        sizes = np.diff(runs.offsets)
        firsts = np.arange(len(runs.values)) + np.repeat(
            tokens.offsets[:-1] - runs.offsets[:-1], sizes
        )
        lasts = np.minimum(firsts + self.ngram, np.repeat(tokens.offsets[1:], sizes)) - 1
        return runs, TokenSpans(spans.starts[firsts], spans.stops[lasts])


def shingle_tokens(tokens: TokenLists, ngram: int) -> TokenLists:
    """Put shingles in the place of tokens."""
    values: Uint64s = np.empty(len(tokens.values), np.uint64)
    offsets: Int64s = np.empty(len(tokens.offsets), np.int64)
    shingle_kernels.hash_shingles(tokens.values, tokens.offsets, ngram, values, offsets)
    return TokenLists(values[: offsets[-1]], offsets)


# Between the name of a file and the digest of its content.
_BEFORE_DIGEST = ":"


@dataclass(frozen=True)
class FileTokenizer(StringTokenizer):
    """A Hugging Face ``tokenizer.json``, by the package ``tokenizers``."""

    name: str
    normalisation: Normalisation
    tokenizer: HuggingFaceTokenizer

    def _cut(self, strings: list[str], texts: Texts) -> tuple[TokenLists, Places]:
        encodings = self.tokenizer.encode_batch(strings, add_special_tokens=False)
        lists = hash_lists([encoding.ids for encoding in encodings])
        return lists, (encoding.offsets for encoding in encodings)


def load_file_tokenizer(path: Path, normalisation: Normalisation) -> FileTokenizer:
    """Load a ``tokenizer.json`` and name it by its digest.

    ReadError or InvalidInputError if the file cannot be read, or is something else.
    MissingExtraError without the package ``tokenizers``.
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
    """Return the file in a tokenizer's name, or None."""
    file, separator, _ = name.partition(_BEFORE_DIGEST)
    return file if separator and named_tokenizer(name) is None else None


def make_tokenizer(tokenizer: TokenizerChoice, normalisation: Normalisation) -> Tokenizer:
    """Make a tokenizer from a name, path or function.

    Names are ``words``: runs of letters, marks, numbers and underscores; characters of scripts
    written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) are one token each.
    ``whitespace``: runs of anything but white space. ``characters``: every code point. ``bytes``:
    every UTF-8 byte. ``code``: tokens of a program, ignoring names, values and comments, in the
    language of each file, or in one for all with ``code:LANGUAGE``. A path is of a
    ``tokenizer.json`` file; for functions see ``TokenFunction``. ``bytes`` and ``code`` take no
    normalisation.

    InvalidParameterError for an unknown name, ReadError if the file cannot be read,
    MissingExtraError without the package ``tokenizers`` for it.
    """
    TokenOptions.known["tokenizer"].checked(tokenizer)
    if callable(tokenizer):
        return FunctionTokenizer(tokenizer, normalisation)
    named = named_tokenizer(tokenizer)
    if named is not None:
        return named.make(str(tokenizer), normalisation)
    return load_file_tokenizer(Path(tokenizer), normalisation)
