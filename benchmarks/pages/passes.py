"""Deduplicating pages, beside another version: ``python -m benchmarks.pages.passes OLD``.

OLD is another checkout of this repository. Makes a WARC file of articles, a third of which come
twice, edited and in other frames, and has both versions deduplicate it, in turn, by the main and by
the visible text, and write rows and JSON lines. Prints seconds of the processor, and how often the
text came out of a page. Both should be compiled to bytecode before.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring.environments import REPOSITORY
from benchmarks.measuring.markdown import table
from benchmarks.pages.made import WORDS

_MODES = {
    "main text": ["--main-text"],
    "visible text": [],
    "main text, as JSON lines": ["--main-text", "--format", "jsonl"],
    "visible text, as JSON lines": ["--format", "jsonl"],
}
# Says in the end how many texts came out of pages, and the processor's seconds.
_COUNTING = """
import resource, sys
from neardup.files.pages import html
count, take = 0, html.text_of_html
def counted(page, options):
    global count
    count += 1
    return take(page, options)
html.text_of_html = counted
from neardup.cli import main
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print("FOUND", count, used.ru_utime + used.ru_stime, file=sys.stderr)
"""


def article(seed: int, *, is_edited: bool) -> str:
    """Return the paragraphs of an article, or of one that differs from it in a word of each."""
    drawn = random.Random(seed)
    words = WORDS["en"].split()
    made = [f"{drawn.choice(words)}{drawn.randint(0, 400)}" for _ in range(200)]
    paragraphs = (" ".join(drawn.choices(made, k=60)) for _ in range(drawn.randint(3, 12)))
    if is_edited:
        paragraphs = (f"{paragraph} edited" for paragraph in paragraphs)
    return "".join(f"<p>{paragraph}.</p>\n" for paragraph in paragraphs)


def framed(text: str, seed: int) -> bytes:
    """Put an article into the frame of a site, of which there are as many as seeds."""
    drawn = random.Random(seed)
    words = WORDS["en"].split()
    links = "".join(
        f'<li><a href="/{i}">{" ".join(drawn.choices(words, k=3))}</a></li>'
        for i in range(drawn.randint(10, 60))
    )
    script = f"<script>{'var a = [1, 2, 3]; ' * drawn.randint(10, 400)}</script>"
    return (
        f"<!DOCTYPE html><html><head><title>{drawn.choice(words)}</title>{script}</head><body>"
        f"<nav><ul>{links}</ul></nav><main><article>{text}</article></main>"
        f"<aside>{' '.join(drawn.choices(words, k=40))}</aside><footer>{links}</footer>"
        "</body></html>"
    ).encode()


def write_pages(path: Path, number: int) -> None:
    """Write a WARC file of so many pages."""
    with path.open("wb") as file:
        for i in range(number):
            n_articles = number * 3 // 4
            page = framed(article(i % n_articles, is_edited=i >= n_articles), i)
            head = (
                f"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://made.test/{i}\r\n"
                f"Content-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"
            )
            file.write(gzip.compress(head.encode() + page + b"\r\n\r\n", 1))


def run(checkout: Path, pages: Path, options: list[str], folder: Path) -> tuple[int, float]:
    """Return how many texts a version has taken out of pages, and its seconds."""
    arguments = ["dedup", str(pages), "-o", str(folder / "out"), "--overwrite", *options]
    done = subprocess.run(
        [sys.executable, "-c", _COUNTING, *arguments],
        env=os.environ | {"PYTHONPATH": str(checkout / "src")},
        check=True,
        capture_output=True,
        text=True,
    )
    _, count, seconds = done.stderr.splitlines()[-1].split()
    return int(count), float(seconds)


def main() -> None:
    """Measure both versions and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("old", type=Path, help="folder of the other checkout")
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        pages = Path(name, "pages.warc.gz")
        write_pages(pages, options.pages)
        for mode, given in _MODES.items():
            found = [
                [run(version, pages, given, Path(name)) for version in (options.old, REPOSITORY)]
                for _ in range(options.rounds)
            ]
            (old_count, _), (count, _) = found[0]
            old, new = (statistics.median(each[i][1] for each in found) for i in range(2))
            per_page = (round(each / options.pages, 2) for each in (old_count, count))
            rows.append((mode, *per_page, round(old, 2), round(new, 2), round(old / new, 2)))
    header = ("text", "times a page, old", "new", "CPU s, old", "new", "times as fast")
    sys.stdout.write(table(header, rows))


if __name__ == "__main__":
    main()
