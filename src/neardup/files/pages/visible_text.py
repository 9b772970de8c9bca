"""The visible text of a page: what a browser shows of it without its style sheets.

A parser that follows the HTML standard makes a tree of whatever the page is, and writes it down
again well-formed; a kernel takes the text out of that in one pass.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import numpy as np

from neardup.errors import MissingExtraError
from neardup.files.extracted import UnreadableFileError
from neardup.tables import Int64s, Uint64s

MAX_PAGE_BYTES = 1 << 26
"""A longer page is refused: a parser needs up to a hundred times as much memory."""

MAX_ELEMENTS = 1 << 21
"""Most elements of a page; a parser makes 150 to 400 bytes of each, so up to 800 MB of all."""

# No page of this length keeps a parser busy for a second, or needs 100 MB.
_HARMLESS_BYTES = 1 << 14

# Steps of a parser, of which it does some 300 million a second: at least, and for each byte.
_LEAST_STEPS, _STEPS_PER_BYTE = 300_000_000, 100

_BLOCKS = """address article aside blockquote body center dd details dialog dir div dl dt fieldset
figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing
main menu nav ol optgroup option plaintext pre search section summary table ul xmp caption"""
# What shows no text of its own, and what is hidden unless its own style displays it.
_HIDDEN = "audio canvas iframe meter noscript progress template textarea video"
_UNDISPLAYED = """area base basefont datalist head link meta noembed noframes param rp script style
title"""
_VOID = """area base basefont bgsound br col embed frame hr img input keygen link meta param source
track wbr"""
_RAW = "iframe noembed noframes noscript script style xmp plaintext"


def _combined(listed: dict[int, str]) -> dict[str, int]:
    """Return all kinds together of each name, of lists of names by kind."""
    found: dict[str, int] = {}
    for kind, names in listed.items():
        for name in names.split():
            found[name] = found.get(name, 0) | kind
    return found


def _element_kinds() -> dict[str, int]:
    """Return what each element is, of those that are something special."""
    from neardup.kernels.file import visible_text as kinds

    listed = {
        kinds.BLOCK: _BLOCKS,
        kinds.HIDDEN: _HIDDEN,
        kinds.UNDISPLAYED: _UNDISPLAYED,
        kinds.VOID: _VOID,
        kinds.RAW: _RAW,
        kinds.PARAGRAPH: "p",
        kinds.CELL: "td th",
        kinds.ROW: "tr",
        kinds.ROWS: "thead tbody tfoot",
        kinds.TABLE: "table",
        kinds.PRE: "pre listing xmp plaintext",
        kinds.UNBROKEN: "nobr option select",
        kinds.SCRIPT: "script",
        kinds.PLAIN: "plaintext",
        kinds.BREAK: "br",
        kinds.BOX: "button marquee",
        kinds.DETAILS: "details",
        kinds.SUMMARY: "summary",
        kinds.DIALOG: "dialog",
        kinds.SVG: "svg",
        kinds.FOREIGN: "foreignobject",
        kinds.SVG_TEXT: "text",
        kinds.SVG_PART: "a g switch",
        kinds.SVG_SPAN: "a tspan textpath",
        kinds.SVG_NOTE: "desc title",
        kinds.MATH: "math",
        kinds.MATH_TOKEN: "mi mn mo ms mtext",
        kinds.ANNOTATION: "annotation annotation-xml",
        kinds.SEMANTICS: "semantics",
        kinds.SELECT: "select optgroup",
        kinds.OPTION: "option",
    }
    return _combined(listed)


def _parsed_kinds() -> dict[str, int]:
    """Return what each element is to a parser, of those that are something special."""
    from neardup.kernels.file import markup as kinds

    # The next of its kind, or a cell or row, ends each of these.
    ended = "body caption colgroup dd dt head html li option p tbody td tfoot th thead tr"
    breaking = """b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head
    hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u
    ul var"""
    return _combined(
        {
            kinds.FORMATTING: "a b big code em font i nobr s small strike strong tt u",
            kinds.FLAT: f"{_VOID} {ended}",
            kinds.RAW: _RAW + " textarea title",
            kinds.SCRIPT: "script",
            kinds.PLAIN: "plaintext",
            kinds.FOREIGN: "svg math",
            kinds.HOLDS_HTML: "foreignobject desc title mi mo mn ms mtext annotation-xml",
            kinds.ENDS_FOREIGN: breaking,
            kinds.MAY_END_FOREIGN: "font",
            kinds.CHOICE: "select",
            kinds.FRAMES: "frameset",
            kinds.TEMPLATE: "template",
            kinds.COLUMN: "col colgroup",
        }
    )


@cache
def _tables() -> tuple[tuple[Uint64s, Int64s], ...]:
    from neardup.kernels.file.markup import key_of, name_table

    return tuple(
        name_table({key_of(name): kind for name, kind in kinds.items()})
        for kinds in (_element_kinds(), _parsed_kinds())
    )


def need_parser(*, main_text: bool = False) -> None:
    """Raise MissingExtraError if what takes the text out of pages is not installed."""
    packages = ["selectolax", *(["trafilatura"] if main_text else [])]
    if any(find_spec(package) is None for package in packages):
        raise MissingExtraError("pages", "text of HTML")


def check_page(page: bytes) -> None:
    """Check that a page can be parsed in little time and memory."""
    from neardup.kernels.file.markup import page_cost

    if len(page) <= _HARMLESS_BYTES:
        return
    if len(page) > MAX_PAGE_BYTES:
        message = f"the page is longer than {MAX_PAGE_BYTES >> 20} MB; leave it out"
        raise UnreadableFileError(message)
    most_steps = max(_LEAST_STEPS, _STEPS_PER_BYTE * len(page))
    data = np.frombuffer(page, np.uint8)
    steps, elements, deepest = page_cost(data, *_tables()[1], most_steps)
    if elements > MAX_ELEMENTS:
        message = f"the page would have more than {MAX_ELEMENTS:,} elements; leave it out"
        raise UnreadableFileError(message)
    if steps >= most_steps:
        message = (
            f"the page has elements {deepest:,} deep in others, or a tag with too many attributes, "
            "which would take a parser minutes; leave it out"
        )
        raise UnreadableFileError(message)


def well_formed(page: bytes) -> str:
    """Return a page in UTF-8 as a parser has understood it, from its outermost element on."""
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    check_page(page)
    parser = LexborHTMLParser(page, scripting=True, options=LexborDocumentOptions.WO_EVENTS.value)
    root = parser.root
    return "" if root is None else root.html or ""


def visible_text(page: bytes) -> str:
    """Return the visible text of a page in UTF-8."""
    from neardup.kernels.file import visible_text as kernel

    data = np.frombuffer(well_formed(page).encode(), np.uint8)
    out = np.empty(len(data) + 2, np.uint8)
    count = kernel.visible_text(data, *_tables()[0], out)
    return out[:count].tobytes().decode()
