"""Clusters of web pages: what is counted, and what pages are made up."""

from __future__ import annotations

import pytest

from benchmarks.papers.broder import web
from benchmarks.papers.broder.made_pages import make_pages
from tests.each import each_of


@pytest.mark.slow
@each_of(
    ("labels", "numbers", "expected"),
    [
        ([0, 0, 1], [0, 0, 1], (1, 2, 1, 2, 0, 0)),
        ([0, 0, 0, 1, 1], [0, 0, 1, 2, 2], (2, 5, 1, 2, 1, 3)),
        ([0, 1, 2], [0, 1, 2], (0, 0, 0, 0, 0, 0)),
        ([3, 3, 3, 3], [5, 6, 7, 8], (1, 4, 0, 0, 1, 4)),
    ],
)
def test_describe__counts_identical_and_mixed_clusters(labels, numbers, expected):
    found = web.describe(labels, numbers)
    names = ("clusters", "pages", "identical_clusters", "identical_pages")
    counts = tuple(found[name] for name in (*names, "mixed_clusters", "mixed_pages"))
    assert counts == expected


@pytest.mark.slow
def test_made_pages__are_alike_as_they_say():
    """Mirrors have the bytes, new designs the words, of the first page; the others neither."""
    pages = make_pages(60, 7)
    texts = [web.visible_text(page.html.encode()).split() for page in pages]
    first = {page.article: row for row, page in enumerate(pages) if page.origin == "first"}
    assert len(first) == 60
    for page, text in zip(pages, texts, strict=True):
        row = first[page.article]
        is_first = page.origin == "first"
        assert (page.html == pages[row].html) == (is_first or page.origin == "mirror")
        assert (text == texts[row]) == (is_first or page.origin in ("mirror", "other markup"))
    assert {page.origin for page in pages} == {
        *("first", "mirror", "other markup", "revised", "other site")
    }


@pytest.mark.slow
def test_clusters__of_texts_that_are_known():
    words = [f"w{number}" for number in range(400)]
    texts = [" ".join(own) for own in (words, words[:390], words[100:300], words[::-1])]
    # The second has all but ten of the words of the first, the third half of them and no more.
    for cluster in (web.exact_clusters, web.super_shingle_clusters):
        labels = cluster(texts)
        assert labels[0] == labels[1]
        assert labels[3] not in labels[:3]
    assert web.sketch_clusters(texts, kind="smallest", size=200) == [0, 0, 2, 3]
