"""Hash tokens: one 64-bit value for each token of each text."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel, trailing_zeros
from neardup.kernels.eights import load_eight
from neardup.kernels.folding import (
    CLASS_SHIFT,
    LENGTH_SHIFT,
    SEVERAL,
    SINGLE,
    decode,
    first_length,
)
from neardup.kernels.hashing import GOLDEN, mix64
from neardup.kernels.parities import count_ones
from neardup.kernels.types import (
    ConstBytes,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int64s,
    Uint64Rows,
    Uint64s,
)

# Multiplied by it, the lowest bits of eight bytes come together in the highest byte.
_GATHER = np.uint64(0x0102040810204080)
_LOW7, _HIGH = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
_0, _1, _3, _7, _8 = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(7), np.uint64(8)
_29, _32, _56, _63 = np.uint64(29), np.uint64(32), np.uint64(56), np.uint64(63)
_64 = np.uint64(64)

# Where tokens begin and end is listed for so many edges before these tokens are hashed.
_LISTED = 1024
# Edges in 64 bytes, but for very short words.
_USUAL_EDGES = 24

LENGTH_AND_BYTES = np.uint64(0x0FFFFFFFFFFFFFFF)
# Odd 64-bit multipliers, taken from L'Ecuyer's and Vigna's generators; any without pattern do.
DIGEST_LOW, DIGEST_HIGH = np.uint64(0xD1342543DE82EF95), np.uint64(0xAF251AF3B0F025B5)


@inlined
def _zero_bytes(w: np.uint64) -> np.uint64:
    """Set the top bit of every byte that is zero, exactly (no carries between bytes)."""
    return ~(((w & _LOW7) + _LOW7) | w) & _HIGH


@inlined
def _filled_bytes(words: ConstUint64s, first: np.uint64, n: np.uint64) -> np.uint64:
    """Return a bit for each byte of up to eight words, from the lowest: whether it is not zero."""
    filled = _0
    for k in range(n):
        flags = (_zero_bytes(words[first + k]) ^ _HIGH) >> _7
        filled |= ((flags * _GATHER) >> _56) << (np.uint64(k) << _3)
    return filled


@inlined
def _list_edges(filled_changes: np.uint64, base: np.uint64, edges: Uint64s, n: np.uint64) -> None:
    """Write where the bits are set from ``edges[n]`` on, and after them what is not used."""
    # As many as 64 bytes of prose have, whether or not they are there: a branch at each would be
    # guessed wrong once in a while, and the work is less than that costs.
    for k in range(_USUAL_EDGES):
        edges[n + np.uint64(k)] = base + np.uint64(trailing_zeros(filled_changes))
        filled_changes &= filled_changes - _1
    n += np.uint64(_USUAL_EDGES)
    while filled_changes != _0:
        for k in range(8):
            edges[n + np.uint64(k)] = base + np.uint64(trailing_zeros(filled_changes))
            filled_changes &= filled_changes - _1
        n += _8


@helper
def _hash_listed(
    folded: ConstBytes, edges: ConstUint64s, n: np.uint64, longs: Uint64s, hashes: Uint64s, at: Int
) -> None:
    """Hash n tokens, whose first byte and end are in ``edges``, to ``hashes[at]`` and on."""
    first = np.uint64(at)
    n_longs = _0
    for k in range(n):
        start = edges[k + k]
        length = edges[k + k + _1] - start
        # Written in any case, and kept or written over: no branch to be guessed wrong.
        longs[n_longs] = k
        n_longs += np.uint64(length >= _8)
        beyond = _64 - (min(length, _8) << _3)
        word = (load_eight(folded, start) << beyond) >> beyond
        hashes[first + k] = GOLDEN ^ word ^ (length << _56 if length < _8 else _0)
    # A loop of its own, which LLVM turns into vector code.
    for k in range(n):
        hashes[first + k] = mix64(hashes[first + k])
    for j in range(n_longs):
        k = longs[j]
        start = edges[k + k] + _8
        length = edges[k + k + _1] - start
        h = hashes[first + k]
        while length >= _8:
            h = mix64(h ^ load_eight(folded, start))
            start += _8
            length -= _8
        below = (_1 << (length << _3)) - _1
        hashes[first + k] = mix64(h ^ (load_eight(folded, start) & below) ^ (length << _56))


@kernel
def hash_tokens(
    folded: ConstBytes,
    folded_words: ConstUint64s,
    folded_offsets: ConstInt64s,
    hashes: Uint64s,
    token_offsets: Int64s,
) -> None:
    """Hash the tokens that ``fold_texts`` has written.

    A token of L bytes is cut into 64-bit words of eight bytes each; the last word holds the
    remaining L % 8 bytes and, in its top byte, their number. The hash starts as GOLDEN and becomes
    mix64(hash ^ word) for each word in turn.

    ``folded`` are the folded texts, each from a multiple of eight on, with at least eight bytes to
    spare; ``folded_words`` are the same as 64-bit words. ``hashes`` takes a value for each token,
    ``token_offsets`` (n + 1) says whose they are.
    """
    # Tokens of many texts are listed before the first of them is hashed.
    edges = np.empty(_LISTED + 64, np.uint64)
    longs = np.empty(_LISTED // 2 + 32, np.uint64)
    count = np.int64(0)
    n_edges = _0
    for doc in range(folded_offsets.shape[0] - 1):
        token_offsets[doc] = count + np.int64(n_edges >> _1)
        first, stop = np.uint64(folded_offsets[doc]) >> _3, np.uint64(folded_offsets[doc + 1]) >> _3
        is_open = _0
        while first < stop:
            filled = _filled_bytes(folded_words, first, min(_8, stop - first))
            changes = filled ^ ((filled << _1) | is_open)
            is_open = filled >> _63
            _list_edges(changes, first << _3, edges, n_edges)
            n_edges += np.uint64(count_ones(changes))
            first += _8
            if n_edges >= np.uint64(_LISTED):
                _hash_listed(folded, edges, n_edges >> _1, longs, hashes, count)
                count += np.int64(n_edges >> _1)
                # A token that is not at its end yet.
                edges[0] = edges[n_edges - _1]
                n_edges &= _1
    _hash_listed(folded, edges, n_edges >> _1, longs, hashes, count)
    token_offsets[folded_offsets.shape[0] - 1] = count + np.int64(n_edges >> _1)


@kernel
def hash_characters(
    data: ConstBytes,
    offsets: ConstInt64s,
    table: ConstUint64s,
    hashes: Uint64s,
    token_offsets: Int64s,
) -> None:
    """Hash every character that the table does not drop, each as a token of its folded bytes.

    ``table`` is that of ``kernels.folding``; all its entries are SINGLE, SEVERAL or IGNORED here.
    ``hashes`` takes MOST_TOKENS values for each byte of the texts, ``token_offsets`` (n + 1) says
    whose they are.
    """
    count = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        token_offsets[doc] = count
        i, end = offsets[doc], offsets[doc + 1]
        while i < end:
            if data[i] < 128:
                code_point = np.int64(data[i])
                i += 1
            else:
                character, length = decode(data, i)
                code_point = np.int64(character)
                i += length
            entry = table[code_point]
            kind = np.int64(entry >> CLASS_SHIFT)
            if kind == SINGLE:
                # The entry holds bytes and their number just where a token's last word has them.
                hashes[count] = mix64(GOLDEN ^ (entry & LENGTH_AND_BYTES))
                count += 1
            elif kind == SEVERAL:
                left = (entry & LENGTH_AND_BYTES) >> LENGTH_SHIFT
                while left > _0:
                    n = first_length(entry)
                    below = (_1 << (n << _3)) - _1
                    hashes[count] = mix64(GOLDEN ^ (entry & below) ^ (n << LENGTH_SHIFT))
                    count += 1
                    entry >>= n << _3
                    left -= n
    token_offsets[offsets.shape[0] - 1] = count


@kernel
def digest_tokens(
    hashes: ConstUint64s,
    token_offsets: ConstInt64s,
    digests: Uint64Rows,
) -> None:
    """Digest each text's token sequence to 128 bits, for finding exact copies.

    Two halves with different multipliers; each step is one to one in the token's hash and not
    linear, so that no arrangement of repeated tokens cancels out.
    """
    for doc in range(token_offsets.shape[0] - 1):
        start, stop = token_offsets[doc], token_offsets[doc + 1]
        low, high = GOLDEN, ~GOLDEN
        for i in range(start, stop):
            h = hashes[np.uint64(i)]
            low = (low ^ h) * DIGEST_LOW
            low ^= low >> _32
            high = (high ^ h) * DIGEST_HIGH
            high ^= high >> _29
        n_tokens = np.uint64(stop - start)
        digests[doc, 0] = mix64(low ^ n_tokens)
        digests[doc, 1] = mix64(high ^ n_tokens)
