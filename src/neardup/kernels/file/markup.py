"""Tags of HTML as they are read, and what it takes to parse a page.

The cost is found before a parser is asked to, which nothing can stop. The rules of HTML make some
pages cost the square of their length: a parser looks through all open elements at a tag, opens
unclosed elements of formatting anew in each block, and compares each attribute with those before
it.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.types import ConstBytes, ConstInt64s, ConstUint64s, Int, Int64s, Uint64s

SLASH, GREATER, LESS, EQUALS, QUOTE, BANG, DASH = 47, 62, 60, 61, 34, 33, 45
QUESTION = 63

# Odd, with both halves of mixed bits.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_OF_SLOT = np.uint64(0xD6E8FEB86659FD93)
_SMALL = np.uint8(32)
SLOT_BITS = 9
_SHIFT = np.uint64(64 - SLOT_BITS)


def key_of(name: str) -> int:
    """Return the number that stands for a name, in letters of either case."""
    key = 0
    for byte in name.encode():
        key = ((key + (byte | int(_SMALL))) * int(_FACTOR)) & 0xFFFF_FFFF_FFFF_FFFF
    return key


def slot_of(key: int) -> int:
    """Return the slot of a table of names at which the search for one begins."""
    return (key * int(_OF_SLOT) & 0xFFFF_FFFF_FFFF_FFFF) >> (64 - SLOT_BITS)


def combined(key: int, other: int) -> int:
    """Return the number that stands for two names together, those of a property and its value."""
    return (key * int(_FACTOR) + other) & 0xFFFF_FFFF_FFFF_FFFF


def name_table(kinds: dict[int, int]) -> tuple[Uint64s, Int64s]:
    """Return numbers of names and what they are as ``find_name`` looks them up."""
    keys, values = np.zeros(1 << SLOT_BITS, np.uint64), np.zeros(1 << SLOT_BITS, np.int64)
    for key, kind in kinds.items():
        slot = slot_of(key)
        while keys[slot]:
            slot = (slot + 1) % len(keys)
        keys[slot], values[slot] = key, kind
    return keys, values


@inlined
def combined_keys(key: np.uint64, other: np.uint64) -> np.uint64:
    """Return the number of two names together, as ``combined``."""
    return key * _FACTOR + other


@inlined
def key_with(key: np.uint64, byte: np.uint8) -> np.uint64:
    """Return the number of a name with one more byte."""
    return (key + np.uint64(byte | _SMALL)) * _FACTOR


@inlined
def is_space(byte: np.uint8) -> bool:
    """Return whether a byte is white space that a browser collapses."""
    return bool(byte <= 32 and (byte == 32 or byte == 10 or byte == 9 or byte == 13))


@inlined
def key_at(data: ConstBytes, i: Int, stop: Int) -> np.uint64:
    """Return the number of the name between two places, as ``key_of``."""
    key = np.uint64(0)
    for k in range(i, stop):
        key = key_with(key, data[np.uint64(k)])
    return key


@inlined
def name_at(data: ConstBytes, i: Int) -> tuple[np.uint64, Int]:
    """Return the number of the name that begins at byte i of a tag, and where it ends."""
    key = np.uint64(0)
    n = len(data)
    while i < n:
        byte = data[np.uint64(i)]
        if byte <= GREATER and (byte in (GREATER, SLASH) or byte == 12 or is_space(byte)):
            break
        key = key_with(key, byte)
        i += 1
    return key, i


@inlined
def find_name(keys: ConstUint64s, values: ConstInt64s, key: np.uint64) -> Int:
    """Return what a table has for a name; 0 for one that is not in it."""
    slot = np.int64((key * _OF_SLOT) >> _SHIFT)
    while keys[slot] != np.uint64(0):
        if keys[slot] == key:
            return np.int64(values[slot])
        slot = (slot + 1) & (len(keys) - 1)
    return 0


@inlined
def find_byte(data: ConstBytes, i: Int, byte: Int) -> Int:
    """Return the first place of a byte from i on, or the end of the data."""
    n = len(data)
    while i < n and data[np.uint64(i)] != byte:
        i += 1
    return i


@inlined
def next_attribute(data: ConstBytes, i: Int) -> tuple[Int, Int, Int, Int, Int]:
    """Return start and end of the name of the next attribute, those of its value, and the next i.

    Values are quoted, as a serialiser writes them. The start is -1 where the tag ends.
    """
    n = len(data)
    while i < n and (data[i] == 32 or data[i] == SLASH):
        i += 1
    if i >= n or data[i] == GREATER:
        return -1, 0, 0, 0, i
    start = i
    # A parser may leave names that begin with an equals sign.
    i += 1
    while i < n and data[i] != EQUALS and data[i] != GREATER and data[i] != 32:
        i += 1
    stop = i
    if i + 1 >= n or data[i] != EQUALS or data[i + 1] != QUOTE:
        return start, stop, stop, stop, i
    value = i + 2
    i = find_byte(data, value, QUOTE)
    return start, stop, value, i, min(i + 1, n)


@helper
def is_word(data: ConstBytes, i: Int, word: ConstBytes) -> bool:
    """Return whether a word of small letters stands at byte i, in letters of either case."""
    if i + len(word) > len(data):
        return False
    for k in range(len(word)):
        byte = data[i + k]
        if 65 <= byte <= 90:
            byte |= np.uint8(32)
        if byte != word[k]:
            return False
    return True


@helper
def end_of_raw(data: ConstBytes, i: Int, name: Int, stop: Int) -> Int:
    """Return where the end tag stands that ends raw text from i; the name is that of its start."""
    n = len(data)
    while i < n:
        i = find_byte(data, i, LESS)
        if i + 2 + stop - name < n and data[i + 1] == SLASH:
            k = name
            while k < stop and data[i + 2 + k - name] == data[k]:
                k += 1
            if k == stop and data[i + 2 + stop - name] == GREATER:
                return i
        i += 1
    return n


_SCRIPT = np.frombuffer(b"script", np.uint8)


@inlined
def _is_script_tag(data: ConstBytes, i: Int) -> bool:
    """Return whether the name of a tag at byte i is ``script``."""
    stop = i + len(_SCRIPT)
    if stop >= len(data) or not is_word(data, i, _SCRIPT):
        return False
    byte = data[stop]
    return is_space(byte) or byte == 12 or byte in (SLASH, GREATER)


@helper
def end_of_script(data: ConstBytes, i: Int) -> Int:
    """Return where the end tag of a script stands whose text begins at byte i.

    What looks like a script within a comment of one does not end it.
    """
    n = len(data)
    in_comment = in_script = False
    while i < n:
        byte = data[i]
        if byte == LESS and i + 3 < n:
            if data[i + 1] == BANG and data[i + 2] == DASH and data[i + 3] == DASH:
                in_comment = True
                # These dashes may be those of its end, too.
                i += 2
                continue
            if data[i + 1] == SLASH and _is_script_tag(data, i + 2):
                if not in_script:
                    return i
                in_script = False
            elif in_comment and _is_script_tag(data, i + 1):
                in_script = True
        elif byte == DASH and i + 2 < n and data[i + 1] == DASH and data[i + 2] == GREATER:
            in_comment = in_script = False
        i += 1
    return n


@helper
def last_end_tag(data: ConstBytes, i: Int, name: Int, stop: Int) -> Int:
    """Return where the last end tag of a name stands, not before i."""
    length = stop - name
    for place in range(len(data) - length - 3, i - 1, -1):
        if data[place] == LESS and data[place + 1] == SLASH and data[place + 2 + length] == GREATER:
            k = 0
            while k < length and data[place + 2 + k] == data[name + k]:
                k += 1
            if k == length:
                return place
    return np.int64(len(data))


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
_SHIFT_OF_COUNTER = np.uint64(64 - _COUNTER_BITS)
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
    return np.int64(key >> _SHIFT_OF_COUNTER)


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
        place = np.int64((key * _MIX) >> _SHIFT_OF_COUNTER)
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
