"""Makes the picture of README.md: python -m docs.gallery.pictures.

It needs the group ``browser`` of dependencies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import neardup
from tests.browser.browse import see_page

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
WIDTH = 1000


@dataclass(frozen=True)
class Picture:
    """A part of a page: the element scrolled to the top, in a window of so many pixels.

    ``before`` is a script that is run first.
    """

    make: Callable[[], Any]
    top: str
    height: int
    before: str = "0"


def licences() -> Any:
    """Deduplicate licence texts, with an audit."""
    texts = EXAMPLES / "licences.jsonl.gz"
    return neardup.report(neardup.deduplicate(texts, threshold="0.9", id_column="id", audit=500))


PICTURES = {
    "dedup": Picture(licences, "#similarities", 940),
}


def make_picture(name: str, folder: Path = HERE) -> Path:
    """Make a picture, and return its path."""
    wanted = PICTURES[name]
    # Twice, because a page may do something when it is scrolled.
    scroll = f"document.querySelector('{wanted.top}').scrollIntoView({{ behavior: 'instant' }})"
    path = folder / f"{name}.png"
    with TemporaryDirectory() as own:
        page = Path(own) / f"{name}.html"
        page.write_text(wanted.make().html, encoding="utf-8", newline="\n")
        see_page(
            page,
            scroll,
            wanted.before,
            "new Promise((done) => setTimeout(done, 500))",
            scroll,
            width=WIDTH,
            height=wanted.height,
            picture=path,
        )
    return path


if __name__ == "__main__":
    for each in PICTURES:
        make_picture(each)
