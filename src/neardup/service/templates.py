"""The templates of the page; whatever goes into them is escaped, and shown if it is invisible."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from neardup.outputs.compare_page import escape_text, page_part


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("neardup.service", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = _shown
    environment.filters["counted"] = "{:,}".format
    environment.filters["share"] = "{:.4f}".format
    return environment


def render(template: str, **values: Any) -> str:
    """Fill in a template."""
    return _environment().get_template(template).render(**values)


@cache
def style_sheet() -> str:
    """Return the style sheet: that of two texts side by side, and ours."""
    return page_part("css") + _source("page.css")


@cache
def script() -> str:
    """Return the script, made in the same way."""
    return page_part("js") + _source("page.js")


def _source(name: str) -> str:
    loader = PackageLoader("neardup.service", "page")
    return loader.get_source(_environment(), name)[0]


def _shown(text: object) -> Markup:
    """Escape a text, with pictures of what HTML cannot hold or nobody would see."""
    return Markup(escape_text(str(text)))
