"""What it takes to parse a page, found before a parser is asked to, which nothing can stop.

The rules of HTML make some pages cost the square of their length: a parser looks through all open
elements at a tag, opens unclosed elements of formatting anew in each block, and compares each
attribute with those before it.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.markup import (
    BANG,
    DASH,
    EQUALS,
    GREATER,
    LESS,
    QUESTION,
    QUOTE,
    SLASH,
    end_of_script,
    find_byte,
    find_name,
    is_space,
    name_at,
)
from neardup.kernels.types import ConstBytes, ConstInt64s, ConstUint64s, Int

# Elements of formatting; those that never hold others, or that the next of their kind ends.
FORMATTING, FLAT = 1, 2
# Elements that hold text without tags; of them, scripts and what holds the rest of the page.
RAW, SCRIPT, PLAIN = 4, 8, 16
# Roots of SVG and MathML, their elements that may hold HTML, and those of HTML that end both.
FOREIGN, HOLDS_HTML, ENDS_FOREIGN = 32, 64, 128
# In these, a parser leaves out tags, also those of raw text: for good, or behind a template.
CHOICE, FRAMES, TEMPLATE, COLUMN = 256, 512, 1024, 2048
# What ends SVG only with some attributes.
MAY_END_FOREIGN = 4096

_APOSTROPHE, _BRACKET = 39, 93
_CDATA = np.frombuffer(b"[CDATA[", np.uint8)

_COUNTER_BITS = 14
_SHIFT = np.uint64(64 - _COUNTER_BITS)
_MIX = np.uint64(0x9E3779B97F4A7C15)
# A parser opens no more than so many equal ones anew.
_MOST_EQUAL = 3
# Each so many bytes of a tag that is opened anew count as an element, since they are copied.
_HEAVY_BYTES = 512


@inlined
def _is_gap(byte: np.uint8) -> bool:
    """Return whether a byte is white space between attributes."""
    return is_space(byte) or byte == 12


@inlined
def _is_letter(byte: np.uint8) -> bool:
    return bool(97 <= byte | 32 <= 122)


@inlined
def _end_of_tag(data: ConstBytes, i: Int) -> tuple[Int, Int, bool]:
    """Return where a tag ends, how many attributes it has, and whether it closes itself."""
    n = len(data)
    attributes: Int = 0
    closes = False
    while i < n:
        byte = data[np.uint64(i)]
        if byte == GREATER:
            break
        if byte == SLASH or _is_gap(byte):
            closes = byte == SLASH
            i += 1
            continue
        closes = False
        attributes += 1
        # The name of an attribute may begin with an equals sign.
        i += 1
        while i < n:
            byte = data[np.uint64(i)]
            if byte <= GREATER and (byte in (EQUALS, GREATER, SLASH) or _is_gap(byte)):
                break
            i += 1
        while i < n and _is_gap(data[np.uint64(i)]):
            i += 1
        if i >= n or data[np.uint64(i)] != EQUALS:
            continue
        i += 1
        while i < n and _is_gap(data[np.uint64(i)]):
            i += 1
        if i < n and data[np.uint64(i)] in (QUOTE, _APOSTROPHE):
            i = find_byte(data, i + 1, np.int64(data[np.uint64(i)])) + 1
        else:
            while i < n and data[np.uint64(i)] != GREATER and not _is_gap(data[np.uint64(i)]):
                i += 1
    return i, attributes, closes


@helper
def _end_of_comment(data: ConstBytes, start: Int) -> Int:
    """Return where a comment ends whose text begins at start, behind ``<!--``."""
    n = len(data)
    i = start
    while True:
        i = find_byte(data, i, GREATER)
        if i >= n or i == start or (i == start + 1 and data[start] == DASH):
            return i
        dash = i - 2 if data[i - 1] == BANG else i - 1
        if dash - 1 >= start and data[dash] == DASH and data[dash - 1] == DASH:
            return i
        i += 1


@inlined
def _ends_raw(data: ConstBytes, i: Int, name: Int, stop: Int) -> bool:
    """Return whether the end tag stands at byte i of an element whose name is from name to stop."""
    end = i + 2 + stop - name
    if end >= len(data) or data[i + 1] != SLASH:
        return False
    for k in range(stop - name):
        if data[i + 2 + k] | np.uint8(32) != data[name + k] | np.uint8(32):
            return False
    return bool(data[end] == GREATER or data[end] == SLASH or _is_gap(data[end]))


@helper
def _end_of_raw(data: ConstBytes, i: Int, name: Int, stop: Int, kind: Int) -> Int:
    """Return where the end tag stands that ends the raw text from i, or the end of the data."""
    n = len(data)
    if kind & PLAIN:
        return np.int64(n)
    if kind & SCRIPT:
        return end_of_script(data, i)
    i = find_byte(data, i, LESS)
    while i < n and not _ends_raw(data, i, name, stop):
        i = find_byte(data, i + 1, LESS)
    return i


@inlined
def _is_cdata(data: ConstBytes, i: Int) -> bool:
    """Return whether a section of CDATA begins at byte i, if it is in SVG or MathML."""
    if i + 1 + len(_CDATA) >= len(data) or data[i + 1] != BANG:
        return False
    k = 0
    while k < len(_CDATA) and data[i + 2 + k] == _CDATA[k]:
        k += 1
    return k == len(_CDATA)


@inlined
def _end_of_cdata(data: ConstBytes, i: Int) -> Int:
    """Return where a section of CDATA at byte i ends, or -1 if a comment ended elsewhere."""
    end = find_byte(data, i, GREATER)
    if end >= len(data) or end < i + 11:
        return np.int64(-1)
    return end if data[end - 1] == _BRACKET and data[end - 2] == _BRACKET else np.int64(-1)


@helper
def _end_of_raw_or_tags(data: ConstBytes, i: Int, name: Int, stop: Int, kind: Int) -> Int:
    """Return where text from i ends that is raw or has tags; -1 if that makes a difference."""
    n = len(data)
    i = find_byte(data, i, LESS)
    while i < n:
        if not kind & PLAIN and _ends_raw(data, i, name, stop):
            return i
        end = _end_of_cdata(data, i) if _is_cdata(data, i) else np.int64(-1)
        if end < 0:
            return np.int64(-1)
        i = find_byte(data, end, LESS)
    return i


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
    # The element, open as often as counted, in which tags may not be those of HTML; and the one
    # in it that may hold HTML. What is open behind tags of both is not known.
    root = inner = np.uint64(0)
    roots: Int = 0
    unknown = False
    in_choice = has_template = False
    # Whether there are two readings of the page from here on: then whatever looks like a start tag
    # counts, and nothing ends.
    is_split = False
    i: Int = 0
    while i < n and steps < most and elements < most:
        i = find_byte(data, i, LESS) + 1
        if i >= n:
            break
        less = i - 1
        is_end = data[i] == SLASH
        if is_split:
            if not _is_letter(data[i]):
                continue
        elif data[i] == BANG:
            if i + 2 < n and data[i + 1] == DASH and data[i + 2] == DASH:
                i = _end_of_comment(data, i + 3)
                continue
            if (root or unknown) and _is_cdata(data, less):
                is_split = bool(_end_of_cdata(data, less) < 0)
            if not is_split:
                i = find_byte(data, i, GREATER)
            continue
        else:
            i += 1 if is_end else 0
            if i >= n:
                break
            if not _is_letter(data[i]):
                if is_end or data[i] == QUESTION:
                    i = find_byte(data, i, GREATER)
                continue
        name = i
        key, start = name_at(data, i)
        kind = find_name(keys, kinds, key)
        place = np.int64((key * _MIX) >> _SHIFT)
        steps += depth
        i, attributes, closes = _end_of_tag(data, start)
        if is_end:
            if open_tags[place]:
                open_tags[place] -= 1
                depth -= 1
                if kind & FORMATTING and unclosed:
                    unclosed -= 1
            if key == inner:
                inner = np.uint64(0)
            if key == root:
                roots -= 1
                if roots == 0:
                    root = inner = np.uint64(0)
            continue
        if inner or kind & FRAMES or (has_template and kind & COLUMN):
            unknown = True
        elif not root:
            if kind & CHOICE or (kind & FOREIGN and not closes):
                root = key
                roots = 1
                in_choice = kind & CHOICE != 0
        elif key == root:
            # A choice in a choice ends it.
            roots += 0 if in_choice or closes else 1
        elif kind & (FOREIGN | CHOICE | TEMPLATE | MAY_END_FOREIGN):
            unknown = True
        elif kind & ENDS_FOREIGN and not in_choice:
            root = np.uint64(0)
        elif kind & HOLDS_HTML and not closes:
            inner = key
        has_template |= kind & TEMPLATE != 0
        is_known = root == np.uint64(0) and not unknown
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
        # In SVG, elements of other flat names hold others.
        is_html = is_known or (in_choice and not unknown) or kind & ENDS_FOREIGN
        if not (kind & FLAT and is_html):
            open_tags[place] += 1
            depth += 1
            deepest = max(deepest, depth)
        if is_split:
            # Another tag may begin within this one.
            steps += i - less
            i = less + 1
        elif kind & RAW:
            after = min(i + 1, n)
            if is_known:
                i = _end_of_raw(data, after, name, start, kind)
            else:
                end = _end_of_raw_or_tags(data, after, name, start, kind)
                is_split = bool(end < 0)
                i = after if is_split else end
    return int(steps), int(elements), int(deepest)
