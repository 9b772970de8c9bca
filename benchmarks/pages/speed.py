"""Speed of visible text: ``python -m benchmarks.pages.speed FOLDER...``, on one core.

Reads pages of documentation below some folders into memory, makes as many up, and takes the text of
all of them, in several passes of which the median counts. Seconds are of the processor, because the
machine is shared. Writes ``results.json`` and prints.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import numpy as np

from benchmarks.measuring.results import machine_facts
from benchmarks.pages.against_browser import RESULTS, documentation, made_pages
from neardup.files.pages.encoding import page_in_utf8
from neardup.files.pages.html import main_text
from neardup.files.pages.visible_text import check_page, visible_text, well_formed

_MAIN_PAGES = 20


def stages(pages: list[bytes]) -> dict[str, float]:
    """Take the text of pages; return the seconds of the whole and of its stages."""
    start = time.process_time()
    for page in pages:
        visible_text(page_in_utf8(page))
    seconds = {"visible text": time.process_time() - start}
    start = time.process_time()
    for page in pages:
        check_page(page)
    seconds["of it: check that it can be parsed"] = time.process_time() - start
    start = time.process_time()
    for page in pages:
        well_formed(page)
    seconds["of it: check, parse, write well-formed"] = time.process_time() - start
    return seconds


def measure(name: str, pages: list[bytes], passes: int) -> list[dict[str, object]]:
    """Return the speed of each stage on some pages."""
    stages(pages)
    n_bytes = sum(map(len, pages))
    found = [stages(pages) for _ in range(passes)]
    rows: list[dict[str, object]] = []
    for stage in found[0]:
        speeds = [n_bytes / one[stage] / 1e6 for one in found]
        rows.append(
            {
                "pages": name,
                "work": stage,
                "n_pages": len(pages),
                "n_bytes": n_bytes,
                "mb_per_second": statistics.median(speeds),
                "best": max(speeds),
            }
        )
    some = pages[:_MAIN_PAGES]
    start = time.process_time()
    for page in some:
        main_text(page)
    speed = sum(map(len, some)) / (time.process_time() - start) / 1e6
    rows.append(
        {"pages": name, "work": "main text", "n_pages": len(some), "mb_per_second": speed}
        | {"n_bytes": sum(map(len, some)), "best": speed}
    )
    return rows


def main() -> None:
    """Measure, and write down what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", help="folders with documentation in HTML")
    parser.add_argument("--pages", type=int, default=1000, help="of each kind")
    parser.add_argument("--passes", type=int, default=5)
    options = parser.parse_args()
    samples = [
        documentation(options.folders, options.pages, of_a_folder=100),
        made_pages(options.pages),
    ]
    rows = [row for one in samples for row in measure(one.name, one.pages, options.passes)]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results["speed"] = {"machine": machine_facts(), "numpy": np.__version__, "rows": rows}
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
