"""The page of a result, from headline to examples."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from neardup.files.destinations import Target, check_file, target_of, write_file
from neardup.options.kinds import cuts_programs
from neardup.reports.charts import Chart
from neardup.reports.examples import Example, example_lines
from neardup.reports.text import escape_text, is_figure, well_formed, written
from neardup.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

PAGE_SUFFIXES = (".html", ".htm")

Cell = str | int | float | None

# Selectors of hosts that state their theme: Jupyter and its derivatives, VS Code, Colab.
_THEMES = "".join(
    f":is({hosts}) .neardup-page {{ color-scheme: {scheme}; }}"
    for hosts, scheme in (
        ('[data-jp-theme-light="true"], .vscode-light, html[theme="light"]', "light"),
        ('[data-jp-theme-light="false"], .vscode-dark, html[theme="dark"]', "dark"),
    )
)

# Rows of a table that are visible before a reader asks for all of them.
_FIRST_ROWS = 12


@dataclass(frozen=True)
class Fact:
    """A number with its meaning, coloured as ``kept`` or ``gone``."""

    value: str
    label: str
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """Rows that a reader can search and sort.

    ``rows`` have the most telling first; the page writes numbers, floats with four decimals.
    ``note`` is a sentence about rows that are left out. With ``is_live``, the script always has the
    rows.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    is_live: bool = False

    @property
    def has_data(self) -> bool:
        """Return whether the page holds its rows as data."""
        return self.is_live or len(self.rows) > _FIRST_ROWS

    @property
    def first(self) -> Sequence[Sequence[Cell]]:
        """Return the rows that are visible at once."""
        return self.rows[:_FIRST_ROWS]

    @cached_property
    def kinds(self) -> list[str]:
        """Return the kind of each column: ``share``, ``count``, ``text`` or ``words``."""
        columns = [[row[k] for row in self.rows] for k in range(len(self.head))]
        return [_kind_of(column) for column in columns]

    def written(self, cell: Cell, column: int) -> str:
        """Write a cell as the script does."""
        if cell is None or isinstance(cell, str):
            return cell or ""
        return f"{cell:.4f}" if self.kinds[column] == "share" else f"{cell:,}"

    def data(self) -> dict[str, Any]:
        """Return the rows for the script; a text that is as in the row above is True."""
        above = [[None] * len(self.head), *self.rows]
        pairs = (zip(*each, strict=True) for each in zip(self.rows, above, strict=False))
        rows = [[_compact(*cells) for cells in pair] for pair in pairs]
        return {"kinds": self.kinds, "rows": rows, "first": _FIRST_ROWS}


def _compact(cell: Cell, above: Cell) -> Cell:
    if isinstance(cell, float):
        return round(cell, 4)
    return True if isinstance(cell, str) and cell == above != "" else cell


def _kind_of(column: Sequence[Cell]) -> str:
    texts = [cell for cell in column if isinstance(cell, str)]
    if texts:
        return "words" if any(len(text) > 60 and " " in text for text in texts) else "text"
    return "share" if any(isinstance(cell, float) for cell in column) else "count"


@dataclass(frozen=True)
class Section:
    """A section with charts, tables, body and examples in order."""

    name: str
    title: str
    lead: str = ""
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    body: Markup = Markup("")  # noqa: RUF009 - Markup is immutable
    examples: Sequence[Example] = ()
    nothing: str = ""

    @property
    def is_empty(self) -> bool:
        """Return whether the section has no parts."""
        return not (self.charts or self.tables or self.body or self.examples)


class Report:
    """A page in one file that shows a job's result.

    It loads nothing, sends nothing, and shows texts as text, whatever they hold. The same results
    give the same page, byte for byte.

    Parameters
    ----------
    kind
        The kind of result, such as "deduplication".
    headline
        The result in one line.
    sentences
        How it was found, and how to read it.
    facts
        The numbers that matter most.
    sections
        The rest of the page; a section without content and without ``nothing`` is left out.
    next_step
        One sentence on the next step.
    parts
        Names of style sheets and scripts beside those of all pages, such as ``review``.
    """

    def __init__(
        self,
        kind: str,
        headline: str,
        sentences: Sequence[str],
        facts: Sequence[Fact],
        sections: Sequence[Section],
        *,
        next_step: str = "",
        parts: Sequence[str] = (),
    ) -> None:
        self.kind, self.headline, self.sentences = kind, headline, tuple(sentences)
        self.facts, self.next_step = tuple(facts), next_step
        self.sections = tuple(each for each in sections if not each.is_empty or each.nothing)
        self._parts = tuple(parts)

    def __repr__(self) -> str:
        return f"Report({self.headline})"

    @cached_property
    def html(self) -> str:
        """Return the page as HTML."""
        parts = ("page", *self._parts)
        styles = "".join(_source_of(f"{part}.css") for part in parts)
        scripts = "".join(_source_of(f"{part}.js") for part in parts)
        return render(
            "report.html",
            report=self,
            style=Markup(styles),
            style_digest=_digest(styles),
            script=Markup(scripts),
            script_digest=_digest(scripts),
            data_block=data_block,
            version=__version__,
        )

    def _repr_html_(self) -> str:
        """Return the page as a frame for a notebook."""
        # Scripts run, but cannot see the notebook: the frame has an origin of its own.
        return (
            f"<style>{_THEMES}</style>"
            '<iframe class="neardup-page" sandbox="allow-scripts" width="100%" height="640" '
            f'title="{escape(self.headline)}" srcdoc="{escape(self.html)}"></iframe>'
        )

    def to_text(self) -> str:
        """Return headline, facts and examples as plain text."""
        facts = "; ".join(f"{fact.value} {fact.label}" for fact in self.facts)
        lines = [self.headline, *([facts] if facts else [])]
        for section in self.sections:
            for example in section.examples:
                lines += ["", *example_lines(example)]
        return "\n".join([*lines, *(["", self.next_step] if self.next_step else [])])

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page to a path or URL (.html, .htm).

        Raises
        ------
        InvalidParameterError, OutputExistsError, WriteError
            If the ending is another, the file exists, or it cannot be written.
        """
        target = target_of(path)
        check_page_file(target, overwrite=overwrite)
        write_file(target, lambda new: new.write_text(self.html))


def check_page_file(target: Target, *, overwrite: bool) -> None:
    """Raise unless a page may be written to a file."""
    check_file(target, PAGE_SUFFIXES, overwrite=overwrite)


def is_code(summary: Mapping[str, Any]) -> bool:
    """Return whether a job read its documents as code."""
    return cuts_programs((summary.get("scheme") or {}).get("tokenizer"))


def options_section(summary: Mapping[str, Any], names: Sequence[str]) -> Section:
    """List summary options and counts that decided the result."""
    scheme = summary.get("scheme") or {}
    values = {name: summary.get(name) for name in names} | dict(scheme)
    rows = [
        (name.replace("_", " "), written(value))
        for name, value in values.items()
        if value not in (None, "", [])
    ]
    tables = [Table("Options", ("option", "value"), rows)] if rows else []
    return Section("options", "How it was done", tables=tables)


# Characters that would end a block of data, or a line of a script.
_IN_DATA = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render(template: str, **values: Any) -> str:
    """Fill in a template, escaping all text but ``Markup``."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> Environment:
    """Return the templates of this package, escaping every value."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("neardup.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: Markup(escape_text(value)) if type(value) is str else value,
    )
    environment.filters |= {"counted": "{:,}".format, "prose": prose}
    environment.tests["figure"] = is_figure
    return environment


def prose(text: str) -> Markup:
    """Write a sentence, with parts between backticks as code."""
    pieces = re.split("`([^`]+)`", text)
    for k, piece in enumerate(pieces):
        pieces[k] = Markup(escape_text(piece))
        if k % 2:
            # A line must not end within the dashes of an option.
            kind = "" if len(piece) > 30 else " class=short"
            pieces[k] = Markup(f"<code{kind}>{pieces[k]}</code>")
    return Markup("").join(pieces)


@cache
def _source_of(name: str) -> str:
    environment = _templates()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def data_block(name: str, value: object) -> Markup:
    """Return JSON for a script, in an element named ``name``."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup('<script type="application/json" id="{}">{}</script>\n').format(
        name, Markup(well_formed(text).translate(_IN_DATA))
    )


def _digest(source: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(source.encode()).digest()).decode()}"
