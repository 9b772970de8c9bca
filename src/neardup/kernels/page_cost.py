"""What it takes to parse a page, found before a parser is asked to, which nothing can stop.

The rules of HTML make some pages cost the square of their length: a parser looks through all open
elements at a tag, opens unclosed elements of formatting anew in each block, and compares each
attribute with those before it.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.markup import (
    BANG,
    DASH,
    GREATER,
    LESS,
    QUOTE,
    SLASH,
    find_byte,
    find_name,
    is_space,
    name_at,
)
from neardup.kernels.types import ConstBytes, ConstInt64s, ConstUint64s, Int

# Elements of formatting; those that never hold others, or that the next of their kind ends.
FORMATTING, FLAT = 1, 2

_APOSTROPHE = 39

_COUNTER_BITS = 14
_SHIFT = np.uint64(64 - _COUNTER_BITS)
_MIX = np.uint64(0x9E3779B97F4A7C15)
# A parser opens no more than so many equal ones anew.
_MOST_EQUAL = 3
# Each so many bytes of a tag that is opened anew count as an element, since they are copied.
_HEAVY_BYTES = 512


@inlined
def _end_of_tag(data: ConstBytes, i: Int) -> tuple[Int, Int]:
    """Return where a tag ends, and how many attributes it may have."""
    n = len(data)
    attributes: Int = 0
    while i < n:
        byte = data[np.uint64(i)]
        if byte > GREATER:
            i += 1
            continue
        if byte == GREATER:
            break
        if byte in (QUOTE, _APOSTROPHE):
            i = find_byte(data, i + 1, np.int64(byte))
        elif is_space(byte):
            attributes += 1
        i += 1
    return i, attributes


@inlined
def _hash(data: ConstBytes, i: Int, stop: Int, key: np.uint64) -> Int:
    """Return the counter of tags that are equal to one."""
    for k in range(i, min(stop, len(data))):
        key = (key ^ np.uint64(data[k])) * _MIX
    return np.int64(key >> _SHIFT)


@kernel
def page_cost(
    data: ConstBytes, keys: ConstUint64s, kinds: ConstInt64s, most: int
) -> tuple[int, int, int]:
    """Bound what a parser does with a page.

    Parameters
    ----------
    data
        The page.
    keys, kinds
        A table of names (``markup.key_of``, 0 for an empty slot) and what elements they are.
    most
        Looking on stops when there are as many steps or elements.

    Returns
    -------
    Steps of work, elements that are made, and how deep elements are in others at most. All are
    counted high: for a page as people write them by little.
    """
    n = len(data)
    open_tags = np.zeros(1 << _COUNTER_BITS, np.int32)
    equal_tags = np.zeros(1 << _COUNTER_BITS, np.uint8)
    steps: Int = 0
    elements: Int = 0
    depth: Int = 0
    deepest: Int = 0
    unclosed: Int = 0
    heavy: Int = 0
    i: Int = 0
    while i < n and steps < most and elements < most:
        i = find_byte(data, i, LESS) + 1
        if i >= n:
            break
        if data[i] == BANG:
            if i + 2 < n and data[i + 1] == DASH and data[i + 2] == DASH:
                i += 1
                while i + 2 < n and not (
                    data[i] == DASH and data[i + 1] == DASH and data[i + 2] == GREATER
                ):
                    i += 1
            continue
        is_end = data[i] == SLASH
        i += 1 if is_end else 0
        if i >= n or not (65 <= data[i] <= 90 or 97 <= data[i] <= 122):
            continue
        key, i = name_at(data, i)
        kind = find_name(keys, kinds, key)
        place = np.int64((key * _MIX) >> _SHIFT)
        steps += depth
        if is_end:
            if open_tags[place] and not kind & FLAT:
                open_tags[place] -= 1
                depth -= 1
                if kind & FORMATTING and unclosed:
                    unclosed -= 1
            continue
        start = i
        i, attributes = _end_of_tag(data, i)
        steps += attributes * attributes
        elements += 1
        if kind & FORMATTING:
            same = _hash(data, start, i, key)
            if equal_tags[same] < _MOST_EQUAL:
                equal_tags[same] += 1
                unclosed += 1
                # Its end tag would have to be found to take this back; such tags are rare.
                heavy += (i - start) // _HEAVY_BYTES
        else:
            elements += unclosed + heavy
        if not kind & FLAT:
            open_tags[place] += 1
            depth += 1
            deepest = max(deepest, depth)
    return int(steps), int(elements), int(deepest)
