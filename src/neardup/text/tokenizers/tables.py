"""Tokenizers that cut at characters, by a rule for each code point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.kernels.text import folding, tokens
from neardup.kernels.text import tokens as spans
from neardup.tables import Int64s, Texts, TokenLists, TokenSpans, Uint64s
from neardup.text.characters import token_tables
from neardup.text.forms import form_texts
from neardup.text.normalise import Normalisation
from neardup.text.tokenizers.tokenizer import Tokenizer


@dataclass(frozen=True)
class TableTokenizer(Tokenizer):
    """Cuts at characters, by tables from ``unicodedata``, in compiled code.

    Parameters
    ----------
    name
        That of a rule in ``text.characters``.
    normalisation
        Folded away before tokens are hashed.
    """

    name: str
    normalisation: Normalisation

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text."""
        if self.normalisation.unicode_form is not None:
            texts = Texts.from_arrow(self.normalisation.apply_form(texts.to_arrow()))
        return self._hash(texts)

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the tokens of each text, and find where each stands."""
        formed = form_texts(texts, self.normalisation)
        if formed is None:
            lists = self._hash(texts)
            return lists, self._locate(texts, len(lists.values))
        lists = self._hash(formed.texts)
        found = self._locate(formed.texts, len(lists.values))
        return lists, formed.locate(found, lists.offsets)

    def _hash(self, texts: Texts) -> TokenLists:
        """Hash the tokens of texts that are in the Unicode form asked for."""
        ascii_table, table = token_tables(self.name, self.normalisation)
        n_bytes = int(texts.offsets[-1] - texts.offsets[0])
        hashes: Uint64s = np.empty(n_bytes, np.uint64)
        offsets: Int64s = np.empty(len(texts) + 1, np.int64)
        room = folding.GROWTH * n_bytes + folding.SLACK * (len(texts) + 1)
        words: Uint64s = np.empty(room // 8 + 1, np.uint64)
        folded_offsets: Int64s = np.empty(len(texts) + 1, np.int64)
        folded = words.view(np.uint8)
        folding.fold_texts(texts.data, texts.offsets, ascii_table, table, folded, folded_offsets)
        tokens.hash_tokens(folded, words, folded_offsets, hashes, offsets)
        return TokenLists(hashes[: offsets[-1]], offsets)

    def _locate(self, texts: Texts, n_tokens: int) -> TokenSpans:
        """Find the tokens that ``_hash`` has found in the same texts."""
        ascii_table, table = token_tables(self.name, self.normalisation)
        starts: Int64s = np.empty(n_tokens + 1, np.int64)
        stops: Int64s = np.empty(n_tokens + 1, np.int64)
        spans.locate_tokens(texts.data, texts.offsets, ascii_table, table, starts, stops)
        return TokenSpans(starts[:n_tokens], stops[:n_tokens])


@dataclass(frozen=True)
class CharacterTokenizer(TableTokenizer):
    """Every character is a token, also one that would end a word: kernels of their own.

    What folds to several characters is as many tokens, all in its place.
    """

    def _hash(self, texts: Texts) -> TokenLists:
        _, table = token_tables(self.name, self.normalisation)
        n_bytes = int(texts.offsets[-1] - texts.offsets[0])
        hashes: Uint64s = np.empty(int(folding.MOST_TOKENS * n_bytes), np.uint64)
        offsets: Int64s = np.empty(len(texts) + 1, np.int64)
        tokens.hash_characters(texts.data, texts.offsets, table, hashes, offsets)
        return TokenLists(hashes[: offsets[-1]], offsets)

    def _locate(self, texts: Texts, n_tokens: int) -> TokenSpans:
        _, table = token_tables(self.name, self.normalisation)
        starts: Int64s = np.empty(n_tokens + 1, np.int64)
        stops: Int64s = np.empty(n_tokens + 1, np.int64)
        spans.locate_characters(texts.data, texts.offsets, table, starts, stops)
        return TokenSpans(starts[:n_tokens], stops[:n_tokens])
