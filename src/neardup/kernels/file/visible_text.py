"""What a reader sees of a page, out of HTML as a serialiser writes it.

Such HTML is well-formed: every element that is not void has its end tag, values of attributes are
in double quotes, and characters of text that mean something else are references. So a stack and one
pass are enough; what the rules of parsing are is left to the parser. The text is
written with line ends between blocks, and one space where white space was.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.file.markup import (
    BANG,
    DASH,
    GREATER,
    LESS,
    QUESTION,
    SLASH,
    end_of_raw,
    end_of_script,
    find_byte,
    find_name,
    is_space,
    key_at,
    key_of,
    last_end_tag,
    name_at,
    next_attribute,
)
from neardup.kernels.file.rawrows import copy_bytes
from neardup.kernels.file.style import (
    AS_BLOCK,
    AS_BOX,
    COLLAPSED,
    GONE,
    INLINE,
    INVISIBLE,
    PRESERVED,
    SHOWN,
    VISIBLE,
    read_style,
)
from neardup.kernels.types import Bytes, ConstBytes, ConstInt64s, ConstUint64s, Int, Int64s

# What is written so far: bytes, line ends due before the next one, whether a space is due, and
# whether the line has no text yet.
BYTES, BREAKS, SPACE, FRESH = 0, 1, 2, 3


NEWLINE, TAB = 10, 9
_AMPERSAND, _SEMICOLON = 38, 59

_ENTITY_AMP, _ENTITY_LT, _ENTITY_GT, _ENTITY_QUOT, _ENTITY_NBSP = (
    np.uint64(key_of(name)) for name in ("amp", "lt", "gt", "quot", "nbsp")
)
# Longest of these.
_ENTITY_BYTES = 4


@inlined
def end_line(pen: Int64s, breaks: Int) -> None:
    """Begin or end a block, with so many line ends at least."""
    pen[BREAKS] = max(pen[BREAKS], breaks)
    pen[SPACE] = 0
    pen[FRESH] = 1


@inlined
def _begin(out: Bytes, pen: Int64s) -> None:
    """Write the line ends that are due; there are none above the first line."""
    if pen[BREAKS] and pen[BYTES]:
        for _ in range(pen[BREAKS]):
            out[pen[BYTES]] = NEWLINE
            pen[BYTES] += 1
    pen[BREAKS] = 0


@inlined
def separate(out: Bytes, pen: Int64s, byte: Int) -> None:
    """Write a tab or a line end, which swallows the white space around it."""
    _begin(out, pen)
    out[pen[BYTES]] = byte
    pen[BYTES] += 1
    pen[SPACE] = 0
    pen[FRESH] = 1


@inlined
def begin_text(out: Bytes, pen: Int64s) -> Int:
    """Write what is due before text; return where that goes."""
    _begin(out, pen)
    place = np.int64(pen[BYTES])
    if pen[SPACE] and not pen[FRESH]:
        out[place] = 32
        place += 1
    pen[SPACE] = 0
    pen[FRESH] = 0
    return place


@inlined
def _reference(data: ConstBytes, i: Int, out: Bytes, place: Int) -> tuple[Int, Int]:
    """Write the character that the reference at byte i stands for; return where both go on."""
    end = i + 1
    last = min(i + 1 + _ENTITY_BYTES, len(data) - 1)
    while end < last and data[end] != _SEMICOLON:
        end += 1
    key = np.uint64(0)
    if end < len(data) and data[end] == _SEMICOLON:
        key = key_at(data, i + 1, end)
    byte: Int = _AMPERSAND
    if key == _ENTITY_NBSP:
        out[place] = 0xC2
        out[place + 1] = 0xA0
        return end + 1, place + 2
    if key == _ENTITY_LT:
        byte = LESS
    elif key == _ENTITY_GT:
        byte = GREATER
    elif key == _ENTITY_QUOT:
        byte = 34
    elif key != _ENTITY_AMP:
        end = i
    out[place] = byte
    return end + 1, place + 1


@inlined
def write(data: ConstBytes, i: Int, end: Int, out: Bytes, pen: Int64s) -> Int:
    """Write text up to a byte, white space as one space, none at the ends of a line."""
    n = len(data)
    last = np.uint8(end)
    start = i
    while i < n and is_space(data[np.uint64(i)]):
        i += 1
    if i > start:
        pen[SPACE] = 1
    if i >= n or data[i] == last:
        return i
    place = begin_text(out, pen)
    while i < n:
        byte = data[np.uint64(i)]
        if byte > _AMPERSAND:
            if byte == last:
                break
        elif byte == _AMPERSAND:
            i, place = _reference(data, i, out, place)
            continue
        elif byte == last:
            break
        elif is_space(byte):
            i += 1
            while i < n and is_space(data[np.uint64(i)]):
                i += 1
            if i >= n or data[np.uint64(i)] == last:
                pen[SPACE] = 1
                break
            byte = np.uint8(32)
            i -= 1
        out[np.uint64(place)] = byte
        place += 1
        i += 1
    pen[BYTES] = place
    return i


@inlined
def write_as_is(data: ConstBytes, i: Int, out: Bytes, pen: Int64s) -> Int:
    """Write text up to the next tag, with all its white space."""
    n = len(data)
    place = begin_text(out, pen)
    while i < n:
        byte = data[np.uint64(i)]
        if byte == LESS:
            break
        if byte == _AMPERSAND:
            i, place = _reference(data, i, out, place)
            continue
        out[np.uint64(place)] = byte
        place += 1
        i += 1
    pen[BYTES] = place
    pen[FRESH] = np.int64(out[place - 1] == NEWLINE)
    return i


@inlined
def write_raw(data: ConstBytes, i: Int, stop: Int, out: Bytes, pen: Int64s) -> None:
    """Write text with all its white space in which nothing stands for anything else."""
    if i < stop:
        place = begin_text(out, pen)
        copy_bytes(data, i, stop, out, place)
        pen[BYTES] = place + stop - i
        pen[FRESH] = np.int64(data[stop - 1] == NEWLINE)


# What an element is. A paragraph is a block with an empty line around it.
HIDDEN, VOID, BLOCK, PARAGRAPH, CELL, ROW, ROWS, PRE = 1, 2, 4, 8, 16, 32, 64, 128
RAW, SCRIPT, PLAIN, BREAK, BOX = 256, 512, 1024, 2048, 4096
DETAILS, SUMMARY, DIALOG = 1 << 15, 1 << 16, 1 << 17
SVG, FOREIGN, SVG_TEXT, SVG_PART, SVG_SPAN, SVG_NOTE, MATH, MATH_TOKEN = (
    1 << bit for bit in range(18, 26)
)
ANNOTATION, SELECT, OPTION, TABLE, UNDISPLAYED, UNBROKEN, SEMANTICS = (
    1 << bit for bit in range(27, 34)
)

# What holds within an element: where text is not seen, where white space is kept; whether a cell of
# the row, a row of the table was before; whether all but a summary is hidden, and it was before;
# whether white space is kept in cells, though not between them; whether the element is one of SVG,
# or of text there, or of MathML, a token, a note or a part with notes there, or a list of options.
_HIDDEN, _INVISIBLE, _PRE, _AFTER_CELL, _AFTER_ROW, _CLOSED, _SUMMED, _PRE_IN_CELLS = (
    1 << bit for bit in range(8)
)
_SVG, _SVG_TEXT, _MATH, _TOKEN, _NOTE, _MEANT, _SELECT = (1 << bit for bit in range(8, 15))
_STATE_BITS = 15
_FOREIGN = _SVG | _SVG_TEXT | _MATH
_UNSEEN = _HIDDEN | _INVISIBLE | _CLOSED | _SVG | _MATH | _SELECT
_INHERITED = _HIDDEN | _INVISIBLE | _PRE | _FOREIGN | _SELECT
# What the parser's rules say of an element, rather than how it looks.
_SYNTAX = VOID | RAW | SCRIPT | PLAIN


_ATTRIBUTE_HIDDEN, _ATTRIBUTE_OPEN, _ATTRIBUTE_POPOVER, _ATTRIBUTE_STYLE = (
    np.uint64(key_of(name)) for name in ("hidden", "open", "popover", "style")
)
_ATTRIBUTE_ENCODING = np.uint64(key_of("encoding"))
_TEXT_HTML, _XHTML = np.uint64(key_of("text/html")), np.uint64(key_of("application/xhtml+xml"))
# Whether a letter is the first of an attribute that counts.
_FIRST_LETTERS = np.array([chr(97 + i) in "hops" for i in range(159)])


@inlined
def _end_of_comment(data: ConstBytes, i: Int) -> Int:
    """Return what follows the comment, declaration or processing instruction at byte i."""
    n = len(data)
    if i + 3 < n and data[i + 1] == BANG and data[i + 2] == DASH and data[i + 3] == DASH:
        i += 4
        while i + 2 < n and not (
            data[i] == DASH and data[i + 1] == DASH and data[i + 2] == GREATER
        ):
            i += 1
        return min(i + 3, n)
    return min(find_byte(data, i, GREATER) + 1, n)


@inlined
def _raw_stop(data: ConstBytes, i: Int, element: Int, name: Int, stop: Int) -> Int:
    """Return where the end tag of an element with raw text from i stands."""
    if element & SCRIPT:
        return end_of_script(data, i)
    if element & PLAIN:
        return last_end_tag(data, i, name, stop)
    return end_of_raw(data, i, name, stop)


@inlined
def _attributes(data: ConstBytes, i: Int) -> tuple[Int, Int, Int, Int]:
    """Read the attributes from byte i.

    Returns which there are that hide (1: ``hidden``, 2: ``popover``), whether one that opens, what
    the style says, and where the tag ends.
    """
    hides: Int = 0
    opens: Int = 0
    said: Int = 0
    while True:
        start, stop, value, value_stop, i = next_attribute(data, i)
        if start < 0:
            break
        first = data[start]
        if stop - start > 7 or first < 97 or not _FIRST_LETTERS[first - 97]:
            continue
        key = key_at(data, start, stop)
        if key == _ATTRIBUTE_STYLE:
            said = read_style(data, value, value_stop)
        elif key == _ATTRIBUTE_HIDDEN:
            hides |= 1
        elif key == _ATTRIBUTE_POPOVER:
            hides |= 2
        elif key == _ATTRIBUTE_OPEN:
            opens = 1
    return hides, opens, said, i


@helper
def _holds_html(data: ConstBytes, i: Int) -> bool:
    """Return whether a note in MathML with these attributes is of HTML."""
    while True:
        start, stop, value, value_stop, i = next_attribute(data, i)
        if start < 0:
            return False
        if key_at(data, start, stop) == _ATTRIBUTE_ENCODING:
            return bool(key_at(data, value, value_stop) in (_TEXT_HTML, _XHTML))


@helper
def _foreign(data: ConstBytes, i: Int, element: Int, state: Int, within: Int) -> tuple[Int, Int]:
    """Return what an element of SVG or MathML is, and what holds within it.

    No other rule of HTML holds for it than how the serialiser writes text in it, by its name.
    """
    raw = element & (RAW | SCRIPT | PLAIN)
    if state & _MATH:
        if element & MATH_TOKEN:
            return BLOCK, within & ~_MATH | _TOKEN
        if element & ANNOTATION:
            within |= _NOTE
            return BLOCK, within & ~_MATH if _holds_html(data, i) else within
        if element & SVG and state & _NOTE:
            return 0, within ^ (_MATH | _SVG)
        return raw | BLOCK | element & SEMANTICS, within
    if element & SVG:
        return 0, (within & ~_SVG_TEXT) | _SVG
    if element & SVG_NOTE:
        return 0, (within & ~_FOREIGN) | _HIDDEN
    if state & _SVG_TEXT:
        if element & SVG_SPAN:
            return 0, within
        return raw, (within & ~(_FOREIGN if element & FOREIGN else 0)) | _HIDDEN
    if element & FOREIGN:
        return BLOCK, within & ~_SVG
    if element & SVG_TEXT:
        return BLOCK, within ^ (_SVG | _SVG_TEXT)
    return raw, within | (0 if element & SVG_PART else _HIDDEN)


@inlined
def _styled(element: Int, within: Int, said: Int) -> tuple[Int, Int]:
    """Return what an element is and what holds within it, with what its style says."""
    if said & GONE:
        within |= _HIDDEN
    if said & INLINE:
        element &= ~BLOCK
    if said & AS_BOX:
        element |= BOX
    if said & AS_BLOCK:
        element |= BLOCK
    if said & INVISIBLE:
        within |= _INVISIBLE
    if said & VISIBLE:
        within &= ~_INVISIBLE
    if said & (PRESERVED | COLLAPSED):
        within &= ~_PRE
        within |= _PRE if said & PRESERVED else 0
    return element, within


@inlined
def _lay_out(element: Int, state: Int, out: Bytes, pen: Int64s) -> Int:
    """Write what comes before an element that is seen; return the state that it leaves around."""
    if element & CELL:
        if state & _AFTER_CELL:
            separate(out, pen, TAB)
        pen[SPACE], pen[FRESH] = 0, 1
        state |= _AFTER_CELL
    elif element & ROW:
        if state & _AFTER_ROW:
            separate(out, pen, NEWLINE)
        pen[SPACE], pen[FRESH] = 0, 1
        state |= _AFTER_ROW
    if element & (BLOCK | PARAGRAPH):
        end_line(pen, 2 if element & PARAGRAPH else 1)
    if element & BREAK:
        separate(out, pen, NEWLINE)
    if element & BOX:
        # White space within is apart from that outside.
        if pen[SPACE] and not pen[FRESH]:
            pen[BYTES] = begin_text(out, pen)
        pen[SPACE], pen[FRESH] = 0, 1
    return state


@inlined
def _leave(entry: Int, state: Int, pen: Int64s) -> Int:
    """End an element; return the state around it."""
    element, around = entry >> _STATE_BITS, entry & ((1 << _STATE_BITS) - 1)
    if state & _INVISIBLE and not state & _HIDDEN and element & (BLOCK | PARAGRAPH):
        end_line(pen, 0)
    elif not state & (_HIDDEN | _INVISIBLE):
        if element & (BLOCK | PARAGRAPH):
            end_line(pen, 2 if element & PARAGRAPH else 1)
        if element & BOX:
            pen[SPACE], pen[FRESH] = 0, 0
    if element & ROWS:
        around |= state & _AFTER_ROW
    return around


@kernel
def visible_text(
    data: ConstBytes,
    keys: ConstUint64s,
    elements: ConstInt64s,
    out: Bytes,
) -> int:
    """Write the text of a page as a browser would show it without style sheets.

    Parameters
    ----------
    data
        The page, as a serialiser writes it, in UTF-8.
    keys, elements
        A table of names (``markup.key_of``, 0 for an empty slot) and what elements they are.
    out
        Room for as many bytes as the page has.

    Returns
    -------
    How many bytes were written.
    """
    n = len(data)
    pen = np.zeros(4, np.int64)
    pen[FRESH] = 1
    stack = np.empty(256, np.int64)
    depth: Int = 0
    state: Int = 0
    i: Int = 0
    while i < n:
        if data[i] != LESS:
            if state & _UNSEEN:
                i = find_byte(data, i, LESS)
            elif state & _PRE:
                i = write_as_is(data, i, out, pen)
            else:
                i = write(data, i, LESS, out, pen)
            continue
        if i + 1 >= n:
            break
        if data[i + 1] == BANG or data[i + 1] == QUESTION:
            i = _end_of_comment(data, i)
            continue
        if data[i + 1] == SLASH:
            i = find_byte(data, i, GREATER) + 1
            if depth:
                depth -= 1
                state = _leave(stack[depth], state, pen)
            continue
        name = i + 1
        key, name_stop = name_at(data, name)
        element = find_name(keys, elements, key)
        within = state & _INHERITED
        if state & _PRE_IN_CELLS:
            within |= _PRE
        is_html = True
        if state & _FOREIGN:
            is_html = False
            element, within = _foreign(data, name_stop, element, state, within)
        elif element & (SVG | MATH):
            is_html = False
            within |= _SVG if element & SVG else _MATH
        if state & _HIDDEN:
            element &= _SYNTAX
            i = find_byte(data, name_stop, GREATER) + 1
        else:
            if element & SELECT:
                within |= _SELECT
            elif element & OPTION:
                within &= ~_SELECT
            elif state & _SELECT:
                element &= _SYNTAX
            hides, is_open, said, i = _attributes(data, name_stop)
            i += 1
            if element & PRE:
                within |= _PRE
            elif element & UNBROKEN:
                within &= ~_PRE
            if element & ROWS:
                within |= state & _AFTER_ROW
            if element & DIALOG:
                hides = (hides & 1) | (0 if is_open else 1)
            if element & HIDDEN or (
                (element & UNDISPLAYED or (hides and is_html)) and not said & SHOWN
            ):
                within |= _HIDDEN
            if state & _MEANT:
                # A formula with notes shows its first part alone.
                within |= _HIDDEN if state & _SUMMED else 0
                state |= _SUMMED
            if element & SEMANTICS and not is_html:
                within |= _MEANT
            if state & _CLOSED:
                if element & SUMMARY and not state & _SUMMED:
                    state |= _SUMMED
                else:
                    within |= _HIDDEN
            if element & DETAILS and not is_open:
                within |= _CLOSED
            if state & _TOKEN:
                element |= BLOCK
            element, within = _styled(element, within, said)
            if element & (TABLE | ROWS | ROW) and within & _PRE:
                within ^= _PRE | _PRE_IN_CELLS
            if not within & (_HIDDEN | _INVISIBLE):
                state = _lay_out(element, state, out, pen)
            elif element & (BLOCK | PARAGRAPH) and not within & _HIDDEN:
                # It ends a line, though not that of the text.
                end_line(pen, 0)
        if element & RAW:
            stop = _raw_stop(data, i, element, name, name_stop)
            if not within & _UNSEEN:
                write_raw(data, i, stop, out, pen)
            i = stop
        if not element & VOID:
            if depth == len(stack):
                grown = np.empty(2 * depth, np.int64)
                for place in range(depth):
                    grown[place] = stack[place]
                stack = grown
            stack[depth] = element << _STATE_BITS | state
            depth += 1
            state = within
    return int(pen[BYTES])
