"""Hash tokens: one 64-bit value for each token of each text."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel, trailing_zeros
from neardup.kernels.folding import CLASS_SHIFT, SINGLE, decode
from neardup.kernels.hashing import GOLDEN, mix64
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

LENGTH_AND_BYTES = np.uint64(0x0FFFFFFFFFFFFFFF)
# Odd 64-bit multipliers, taken from L'Ecuyer's and Vigna's generators; any without pattern do.
DIGEST_LOW, DIGEST_HIGH = np.uint64(0xD1342543DE82EF95), np.uint64(0xAF251AF3B0F025B5)


@inlined
def _load(words: ConstUint64s, i: Int) -> np.uint64:
    """Eight bytes from any byte position, first byte lowest, out of an array of 64-bit words."""
    w = i >> 3
    shift = np.uint64(i & 7) << _3
    low, high = words[np.uint64(w)], words[np.uint64(w + 1)]
    return np.uint64((low >> shift) | ((high << _1) << (_63 - shift)))


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
def _hash_token(words: ConstUint64s, start: Int, length: Int) -> np.uint64:
    """Hash the bytes of a token."""
    h = GOLDEN
    while length >= 8:
        h = mix64(h ^ _load(words, start))
        start += 8
        length -= 8
    below = (_1 << (np.uint64(length) << _3)) - _1
    return mix64(h ^ (_load(words, start) & below) ^ (np.uint64(length) << _56))


@kernel
def hash_tokens(
    folded_words: ConstUint64s,
    folded_offsets: ConstInt64s,
    hashes: Uint64s,
    token_offsets: Int64s,
) -> None:
    """Hash the tokens that ``fold_texts`` has written.

    A token of L bytes is cut into 64-bit words of eight bytes each; the last word holds the
    remaining L % 8 bytes and, in its top byte, their number. The hash starts as GOLDEN and becomes
    mix64(hash ^ word) for each word in turn.

    ``folded_words`` are the folded texts seen as 64-bit words, each text from the beginning of a
    word on, with at least one word to spare; ``hashes`` takes a value for each token,
    ``token_offsets`` (n + 1) says whose they are.
    """
    count = np.int64(0)
    for doc in range(folded_offsets.shape[0] - 1):
        token_offsets[doc] = count
        first, stop = np.uint64(folded_offsets[doc]) >> _3, np.uint64(folded_offsets[doc + 1]) >> _3
        start, is_open = np.int64(0), _0
        # Where tokens begin and end is known for 64 bytes before the first of them is hashed, so
        # that the processor need not wait for the end of one token to begin with the next.
        while first < stop:
            filled = _filled_bytes(folded_words, first, min(_8, stop - first))
            before = (filled << _1) | is_open
            begins, ends = filled & ~before, ~filled & before
            base = np.int64(first << _3)
            if is_open == _0:
                start = base + np.int64(trailing_zeros(begins))
                begins &= begins - _1
            while ends != _0:
                length = base + np.int64(trailing_zeros(ends)) - start
                ends &= ends - _1
                hashes[np.uint64(count)] = _hash_token(folded_words, start, length)
                count += 1
                # After the last token of these bytes this means nothing, and is not used.
                start = base + np.int64(trailing_zeros(begins))
                begins &= begins - _1
            is_open = filled >> _63
            first += _8
    token_offsets[folded_offsets.shape[0] - 1] = count


@kernel
def hash_characters(
    data: ConstBytes,
    offsets: ConstInt64s,
    table: ConstUint64s,
    hashes: Uint64s,
    token_offsets: Int64s,
) -> None:
    """Hash every character that the table does not drop, each as a token of its folded bytes.

    ``table`` is that of ``kernels.folding``; all its entries are SINGLE or IGNORED here. ``hashes``
    takes a value for each byte of the texts, ``token_offsets`` (n + 1) says whose they are.
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
            if np.int64(entry >> CLASS_SHIFT) == SINGLE:
                # The entry holds bytes and their number just where a token's last word has them.
                hashes[count] = mix64(GOLDEN ^ (entry & LENGTH_AND_BYTES))
                count += 1
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
