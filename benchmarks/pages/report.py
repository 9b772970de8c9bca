"""Tables of ``results.json`` for ``docs/pages.md``: ``python -m benchmarks.pages.report``."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.measuring.environments import REPOSITORY
from benchmarks.measuring.markdown import replace_between, table
from benchmarks.pages.against_browser import RESULTS

PAGE = REPOSITORY / "docs" / "pages.md"


def browser_table(rows: list[dict[str, Any]]) -> str:
    """Lay out what share of words is equal to a browser's."""
    header = ["pages", "number", "style sheets", "words", "equal words", "pages of equal words"]
    return table(
        header,
        [
            [
                row["pages"],
                row["n_pages"],
                "read by the browser" if row["style_sheets"] else "none",
                row["n_words"],
                f"{row['equal_words']:.2%}",
                row["pages_of_equal_words"],
            ]
            for row in rows
        ],
    )


def speed_table(rows: list[dict[str, Any]]) -> str:
    """Lay out how fast text is taken."""
    header = ["pages", "work", "number", "kB a page", "MB/s, median", "MB/s, best pass"]
    return table(
        header,
        [
            [
                row["pages"],
                row["work"],
                row["n_pages"],
                row["n_bytes"] / row["n_pages"] / 1000,
                row["mb_per_second"],
                row["best"],
            ]
            for row in rows
        ],
    )


def main() -> None:
    """Write both tables."""
    results = json.loads(RESULTS.read_text())
    replace_between(PAGE, "browser", browser_table(results["browser"]))
    replace_between(PAGE, "speed", speed_table(results["speed"]["rows"]))


if __name__ == "__main__":
    main()
