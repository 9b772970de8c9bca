"""A finished report: one page of HTML, shown in a notebook or written to a file."""

from __future__ import annotations

from html import escape
from pathlib import Path

from neardup.outputs.compare_page import write_page
from neardup.outputs.targets import target_of


class Report:
    """A page that shows what was found and why, in one file that needs nothing else.

    It is small enough to be passed on: it loads nothing, asks nothing of any address, and shows
    texts as text, whatever they hold. The same results give the same page, byte for byte.

    Parameters
    ----------
    html
        The page.
    headline
        What it says first, as one line.
    """

    def __init__(self, html: str, headline: str) -> None:
        self.html = html
        self.headline = headline

    def __repr__(self) -> str:
        """Return the class and the headline."""
        return f"Report({self.headline})"

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, for a notebook."""
        # Scripts run, but see nothing of the notebook: the frame has an origin of its own.
        return (
            '<iframe sandbox="allow-scripts" width="100%" height="640" '
            f'title="{escape(self.headline)}" srcdoc="{escape(self.html)}"></iframe>'
        )

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page to a file or URL that ends in .html or .htm.

        Raises
        ------
        InvalidParameterError, OutputExistsError, WriteError
            If the ending is another, the file exists, or it cannot be written.
        """
        write_page(self.html, target_of(path), overwrite=overwrite)
