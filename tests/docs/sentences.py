"""How long the sentences of pages are: ``python -m tests.docs.sentences [PAGE...]``.

Prints for each page how many sentences it has, the words of a sentence on average, and how many
have more than 25; of pages that are named, those sentences. Code, tables, what others have written,
parts that a program writes and links' targets do not count.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.docs.pages import BENCHMARKS, DOCS, PAPERS, ROOT

LONG = 25


def without_written_parts(text: str) -> str:
    """Blank the lines that a program writes, between the marks of a part."""
    part = re.compile(r"(?s)<!-- begin ([\w-]+) -->.*?<!-- end \1 -->")
    return part.sub(lambda found: "\n" * found[0].count("\n"), text)


def sentences(text: str) -> list[list[str]]:
    """Give the words of each sentence of a page."""
    text = without_written_parts(text)
    text = re.sub(r"(?sm)^ *```.*?^ *```$|<!--.*?-->", "\n\n", text)
    text = re.sub(r"(?m)^(\||#|>).*$", "\n\n", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    # What is between backticks is a word.
    text = re.sub(r"`[^`]*`", "code", text)
    # Blank lines and items of lists begin something new.
    parts = re.split(r"\n\s*\n|\n *(?:[-*]|\d+\.) ", text)
    found = [
        re.findall(r"[^\W_][\w'’.,%-]*", sentence)
        for part in parts
        for sentence in re.split(r"(?<=[.!?])[*\"”)]*\s+", " ".join(part.split()))
    ]
    return [words for words in found if len(words) > 1]


def mean(text: str) -> float:
    """Return the words of a sentence on average."""
    found = sentences(text)
    return sum(map(len, found)) / max(1, len(found))


def main(names: list[str]) -> None:
    """Print the pages, the worst first, or the long sentences of some."""
    if names:
        for name in names:
            for words in sentences(Path(name).read_text(encoding="utf-8")):
                if len(words) > LONG:
                    sys.stdout.write(f"{name}: {len(words)}: {' '.join(words)}\n")
        return
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    rows = []
    for path in [*pages, *DOCS, *PAPERS, *BENCHMARKS]:
        text = path.read_text(encoding="utf-8")
        found = sentences(text)
        too_long = sum(len(words) > LONG for words in found)
        rows.append((mean(text), len(found), too_long, str(path.relative_to(ROOT))))
    for average, count, too_long, name in sorted(rows, reverse=True):
        counts = f"{average:5.1f} words in {count:4} sentences, {too_long:3} of more than {LONG}"
        sys.stdout.write(f"{counts}: {name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
