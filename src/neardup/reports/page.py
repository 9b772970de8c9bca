"""Pages of HTML that need nothing else: filled in from templates, and shut by a strict policy."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache, partial
from html import escape
from itertools import accumulate, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from markupsafe import Markup

from neardup.outputs.table_files import check_file, write_file
from neardup.outputs.targets import Target, target_of

if TYPE_CHECKING:
    from jinja2 import Environment

    from neardup.reports.differences import Example

# A finished report: one page of HTML, shown in a notebook or written to a file.

# How notebooks say that they are dark or light: Jupyter and what builds on it, VS Code, Colab.
_THEMES = "".join(
    f":is({hosts}) .neardup-page {{ color-scheme: {scheme}; }}"
    for hosts, scheme in (
        ('[data-jp-theme-light="true"], .vscode-light, html[theme="light"]', "light"),
        ('[data-jp-theme-light="false"], .vscode-dark, html[theme="dark"]', "dark"),
    )
)

PAGE_SUFFIXES = (".html", ".htm")


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
    notes
        What whoever made it should know before it is opened, a line each.
    examples
        The examples of the page, for ``to_text``.
    """

    def __init__(
        self,
        html: str,
        headline: str,
        notes: Sequence[str] = (),
        examples: Sequence[Example] = (),
    ) -> None:
        self.html = html
        self.headline = headline
        self.notes = tuple(notes)
        self.examples = tuple(examples)

    def __repr__(self) -> str:
        """Return the class and the headline."""
        return f"Report({self.headline})"

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, for a notebook."""
        # Scripts run, but see nothing of the notebook: the frame has an origin of its own. A page
        # follows the colour scheme of its frame, and that the theme of the notebook.
        return (
            f"<style>{_THEMES}</style>"
            '<iframe class="neardup-page" sandbox="allow-scripts" width="100%" height="640" '
            f'title="{escape(self.headline)}" srcdoc="{escape(self.html)}"></iframe>'
        )

    def to_text(self) -> str:
        """Return the headline and the examples of the page as plain text."""
        from neardup.reports.as_text import example_lines

        lines = [self.headline, *self.notes]
        for each in self.examples:
            lines += ["", *example_lines(each)]
        return "\n".join(lines)

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page to a file or URL that ends in .html or .htm.

        Raises
        ------
        InvalidParameterError, OutputExistsError, WriteError
            If the ending is another, the file exists, or it cannot be written.
        """
        write_page(self.html, target_of(path), overwrite=overwrite)


def check_page_file(target: Target, *, overwrite: bool) -> None:
    """Make sure, before work starts, that a page may be written to a file."""
    check_file(target, PAGE_SUFFIXES, overwrite=overwrite)


def write_page(page: str, target: Target, *, overwrite: bool = False) -> None:
    """Write a page to a file, which appears when it is complete."""
    check_page_file(target, overwrite=overwrite)
    write_file(target, lambda new: new.write_text(page))


# Templates, and what goes into them: text that is nothing but text, data for scripts.

STYLES, SCRIPTS = ("page.css", "charts.css"), ("page.js",)
"""Of all reports; those of one kind follow."""

_REPORTS = "neardup.reports"

# What HTML cannot hold, or a reader would not see, is shown by its picture. A carriage return
# would become a newline, if it were not escaped.
_SHOWN = {code: chr(0x2400 + code) for code in range(32)} | {127: "\u2421", 13: "&#13;"}
_SHOWN |= {ord(c): c for c in "\t\n"} | {ord(c): escape(c) for c in "&<>\"'"}
# What would end a block of data, or a line of a script, written so that it does not.
_IN_DATA = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render_page(
    template: str,
    *,
    title: str,
    styles: Sequence[str] = STYLES,
    scripts: Sequence[str] = SCRIPTS,
    **values: Any,
) -> str:
    """Fill in a template of ``reports/templates`` that extends ``shell.html``.

    Parameters
    ----------
    template
        Name of its file.
    title
        Of the page.
    styles, scripts
        Names of files of templates.
    values
        What the template needs; of those that extend ``base.html``, ``contents`` are the sections
        that the page is entered by: id, title and, of those that may not be there, whether they
        are. Strings are escaped, and characters that HTML cannot hold or nobody would see are shown
        by their pictures; ``Markup`` goes in as it is.

    Returns
    -------
    The page. Its policy obeys its own style sheet and script, by their digests, and nothing else:
    no address, no attribute of style, no handler. The same values give the same page.
    """
    for name, files in (("style", styles), ("script", scripts)):
        source = "".join(map(source_of, files))
        digest = b64encode(hashlib.sha256(source.encode()).digest()).decode()
        values |= {name: Markup(source), f"{name}_digest": f"sha256-{digest}"}
    return templates_of(_REPORTS).get_template(template).render(title=title, **values)


@cache
def templates_of(package: str) -> Environment:
    """Return the templates of a package; whatever goes into them is escaped and shown."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # What is not text, or is markup, is left.
        finalize=lambda value: Markup(escape_text(value)) if type(value) is str else value,
    )
    environment.filters["counted"] = "{:,}".format
    environment.filters["similarity"] = "{:.4f}".format
    # A line must not end before the sign.
    environment.filters["percent"] = lambda share: percent(share).replace(" %", "\u00a0%")
    environment.filters["shortened"] = partial(shortened, most=MOST_OF_NAME)
    environment.tests["figure"] = is_figure
    return environment


@cache
def source_of(name: str, package: str = _REPORTS) -> str:
    """Return a style sheet or a script of the templates of a package as it is."""
    environment = templates_of(package)
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def escape_text(text: str) -> str:
    """Write text so that it is nothing but text, whatever it holds."""
    return _whole(text).translate(_SHOWN)


def data_block(name: str, value: object) -> Markup:
    """Return data for a script of the page, which finds it as JSON in the element of that id."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup('<script type="application/json" id="{}">{}</script>\n').format(
        name, Markup(_whole(text).translate(_IN_DATA))
    )


def _whole(text: str) -> str:
    """Replace halves of surrogate pairs, which cannot be written as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# How names and figures are written.

MOST_OF_NAME = 120
"""Characters of an id or a name within headings and tables."""

# 1,234, 0.85, 12 to 15, above 99.9 %, 3.4 MB.
_FIGURE = re.compile(r"(above |below )?[\d.,]+( to [\d.,]+)?(\s?%|\s[kMG]?B)?")


def shortened(text: str, most: int = MOST_OF_NAME) -> str:
    """Return a label of so many characters at most; the middle of a longer one is left out.

    Characters that are drawn wide, such as those of Chinese, count as two.
    """
    if _width(text) <= most:
        return text
    tail = _as_wide_as(text[::-1], (most - 1) // 2)
    head = _as_wide_as(text, most - 1 - _width(tail))
    return f"{head}…{tail[::-1]}"


def _width(text: str) -> int:
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _as_wide_as(text: str, most: int) -> str:
    """Return the beginning of a text that is so wide at most."""
    widths = accumulate(_width(c) for c in text)
    return "".join(c for c, width in zip(text, takewhile(most.__ge__, widths), strict=False))


def is_figure(cell: object) -> bool:
    """Return whether a cell of a table is a number, or written as one; ids may begin as one."""
    return isinstance(cell, int | float) or bool(_FIGURE.fullmatch(str(cell)))


def written(value: Any) -> str:
    """Write the value of an option."""
    if isinstance(value, list | tuple):
        return " and ".join(map(written, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)


def percent(share: float) -> str:
    """Write a share as a percentage that is 0 % or 100 % only if it is that exactly."""
    text = f"{100 * share:.1f}"
    if text == "0.0":
        return "0 %" if share == 0 else "below 0.1 %"
    if text == "100.0":
        return "100 %" if share == 1 else "above 99.9 %"
    return f"{text} %"
