"""The visible text of a page, by the steps of ``innerText`` in the HTML standard, on a tree.

Style sheets do not count, as in neardup, and images leave no gap. Pages are well-formed, as a
serialiser writes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "img", "input", "hr", "wbr"}
HIDDEN = {"noscript", "template", "textarea"}
# Hidden, unless their own style displays them.
UNDISPLAYED = {"script", "style", "head", "title", "rp"}
BLOCKS = {"body", "div", "ul", "li", "pre", "h1", "hr", "table", "option", "details", "summary"}
COLLAPSIBLE = " \t\n\r"


@dataclass
class Node:
    """An element; children are such, or texts."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)


class _Builder(HTMLParser):
    CDATA_CONTENT_ELEMENTS = ("script", "style")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("root")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().name == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


# Items: a character with whether its white space is kept, a number of line ends that are required,
# or a tab or line end as such. A box begins and ends with itself.
Item = tuple[str, str | int | bool]


def _declared(node: Node, name: str) -> str:
    found = [
        value.strip()
        for declaration in node.attributes.get("style", "").split(";")
        for key, _, value in [declaration.partition(":")]
        if key.strip() == name
    ]
    return found[-1] if found else ""


def _is_rendered(node: Node) -> bool:
    display = _declared(node, "display")
    if node.name in UNDISPLAYED or "hidden" in node.attributes:
        return display not in ("", "none") and node.name not in HIDDEN
    return node.name not in HIDDEN and display != "none"


def _rendered_children(node: Node) -> list[Node | str]:
    children = [child for child in node.children if isinstance(child, str) or _is_rendered(child)]
    if node.name != "details" or "open" in node.attributes:
        return children
    return [c for c in node.children if isinstance(c, Node) and c.name == "summary"][:1]


def _items(node: Node, keeps: bool) -> list[Item]:
    space = _declared(node, "white-space")
    keeps = space == "pre" if space else keeps or node.name == "pre"
    children = [
        child for child in _rendered_children(node) if isinstance(child, str) or _is_rendered(child)
    ]
    items: list[Item] = []
    for place, child in enumerate(children):
        if isinstance(child, str):
            if node.name in ("table", "tbody", "tr"):
                # White space between cells is none of a line.
                items += [("text", character) for character in child]
                continue
            items += [("kept" if keeps else "text", character) for character in child]
            continue
        items += _items(child, keeps)
        later = [c.name for c in children[place + 1 :] if isinstance(c, Node)]
        if child.name in ("td", "th"):
            items.append(("cell", "\t" if {"td", "th"} & set(later) else ""))
        if child.name == "tr":
            items.append(("cell", "\n" if "tr" in later else ""))
    display = _declared(node, "display")
    is_block = display == "block" or (node.name in BLOCKS and display != "inline")
    if node.name == "br":
        items.append(("literal", "\n"))
    if node.name in ("td", "th", "tr"):
        items = [("edge", ""), *items]
    if node.name == "button":
        items = [("box", "start"), *items, ("box", "end")]
    if node.name == "p" or is_block:
        required: Item = ("required", 2 if node.name == "p" else 1)
        items = [required, *items, required]
    return items


def visible_text(page: str) -> str:
    """Return what a reader sees of a page."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert builder.open == [builder.root]
    written = ""
    required = 0
    has_space, is_fresh = False, True
    for kind, value in _items(builder.root, False):
        if kind == "required":
            assert isinstance(value, int)
            required = max(required, value)
            has_space, is_fresh = False, True
        elif kind == "edge" or (kind == "cell" and not value):
            has_space, is_fresh = False, True
        elif kind == "text" and str(value) in COLLAPSIBLE:
            has_space = True
        elif kind == "box":
            # One without text ends no line, and is no text.
            written += " " if value == "start" and has_space and not is_fresh else ""
            has_space, is_fresh = False, value == "start"
        else:
            written += "\n" * required if written else ""
            required = 0
            if kind in ("cell", "literal"):
                written += str(value)
                has_space, is_fresh = False, True
                continue
            if has_space and not is_fresh:
                written += " "
            has_space = False
            is_fresh = kind == "kept" and value == "\n"
            written += str(value)
    return written


def words(text: str) -> list[str]:
    """Return what white space parts."""
    return re.findall(r"\S+", text)
