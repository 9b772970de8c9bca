"""A single document, given as a text or as its tokens, as an index looks it up."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

import numpy as np

from neardup.documents.queries import Queries, make_queries, queries_of_sets
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import as_texts
from neardup.errors import InvalidParameterError
from neardup.tables import Int64s, ShingleLists, Texts, TokenLists, Uint64s
from neardup.text.shingles import digest_token_lists
from neardup.text.tokenizers.strings import hash_lists

# Makes digests of sets others than those of token lists, which shingles are made of.
_OF_SET = np.uint64(0x5345545345545345)


def make_query(
    text: str | None, tokens: Iterable[str | int] | None, scheme: DocumentScheme
) -> Queries:
    """Work out what an index needs to know of one document.

    Raises
    ------
    InvalidParameterError
        If neither or both are given, or of a wrong type; for a set where sets are weighted.
    InvalidInputError
        If the text cannot be written as UTF-8.
    """
    if (text is None) == (tokens is None):
        message = "give either text or tokens"
        raise InvalidParameterError(message, "text", "tokens")
    if text is not None:
        if not isinstance(text, str):
            message = f"text must be a string, got {type(text).__name__}; give tokens= for tokens"
            raise InvalidParameterError(message, "text", "tokens")
        lists = scheme.shingles.tokenizer.hash_tokens(Texts.from_arrow(as_texts([text])))
        return make_queries(lists, scheme)
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        message = f"tokens must be a list or a set of tokens, got {type(tokens).__name__}"
        raise InvalidParameterError(message, "tokens")
    if isinstance(tokens, AbstractSet):
        return _query_of_set(tokens, scheme)
    return make_queries(hash_lists([list(tokens)]), scheme)


def _query_of_set(elements: AbstractSet[str | int], scheme: DocumentScheme) -> Queries:
    """Take each element for a shingle."""
    if scheme.weighted is not None:
        message = "tokens must be a list, not a set, where shingles are weighted by their number"
        raise InvalidParameterError(message, "tokens")
    values: Uint64s = np.sort(hash_lists([list(elements)]).values)
    offsets: Int64s = np.array([0, len(values)], np.int64)
    digests = digest_token_lists(TokenLists(values, offsets)) ^ _OF_SET
    return queries_of_sets(np.diff(offsets), digests, ShingleLists(values, offsets), scheme)
