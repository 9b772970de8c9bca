"""The text of a page that a reader sees."""

from __future__ import annotations

from html.parser import HTMLParser

HIDDEN = frozenset(("script", "style", "head", "title", "template", "noscript"))
INLINE = frozenset(("a", "abbr", "b", "code", "em", "i", "span", "strong", "sub", "sup", "wbr"))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in HIDDEN
        if tag not in INLINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in HIDDEN
        if tag not in INLINE:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


def visible_text(page: str) -> str:
    """Return the text of a page."""
    reader = _Reader()
    reader.feed(page)
    return "".join(reader.parts)
