"""Links of all pages lead somewhere."""

from __future__ import annotations

import re

from tests.docs.pages import BENCHMARKS, DOCS, ROOT, links
from tests.each import each_of

OTHERS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")
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
