"""The citation and the changelog name the version, the papers and the formats."""

from __future__ import annotations

import re

import neardup
from neardup.index.store import FORMAT
from neardup.sketches.kind import FORMAT_VERSION
from neardup.text.shingles import HASH_VERSION
from tests.docs.pages import page, tables


def test_citation__names_the_version_and_the_papers():
    text = page("CITATION.cff")
    assert f"\nversion: {neardup.__version__}\n" in text
    titles = re.findall(r"(?m)^    title: \"?(.*?)\"?$", text)
    assert len(titles) == 5
    of_papers = (
        "Near-duplicate text alignment under weighted Jaccard similarity",
        "Efficient similarity joins for near duplicate detection",
        "A fast metric of document similarity",
        "On the resemblance and containment of documents",
    )
    shown = " ".join(page("docs/papers.md").split())
    for title in of_papers:
        assert title in titles
        assert title.lower() in shown.lower()


def test_changelog__names_the_version_and_the_formats():
    text = page("CHANGELOG.md")
    assert re.findall(r"(?m)^## (.*)$", text) == [neardup.__version__]
    [rows] = tables("CHANGELOG.md", "What is stable, and what may change")
    versions = {re.sub(r"\[(.*?)\]\(.*?\)", r"\1", row[0]): row[1] for row in rows}
    assert versions["indexes"] == str(FORMAT)
    assert versions["sketches"] == str(FORMAT_VERSION)
    assert versions["hashes"] == str(HASH_VERSION)
