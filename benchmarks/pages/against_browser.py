"""Visible text beside a browser's: ``python -m benchmarks.pages.against_browser FOLDER...``.

Takes pages made up by seeds and pages of documentation below some folders, and writes what share of
words is equal to ``results.json`` and ``docs/pages.md``; ``--show`` prints where pages differ.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from pathlib import Path
from typing import Any

from benchmarks.measuring.environments import REPOSITORY
from benchmarks.measuring.markdown import replace_between, table
from benchmarks.pages.browser import shown_texts
from benchmarks.pages.made import made_page
from neardup.errors import NeardupError
from neardup.files.extracted import UnreadableFileError
from neardup.files.pages.encoding import page_in_utf8
from neardup.files.pages.visible_text import visible_text

RESULTS = Path(__file__).with_name("results.json")
PAGE = REPOSITORY / "docs" / "pages.md"
HEADER = ("pages", "number", "style sheets", "words", "equal words", "pages of equal words")
_LEAST_BYTES, _MOST_BYTES = 2_000, 300_000
# So that no manual of thousands of pages alike has most of the sample.
_MOST_OF_A_FOLDER = 3


@dataclass(frozen=True)
class Sample:
    """Pages with the folders that they are in."""

    name: str
    pages: list[bytes]
    folders: list[Path] | None = None


def made_pages(number: int) -> Sample:
    """Return pages made up by seeds."""
    return Sample("made up", [made_page(seed) for seed in range(number)])


def documentation(
    folders: Iterable[str], number: int, of_a_folder: int = _MOST_OF_A_FOLDER
) -> Sample:
    """Draw pages from below some folders by a seed, few of each folder."""
    found = sorted(
        path
        for folder in folders
        for path in Path(folder).rglob("*.htm*")
        if path.is_file() and _LEAST_BYTES <= path.stat().st_size <= _MOST_BYTES
    )
    random.Random(1).shuffle(found)
    taken: list[Path] = []
    counts: dict[Path, int] = {}
    for path in found:
        if len(taken) < number and counts.get(path.parent, 0) < of_a_folder:
            try:
                page_in_utf8(path.read_bytes())
            except (NeardupError, UnreadableFileError):
                continue
            counts[path.parent] = counts.get(path.parent, 0) + 1
            taken.append(path)
    pages = [path.read_bytes() for path in taken]
    return Sample("documentation", pages, [path.parent for path in taken])


def equal_words(ours: str, theirs: str) -> tuple[int, int]:
    """Return how many words of two texts are equal, in order, and how many the longer one has."""
    a, b = ours.split(), theirs.split()
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks), max(len(a), len(b))


def compare(sample: Sample, *, with_styles: bool, show: bool) -> dict[str, Any]:
    """Compare the texts of a sample with what a browser shows, with style sheets or without."""
    pages = [page_in_utf8(page) for page in sample.pages]
    folders = sample.folders if with_styles else None
    decoded = [page.decode() for page in pages]
    shown = shown_texts(decoded, with_styles=with_styles, folders=folders)
    n_equal = n_words = n_pages_equal = n_texts_equal = 0
    for number, (page, theirs) in enumerate(zip(pages, shown, strict=True)):
        ours = visible_text(page)
        equal, words = equal_words(ours, theirs)
        n_equal += equal
        n_words += words
        n_pages_equal += equal == words
        n_texts_equal += ours == theirs
        if show and equal < words:
            print(f"== {sample.name} {number}: {equal} of {words} words")
            lines = unified_diff(theirs.split("\n"), ours.split("\n"), "browser", "neardup", n=0)
            print(*list(lines)[:12], sep="\n")
    return {
        "pages": sample.name,
        "style_sheets": with_styles,
        "n_pages": len(pages),
        "n_words": n_words,
        "equal_words": n_equal / max(1, n_words),
        "pages_of_equal_words": n_pages_equal,
        "pages_equal_in_each_character": n_texts_equal,
    }


def lay_out(found: list[dict[str, Any]]) -> str:
    """Lay out the share of words that is equal to a browser's."""
    rows = [
        (
            row["pages"],
            row["n_pages"],
            "read by the browser" if row["style_sheets"] else "none",
            row["n_words"],
            f"{row['equal_words']:.2%}",
            row["pages_of_equal_words"],
        )
        for row in found
    ]
    return table(HEADER, rows)


def main() -> None:
    """Compare, and write down what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", help="folders with documentation in HTML")
    parser.add_argument("--pages", type=int, default=200, help="half of them made up")
    parser.add_argument("--show", action="store_true", help="print where pages differ")
    options = parser.parse_args()
    half = options.pages // 2
    samples = [made_pages(half), documentation(options.folders, options.pages - half)]
    found = [
        compare(sample, with_styles=with_styles, show=options.show)
        for sample in samples
        for with_styles in (False, True)
    ]
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    replace_between(PAGE, "browser", lay_out(found))


if __name__ == "__main__":
    main()
