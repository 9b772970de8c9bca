"""Makes the pictures of the README from pages of the gallery: python -m docs.gallery.pictures.

It needs the group ``browser`` of dependencies.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from docs.gallery.make import HERE, unpack
from tests.browser.browse import see_page


@dataclass(frozen=True)
class Picture:
    """A part of a page: what is scrolled to the top, in a window of so many pixels.

    ``before`` is a script that is run first.
    """

    page: str
    top: str
    height: int
    before: str = "0"


# The manuscript beside the revised edition, from their passage on.
_WITH_MANUSCRIPT = """(() => {
  const pairs = document.getElementById('reading-pair');
  pairs.selectedIndex = [...pairs.options].findIndex((e) => /1831.*manuscript/.test(e.text));
  pairs.dispatchEvent(new Event('change'));
  document.getElementById('reading-next').click();
})()"""

PICTURES = {
    "dedup": Picture("licences", "#similarities", 940),
    "passages": Picture("frankenstein", "#reading", 700, _WITH_MANUSCRIPT),
}
WIDTH = 1000


def make_picture(name: str, folder: Path = HERE) -> Path:
    """Make a picture, and return where it is."""
    wanted = PICTURES[name]
    # Twice, because a page may do something when it is scrolled.
    scroll = f"document.querySelector('{wanted.top}').scrollIntoView({{ behavior: 'instant' }})"
    path = folder / f"{name}.png"
    see_page(
        unpack(wanted.page),
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
