"""Tokenizers of ``tokenizer.json`` files, by the package ``tokenizers``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError, MissingExtraError, ReadError
from neardup.tables import Int64s, Texts, TokenLists, TokenSpans
from neardup.text.forms import form_texts
from neardup.text.normalise import Normalisation
from neardup.text.tokenizers.strings import folded_strings, hash_lists
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
        formed = form_texts(texts, self.normalisation)
        strings = (texts if formed is None else formed.texts).to_arrow().to_pylist()
        folded = [self.normalisation.fold_text(string) for string in strings]
        encodings = self.tokenizer.encode_batch(folded, add_special_tokens=False)
        lists = hash_lists([encoding.ids for encoding in encodings])
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
    name = f"{path.name}{_BEFORE_DIGEST}{hashlib.sha256(content).hexdigest()[:16]}"
    return FileTokenizer(name, normalisation, tokenizer)


def file_in_name(name: str) -> str | None:
    """Return the file name in the name of a tokenizer; None for one that is not of a file."""
    file, separator, _ = name.partition(_BEFORE_DIGEST)
    return file if separator else None


def _folded_edges(text: str, normalisation: Normalisation) -> tuple[Int64s, Int64s]:
    """Find where in a text's bytes a span of characters of the folded text starts and stops.

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
