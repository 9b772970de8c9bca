"""Hash tokens of folded texts, and locate tokens and units.

Places are byte positions, counted from the start of each text, ``stops`` exclusive. Marks and
ignored characters belong to the token that contains or directly precedes them.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel, trailing_zeros
from neardup.kernels.arrays import (
    ConstBytes,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int64s,
    Uint64Rows,
    Uint64s,
)
from neardup.kernels.common.hashing import GOLDEN, mix64
from neardup.kernels.text.folding import (
    CLASS_SHIFT,
    IGNORED,
    LENGTH_SHIFT,
    MARK,
    SEVERAL,
    SINGLE,
    WORD,
    ascii_end,
    character_at,
    decode,
    first_length,
    load_eight,
)

_LOW7, _HIGH = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
_0, _1, _3, _7, _8 = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(7), np.uint64(8)
_29, _32, _53, _56, _63, _64 = (np.uint64(k) for k in (29, 32, 53, 56, 63, 64))
# Multiplied by it, the lowest bits of eight bytes come together in the highest byte.
_GATHER = np.uint64(0x0102040810204080)

# Tokens of eight bytes or more that are hashed together.
_LONGS = 256

LENGTH_AND_BYTES = np.uint64(0x0FFFFFFFFFFFFFFF)
# Odd 64-bit multipliers, taken from L'Ecuyer's and Vigna's generators; any without pattern do.
DIGEST_LOW, DIGEST_HIGH = np.uint64(0xD1342543DE82EF95), np.uint64(0xAF251AF3B0F025B5)


@inlined
def _zero_bytes(w: np.uint64) -> np.uint64:
    """Set the top bit of every zero byte, exactly."""
    return ~(((w & _LOW7) + _LOW7) | w) & _HIGH


@inlined
def _zeros_of_64(data: ConstBytes, i: np.uint64) -> np.uint64:
    """Return a bit per zero byte of 64, the first lowest."""
    bits = _0
    for k in range(_8):
        flags = _zero_bytes(load_eight(data, i + (k << _3))) >> _7
        bits |= ((flags * _GATHER) >> _56) << (k << _3)
    return bits


@helper
def _finish_hashes(
    folded: ConstBytes,
    longs: Uint64Rows,
    n_longs: np.uint64,
    hashes: Uint64s,
    first: np.uint64,
    stop: np.uint64,
) -> None:
    """Mix hashes, and go on with tokens of eight bytes or more."""
    # A loop of its own, of which LLVM makes vector code.
    for k in range(first, stop):
        hashes[k] = mix64(hashes[k])
    for j in range(n_longs):
        k, start, end = longs[j, 0], longs[j, 1] + _8, longs[j, 2]
        h = hashes[k]
        while end - start >= _8:
            h = mix64(h ^ load_eight(folded, start))
            start += _8
        n_bits = (end - start) << _3
        last = load_eight(folded, start) & ((_1 << n_bits) - _1)
        hashes[k] = mix64(h ^ last ^ (n_bits << _53))


@kernel
def hash_tokens(
    folded: ConstBytes, folded_offsets: ConstInt64s, hashes: Uint64s, token_offsets: Int64s
) -> None:
    """Hash the tokens that ``fold_texts`` has written.

    A token of L bytes is cut into 64-bit words of eight bytes each; the last word holds the
    remaining L % 8 bytes and, in its top byte, their number. The hash starts as GOLDEN and becomes
    mix64(hash ^ word) for each word in turn.

    ``folded`` are the folded texts with at least 72 bytes to spare. ``hashes`` takes one value
    more than there are tokens, and ``token_offsets`` (n + 1) delimits texts.
    """
    longs = np.empty((_LONGS + 8, 3), np.uint64)
    count, n_longs = _0, _0
    for doc in range(folded_offsets.shape[0] - 1):
        token_offsets[doc] = np.int64(count)
        first = count
        i, stop = np.uint64(folded_offsets[doc]), np.uint64(folded_offsets[doc + 1])
        start = i
        while i < stop:
            ends = _zeros_of_64(folded, i)
            if stop - i < _64:
                ends &= (_1 << (stop - i)) - _1
            while ends != _0:
                end = i + np.uint64(trailing_zeros(ends))
                ends &= ends - _1
                # Written in any case and kept or written over, as the hash of nothing between two
                # separators is: processors cannot predict a branch at each token.
                length = end - start
                longs[n_longs, 0], longs[n_longs, 1], longs[n_longs, 2] = count, start, end
                n_longs += np.uint64(length >= _8)
                beyond = (_64 - (min(length, _8) << _3)) & _63
                word = (load_eight(folded, start) << beyond) >> beyond
                hashes[count] = GOLDEN ^ word ^ (length << _56 if length < _8 else _0)
                count += np.uint64(length > _0)
                start = end + _1
            i += _64
            if i >= stop or n_longs >= np.uint64(_LONGS):
                _finish_hashes(folded, longs, n_longs, hashes, first, count)
                first, n_longs = count, _0
    token_offsets[folded_offsets.shape[0] - 1] = np.int64(count)


@kernel
def hash_characters(
    data: ConstBytes,
    offsets: ConstInt64s,
    table: ConstUint64s,
    hashes: Uint64s,
    token_offsets: Int64s,
) -> None:
    """Hash every kept character's folded bytes as a token.

    ``table`` is as in ``kernels.text.folding``; all its entries are SINGLE, SEVERAL or IGNORED
    here. ``hashes`` takes MOST_TOKENS values per byte of the texts, and ``token_offsets`` (n + 1)
    delimits texts.
    """
    count = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        token_offsets[doc] = count
        i, end = offsets[doc], offsets[doc + 1]
        while i < end:
            code_point, length = character_at(data, i)
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


@inlined
def _digested(low: np.uint64, high: np.uint64, token: np.uint64) -> tuple[np.uint64, np.uint64]:
    low, high = (low ^ token) * DIGEST_LOW, (high ^ token) * DIGEST_HIGH
    return low ^ (low >> _32), high ^ (high >> _29)


@kernel
def digest_tokens(
    hashes: ConstUint64s,
    token_offsets: ConstInt64s,
    digests: Uint64Rows,
) -> None:
    """Digest token sequences to 128 bits for finding exact copies.

    Two halves with different multipliers; each step is one to one in the token's hash and not
    linear, so that no arrangement of repeated tokens cancels out.
    """
    n_docs = token_offsets.shape[0] - 1
    for doc in range(0, n_docs, 2):
        # Each step waits for the one before, so two texts are digested side by side, the last one
        # perhaps beside itself.
        other = min(doc + 1, n_docs - 1)
        start, other_start = np.uint64(token_offsets[doc]), np.uint64(token_offsets[other])
        n_tokens = np.uint64(token_offsets[doc + 1]) - start
        n_others = np.uint64(token_offsets[other + 1]) - other_start
        low, high, other_low, other_high = GOLDEN, ~GOLDEN, GOLDEN, ~GOLDEN
        n_both = min(n_tokens, n_others)
        for i in range(n_both):
            low, high = _digested(low, high, hashes[start + i])
            other_low, other_high = _digested(other_low, other_high, hashes[other_start + i])
        for i in range(n_both, n_tokens):
            low, high = _digested(low, high, hashes[start + i])
        for i in range(n_both, n_others):
            other_low, other_high = _digested(other_low, other_high, hashes[other_start + i])
        digests[doc, 0], digests[doc, 1] = mix64(low ^ n_tokens), mix64(high ^ n_tokens)
        digests[other, 0] = mix64(other_low ^ n_others)
        digests[other, 1] = mix64(other_high ^ n_others)


@kernel
def locate_tokens(
    data: ConstBytes,
    offsets: ConstInt64s,
    ascii_table: ConstBytes,
    table: ConstUint64s,
    starts: Int64s,
    stops: Int64s,
) -> np.int64:
    """Locate every token that ``fold_texts`` writes.

    Parameters as of ``fold_texts``; ``starts`` and ``stops`` take one value more than there are
    tokens. Returns the number of tokens.
    """
    n_begun = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        i, origin, end = offsets[doc], offsets[doc], offsets[doc + 1]
        first = n_begun
        inside = np.int64(0)  # 1 in a token
        while i < end:
            at = i - origin
            if data[np.uint64(i)] < 128:
                # Words are short, and a branch at each edge would be guessed wrong half the time:
                # write every position, and count only where a token starts or stops.
                belongs = np.int64(ascii_table[data[np.uint64(i)]] != 0)
                starts[np.uint64(n_begun)] = at
                stops[np.uint64(n_begun - inside)] = at
                n_begun += belongs & (inside ^ 1)
                inside = belongs
                i += 1
                continue
            code_point, length = decode(data, i)
            kind = np.int64(table[code_point] >> CLASS_SHIFT)
            i += length
            if kind == WORD:
                if inside == 0:
                    starts[n_begun] = at
                    n_begun += 1
                    inside = np.int64(1)
                continue
            if kind in (IGNORED, MARK):
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
    """Locate every character that ``hash_characters`` hashes.

    All tokens of one character have its place. ``table`` as there; ``starts`` and ``stops`` take a
    value for each token. Returns the number of tokens.
    """
    count = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        i, origin, end = offsets[doc], offsets[doc], offsets[doc + 1]
        first = count
        while i < end:
            at = i - origin
            code_point, length = character_at(data, i)
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
                # A dropped character belongs to all tokens of the character before it.
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
    """Count a text's characters that start before given byte positions.

    Text d asks for ``positions[position_offsets[d] : position_offsets[d + 1]]``, which ascend,
    are counted from its start and lie where characters start or at its end; ``counts`` is aligned
    with ``positions``.
    """
    for doc in range(offsets.shape[0] - 1):
        origin = offsets[doc]
        # Up to here each byte is a character.
        plain = i = ascii_end(data, origin, offsets[doc + 1])
        count = i - origin
        for p in range(position_offsets[doc], position_offsets[doc + 1]):
            stop = origin + positions[p]
            for k in range(i, stop):
                # All bytes but 10xxxxxx start a character.
                count += np.int64((data[np.uint64(k)] & 0xC0) != 0x80)
            i = max(i, stop)
            counts[p] = positions[p] if stop <= plain else count


_NEWLINE, _RETURN = 10, 13
_ONES = np.uint64(0x0101010101010101)
_NEWLINES, _RETURNS = _ONES * np.uint64(_NEWLINE), _ONES * np.uint64(_RETURN)


@inlined
def _line_stop(data: ConstBytes, i: Int, end: Int) -> Int:
    while i + 8 <= end:
        word = load_eight(data, np.uint64(i))
        breaks = _zero_bytes(word ^ _NEWLINES) | _zero_bytes(word ^ _RETURNS)
        if breaks != _0:
            return i + np.int64(np.uint64(trailing_zeros(breaks)) >> _3)
        i += 8
    while i < end and data[i] != _NEWLINE and data[i] != _RETURN:
        i += 1
    return i


@inlined
def _is_space(code_point: Int) -> bool:
    if code_point < 0x80:
        return bool(code_point == 32 or 9 <= code_point <= 13 or 28 <= code_point <= 31)
    if code_point < 0x2000:
        return bool(code_point == 0x85 or code_point == 0xA0 or code_point == 0x1680)
    if code_point <= 0x200A:
        return True
    is_other = code_point == 0x2028 or code_point == 0x2029 or code_point == 0x202F
    return bool(is_other or code_point == 0x205F or code_point == 0x3000)


@kernel
def find_units(
    data: ConstBytes,
    offsets: ConstInt64s,
    of_paragraphs: int,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
    ends: Int64s,
) -> int:
    r"""Find lines of texts, or paragraphs, separated by blank lines.

    A line ends with ``\n``, ``\r\n`` or ``\r``; a line of white space is blank, and not a unit. The
    outputs take each unit's document, start and stop, counted from the start of its text, and the
    end of its terminator: a line's end, after a paragraph also blank lines. They have room for a
    value per line end, and one more per text. Returns the number of units.
    """
    count = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        origin, end = offsets[doc], offsets[doc + 1]
        first = count
        # Whether the line before was a part of the last unit.
        is_open = False
        i = origin
        while i < end:
            start = i
            stop = _line_stop(data, i, end)
            is_blank = True
            while is_blank and i < stop:
                code_point, length = character_at(data, i)
                is_blank = _is_space(code_point)
                i += length
            i = stop
            if i < end:
                is_pair = data[i] == _RETURN and i + 1 < end and data[i + 1] == _NEWLINE
                i += 2 if is_pair else 1
            if is_blank:
                is_open = False
                if of_paragraphs != 0 and count > first:
                    ends[count - 1] = i - origin
                continue
            if not (of_paragraphs != 0 and is_open):
                documents[count] = doc
                starts[count] = start - origin
                count += 1
            is_open = True
            stops[count - 1] = stop - origin
            ends[count - 1] = i - origin
    return int(count)


# Effect of a character on a sentence: nothing, ends it before white space, or before white space
# without a small letter after it, or before anything; or closes a quotation or bracket.
_INSIDE, _ENDS, _STOPS, _ENDS_AT_ONCE, _CLOSES = 0, 1, 2, 3, 4


@inlined
def _role_in_sentence(code_point: Int) -> Int:
    """Return the effect of a character on its sentence."""
    if code_point < 0x80:
        if code_point == 0x2E:
            return _STOPS
        if code_point == 0x21 or code_point == 0x3F:
            return _ENDS
        is_quote = code_point == 0x22 or code_point == 0x27
        is_closed = code_point == 0x29 or code_point == 0x5D or code_point == 0x7D
        return _CLOSES if is_quote or is_closed else _INSIDE
    if code_point < 0x2000:
        # Arabic, Urdu, Hindi and Amharic.
        is_end = code_point == 0x061F or code_point == 0x06D4
        is_end = is_end or 0x0964 <= code_point <= 0x0965 or code_point == 0x1362
        if is_end:
            return _ENDS
        return _CLOSES if code_point == 0xBB else _INSIDE
    if code_point == 0x2026:
        return _STOPS
    # Chinese and Japanese, without a space after it.
    is_wide = code_point == 0x3002 or code_point == 0xFF01 or code_point == 0xFF0E
    if is_wide or code_point == 0xFF1F or code_point == 0xFF61:
        return _ENDS_AT_ONCE
    is_quote = code_point == 0x2019 or 0x201C <= code_point <= 0x201D or code_point == 0x203A
    is_wide = code_point == 0x300D or code_point == 0x300F or code_point == 0x3011
    return _CLOSES if is_quote or is_wide or code_point == 0xFF09 else _INSIDE


@helper
def _sentence_ends(data: ConstBytes, i: Int, end: Int, role: Int) -> bool:
    """Return whether white space after a mark ends a sentence."""
    if role != _STOPS:
        return True
    while i < end:
        code_point, length = character_at(data, i)
        if not _is_space(code_point) or code_point in (_NEWLINE, _RETURN):
            return not 0x61 <= code_point <= 0x7A
        i += length
    return True


@kernel
def find_sentences(
    data: ConstBytes,
    offsets: ConstInt64s,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
    ends: Int64s,
) -> int:
    """Find the sentences of texts within their lines.

    Outputs as of ``find_units``; ``ends`` are after the white space that follows in the line.
    Outputs are filled as far as they fit. Returns the number of sentences.
    """
    count, room = np.int64(0), np.int64(documents.shape[0])
    for doc in range(offsets.shape[0] - 1):
        origin, end = offsets[doc], offsets[doc + 1]
        # The last sentence that may still be followed by white space; none at the start of a line.
        last = np.int64(-1)
        i = origin
        while i < end:
            code_point, length = character_at(data, i)
            if _is_space(code_point):
                i += length
                if code_point in (_NEWLINE, _RETURN):
                    last = np.int64(-1)
                elif 0 <= last < room:
                    ends[last] = i - origin
                continue
            start = stop = i
            role = np.int64(_INSIDE)
            while i < end:
                code_point, length = character_at(data, i)
                if code_point in (_NEWLINE, _RETURN):
                    break
                if _is_space(code_point):
                    if role != _INSIDE and _sentence_ends(data, i, end, role):
                        break
                    i += length
                    continue
                own = np.int64(_role_in_sentence(code_point))
                if own == _CLOSES:
                    own = role
                elif own == _INSIDE and role == _ENDS_AT_ONCE:
                    break
                role = own
                i += length
                stop = i
            if count < room:
                documents[count], starts[count] = doc, start - origin
                stops[count], ends[count] = stop - origin, i - origin
            last = count
            count += 1
    return int(count)
