"""Find the places of tokens in a text: the same tokens as ``folding`` and ``tokens`` make.

Places are byte positions, counted from the start of each text, ``stops`` exclusive. Characters
that fold to nothing belong to the token that they stand in or directly behind.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.folding import (
    CLASS_SHIFT,
    IGNORED,
    LENGTH_SHIFT,
    SEPARATOR,
    SEVERAL,
    SINGLE,
    WORD,
    decode,
    first_length,
)
from neardup.kernels.tokens import LENGTH_AND_BYTES
from neardup.kernels.types import ConstBytes, ConstInt64s, ConstUint64s, Int64s


@kernel
def locate_tokens(
    data: ConstBytes,
    offsets: ConstInt64s,
    ascii_table: ConstBytes,
    table: ConstUint64s,
    starts: Int64s,
    stops: Int64s,
) -> np.int64:
    """Give the place of every token that ``fold_texts`` writes for ``hash_tokens``.

    Parameters as of ``fold_texts``; ``starts`` and ``stops`` take one value more than there are
    tokens. Returns the number of tokens.
    """
    n_begun = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        i, origin, end = offsets[doc], offsets[doc], offsets[doc + 1]
        first = n_begun
        inside = np.int64(0)  # 1 in a token
        while i < end:
            while i + 16 <= end:
                high = data[np.uint64(i)]
                for k in range(1, 16):
                    high |= data[np.uint64(i + k)]
                if high >= 128:
                    break
                # Words are short, and a branch at each edge would be guessed wrong half the time:
                # write every position, and count only where a token starts or stops.
                for k in range(16):
                    belongs = np.int64(ascii_table[data[np.uint64(i + k)]] != 0)
                    starts[np.uint64(n_begun)] = i + k - origin
                    stops[np.uint64(n_begun - inside)] = i + k - origin
                    n_begun += belongs & (inside ^ 1)
                    inside = belongs
                i += 16
            if i == end:
                break
            at = i - origin
            if data[i] < 128:
                kind = np.int64(WORD if ascii_table[data[i]] != 0 else SEPARATOR)
                i += 1
            else:
                code_point, length = decode(data, i)
                kind = np.int64(table[code_point] >> CLASS_SHIFT)
                i += length
            if kind == WORD:
                if inside == 0:
                    starts[n_begun] = at
                    n_begun += 1
                    inside = np.int64(1)
                continue
            if kind == IGNORED:
                if inside == 0 and n_begun > first and stops[n_begun - 1] == at:
                    stops[n_begun - 1] = i - origin
                continue
            if inside == 1:
                stops[n_begun - 1] = at
                inside = np.int64(0)
            if kind == SINGLE:
                starts[n_begun] = at
                stops[n_begun] = i - origin
                n_begun += 1
        if inside == 1:
            stops[n_begun - 1] = end - origin
    return n_begun


@kernel
def locate_characters(
    data: ConstBytes,
    offsets: ConstInt64s,
    table: ConstUint64s,
    starts: Int64s,
    stops: Int64s,
) -> np.int64:
    """Give the place of every character that ``hash_characters`` hashes.

    Those that one character has become have its place, all of them.
    ``table`` as there; ``starts`` and ``stops`` take a value for each token. Returns their number.
    """
    count = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        i, origin, end = offsets[doc], offsets[doc], offsets[doc + 1]
        first = count
        while i < end:
            at = i - origin
            code_point, length = np.int64(data[i]), np.int64(1)
            if code_point >= 128:
                character, n_bytes = decode(data, i)
                code_point, length = np.int64(character), np.int64(n_bytes)
            i += length
            entry = table[code_point]
            kind = np.int64(entry >> CLASS_SHIFT)
            if kind == SINGLE:
                starts[count] = at
                stops[count] = i - origin
                count += 1
            elif kind == SEVERAL:
                left = np.int64((entry & LENGTH_AND_BYTES) >> LENGTH_SHIFT)
                while left > 0:
                    starts[count] = at
                    stops[count] = i - origin
                    count += 1
                    n = first_length(entry)
                    entry >>= n << np.uint64(3)
                    left -= np.int64(n)
            else:
                # What is dropped belongs to the character before it, in all that became of it.
                k = count - 1
                before = starts[k] if count > first else np.int64(0)
                while k >= first and starts[k] == before:
                    stops[k] = i - origin
                    k -= 1
    return count


@kernel
def count_characters(
    data: ConstBytes,
    offsets: ConstInt64s,
    positions: ConstInt64s,
    position_offsets: ConstInt64s,
    counts: Int64s,
) -> None:
    """Count the characters of each text that start before given byte positions of it.

    Text d asks for ``positions[position_offsets[d] : position_offsets[d + 1]]``, which ascend,
    are counted from its start and lie where characters start or at its end; ``counts`` is aligned
    with ``positions``.
    """
    for doc in range(offsets.shape[0] - 1):
        origin = offsets[doc]
        i = origin
        count = np.int64(0)
        for p in range(position_offsets[doc], position_offsets[doc + 1]):
            stop = origin + positions[p]
            for k in range(i, stop):
                # All bytes but 10xxxxxx start a character.
                count += np.int64((data[np.uint64(k)] & 0xC0) != 0x80)
            i = max(i, stop)
            counts[p] = count
