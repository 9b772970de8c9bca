"""A single document, given as a text or as its tokens, as an index looks it up."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from decimal import Decimal

import numpy as np

from neardup.documents.queries import (
    Queries,
    make_queries,
    queries_of_sets,
    queries_of_weighted_sets,
)
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import Id, as_one_text, ids_of_values
from neardup.errors import InvalidParameterError
from neardup.tables import Floats, Int64s, ShingleLists, TokenLists, Uint64s
from neardup.text.shingles import digest_token_lists
from neardup.text.tokenizers import hash_lists
from neardup.text.weighting import weighted_set_of_numbers

Tokens = Iterable[str | int] | Mapping[str | int, float]
"""Tokens in order, a set of shingles, or tokens with how often they occur, or what they weigh."""

# Makes digests of sets others than those of token lists, which shingles are made of.
_OF_SET = np.uint64(0x5345545345545345)

# The least number of a mapping that is sure to weigh something, and the most that all of one may
# be: with any weighting, sums of weights stay below 63 bits, and no weight but a square is cut off.
_LEAST_NUMBER = 2.0**-20
_MOST_OF_ALL = 2**24
# Counted copies are elements of their own, which take time and memory that a short mapping hides.
_MOST_COPIES = 2**20


def make_query(
    text: str | None, tokens: Tokens | None, scheme: DocumentScheme, identifier: Id = ""
) -> Queries:
    """Work out what an index needs to know of one document, which may have an id."""
    if (text is None) == (tokens is None):
        message = "give either text or tokens"
        raise InvalidParameterError(message, "text", "tokens")
    if text is not None:
        if not isinstance(text, str):
            message = f"text must be a string, got {type(text).__name__}; give tokens= for tokens"
            raise InvalidParameterError(message, "text", "tokens")
        texts, tokenizer = as_one_text(text), scheme.shingles.tokenizer
        if tokenizer.is_by_file:
            texts = tokenizer.texts_in_index(texts.to_arrow(), ids_of_values([identifier]))
        return make_queries(tokenizer.hash_tokens(texts), scheme)
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        message = (
            "tokens must be a list or a set of tokens, or a mapping of tokens to numbers, got "
            f"{type(tokens).__name__}"
        )
        raise InvalidParameterError(message, "tokens")
    if isinstance(tokens, Mapping):
        return _query_of_mapping(tokens, scheme)
    if isinstance(tokens, AbstractSet):
        return _query_of_set(tokens, scheme)
    return make_queries(hash_lists([list(tokens)]), scheme)


def _query_of_set(elements: AbstractSet[str | int], scheme: DocumentScheme) -> Queries:
    """Take each element for a shingle."""
    if scheme.weighted is not None:
        message = (
            "tokens must be a list or a mapping, not a set, where shingles are weighted by their "
            "number"
        )
        raise InvalidParameterError(message, "tokens")
    values: Uint64s = np.sort(hash_lists([list(elements)]).values)
    offsets = _offsets(len(values))
    digests = digest_token_lists(TokenLists(values, offsets)) ^ _OF_SET
    return queries_of_sets(np.diff(offsets), digests, ShingleLists(values, offsets), scheme)


def _query_of_mapping(tokens: Mapping[str | int, float], scheme: DocumentScheme) -> Queries:
    """Take each token as often as its number says: a list of as many copies finds the same.

    Where the number of copies is a weight by itself, it need not be whole.
    """
    weighted, shingles = scheme.weighted, scheme.shingles
    if weighted is None and shingles.occurrences == "set":
        message = (
            "tokens must be a list or a set: this index counts a token once, and the numbers of a "
            "mapping would be lost; an index made with measure weighted-jaccard weighs tokens, one "
            "made with occurrences numbered counts them"
        )
        raise InvalidParameterError(message, "tokens")
    if shingles.ngram > 1:
        message = (
            f"tokens must be a list: in this index {shingles.ngram} tokens in a row make a "
            "shingle, and a mapping has no order; an index made with ngram 1 takes one"
        )
        raise InvalidParameterError(message, "tokens")
    takes_weights = weighted is not None and weighted.weighting.tf == "raw"
    most = _MOST_COPIES if weighted is None else _MOST_OF_ALL
    given = [_checked_number(*item, most, whole=not takes_weights) for item in tokens.items()]
    if sum(given) > most:
        message = (
            f"the numbers of tokens must be {most:,} in all at most, got {sum(given):,.15g}; "
            "give smaller ones"
        )
        raise InvalidParameterError(message, "tokens")
    hashes = hash_lists([list(tokens)]).values
    # A mapping is the same one whatever order its tokens come in.
    order = np.argsort(hashes)
    values: Uint64s = hashes[order]
    copies: Floats = np.array(given, np.float64)[order]
    pairs: Uint64s = np.stack([values, copies.view(np.uint64)], axis=1).reshape(-1)
    digests = digest_token_lists(TokenLists(pairs, _offsets(len(pairs))))
    if weighted is None:
        lists = np.repeat(values, copies.astype(np.int64))
        queries = make_queries(TokenLists(lists, _offsets(len(lists))), scheme)
        return replace(queries, digests=digests)
    sets = weighted_set_of_numbers(
        TokenLists(values, _offsets(len(values))), copies, shingles, weighted
    )
    n_tokens: Int64s = np.array([math.ceil(copies.sum())], np.int64)
    return queries_of_weighted_sets(n_tokens, digests, sets, scheme)


def _checked_number(token: object, given: object, most: int, *, whole: bool) -> float:
    """Return the number of a token's copies, or its weight."""
    kinds = (numbers.Real, Decimal)
    try:
        # A bool counts nothing, though Python adds it up.
        number = (
            math.nan if isinstance(given, bool) or not isinstance(given, kinds) else float(given)
        )
    except (OverflowError, ValueError):
        number = math.nan
    if not _LEAST_NUMBER <= number <= most or (whole and number != int(number)):
        kind = "a whole number from 1" if whole else "a number from 2^-20"
        why = "; an index of measure weighted-jaccard with tf raw takes weights" if whole else ""
        message = (
            f"the number of token {_shown(token)} must be {kind} to {most:,}, got "
            f"{_shown(given)}{why}"
        )
        raise InvalidParameterError(message, "tokens")
    return number


def _shown(value: object) -> str:
    """Show a value in a line; long ones are cut off."""
    try:
        shown = repr(value)
    except ValueError:
        # Python refuses to write out integers of thousands of digits.
        return "a number of thousands of digits"
    return shown if len(shown) <= 60 else f"{shown[:60]}..."


def _offsets(n: int) -> Int64s:
    return np.array([0, n], np.int64)
