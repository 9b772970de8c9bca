"""Pages of HTML that need nothing else: filled in from templates, and shut by a strict policy."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from neardup.outputs.compare_page import escape_text, write_page
from neardup.outputs.targets import target_of
from neardup.reports.charts import shortened

# A finished report: one page of HTML, shown in a notebook or written to a file.


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


MOST_OF_NAME = 120
"""Characters of an id or a name within headings and tables."""

# What would end a block of data, or a line of a script, written so that it does not.
_IN_DATA = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
# 1,234, 0.85, 12 to 15, above 99.9 %, 3.4 MB.
_FIGURE = re.compile(r"(above |below )?[\d.,]+( to [\d.,]+)?(\s?%|\s[kMG]?B)?")


def render_page(
    template: str,
    *,
    title: str,
    contents: Sequence[tuple[str, str]],
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    **values: Any,
) -> str:
    """Fill in a template of ``reports/templates`` that extends ``base.html``.

    Parameters
    ----------
    template
        Name of its file.
    title
        Of the page.
    contents
        The sections that the page is entered by: their ids and titles.
    styles, scripts
        Names of files of templates that follow ``page.css`` and ``page.js``.
    values
        What the template needs. Strings are escaped, and characters that HTML cannot hold or nobody
        would see are shown by their pictures; ``Markup`` goes in as it is.

    Returns
    -------
    The page. Its policy obeys its own style sheet and script, by their digests, and nothing else:
    no address, no attribute of style, no handler. The same values give the same page.
    """
    style = "".join(map(source_of, ("page.css", "charts.css", *styles)))
    script = "".join(map(source_of, ("page.js", *scripts)))
    return (
        _environment()
        .get_template(template)
        .render(
            title=title,
            contents=contents,
            style=Markup(style),
            style_digest=_digest(style),
            script=Markup(script),
            script_digest=_digest(script),
            **values,
        )
    )


def data_block(name: str, value: object) -> Markup:
    """Return data for a script of the page, which finds it as JSON in the element of that id."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Half of a surrogate pair cannot be written as UTF-8.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").translate(_IN_DATA)
    return Markup('<script type="application/json" id="{}">{}</script>\n').format(
        name, Markup(text)
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("neardup.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["counted"] = "{:,}".format
    environment.filters["similarity"] = "{:.4f}".format
    # A line must not end before the sign.
    environment.filters["percent"] = lambda share: percent(share).replace(" %", "\u00a0%")
    environment.tests["figure"] = is_figure
    environment.filters["shortened"] = partial(shortened, most=MOST_OF_NAME)
    return environment


def is_figure(cell: object) -> bool:
    """Return whether a cell of a table is a number, or written as one; ids may begin as one."""
    return isinstance(cell, int | float) or bool(_FIGURE.fullmatch(str(cell)))


def percent(share: float) -> str:
    """Write a share as a percentage that is 0 % or 100 % only if it is that exactly."""
    text = f"{100 * share:.1f}"
    if text == "0.0":
        return "0 %" if share == 0 else "below 0.1 %"
    if text == "100.0":
        return "100 %" if share == 1 else "above 99.9 %"
    return f"{text} %"


def _shown(value: object) -> object:
    """Escape a text that goes into a page; leave what is not text, or is markup."""
    return Markup(escape_text(value)) if type(value) is str else value


@cache
def source_of(name: str) -> str:
    """Return a style sheet or a script of the templates as it is."""
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _digest(content: str) -> str:
    """Name a style or a script as the page's policy does."""
    return "sha256-" + b64encode(hashlib.sha256(content.encode()).digest()).decode()
