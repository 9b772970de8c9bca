"""Links of all pages lead somewhere, and the reference has every public name."""

from __future__ import annotations

import re

import neardup
from tests.docs.pages import BENCHMARKS, DOCS, ROOT, links, page
from tests.each import each_of

OTHERS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")
PAGES = [*(ROOT / name for name in OTHERS), *DOCS, *BENCHMARKS]


def anchors(text: str) -> set[str]:
    """Give the anchors of headings as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?s)```.*?```", "", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_of("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links__lead_somewhere(path):
    for link in links(path.read_text(encoding="utf-8")):
        if re.match(r"https?://", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_python_reference__has_every_public_name():
    text = page("docs/api.md")
    described = set(re.findall(r"(?m)^\.\. auto(?:function|class):: neardup\.(\w+)$", text))
    errors = {name for name in neardup.__all__ if hasattr(neardup.errors, name)}
    assert described == set(neardup.__all__) - errors - {"__version__", "types"}
    types = set(re.findall(r"(?m)^\.\. autoclass:: neardup\.types\.(\w+)$", text))
    classes = {
        each for each in dir(neardup.types) if isinstance(getattr(neardup.types, each), type)
    }
    assert types == classes
    assert ".. automodule:: neardup.errors\n   :members:" in text
