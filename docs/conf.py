"""How Sphinx builds the site: ``sphinx-build -W -c docs . build/site``.

The source folder is that of the repository, so that README.md and its like are pages too, and all
links between them hold as they are.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

from neardup.version import __version__

sys.path.insert(0, str(Path(__file__).parent))

import reference

project = "neardup"
author = "The neardup developers"
version = release = __version__
language = "en"

root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**",
    "examples/README.md",
    "benchmarks/README.md",
]
exclude_patterns = ["docs/site/**"]
nitpicky = False

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]

# Anchors as GitHub makes them, down to the deepest heading.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 80
napoleon_numpy_docstring = True
napoleon_google_docstring = False
# What is returned is described in prose, where Napoleon would look for a type.
napoleon_custom_sections = ["Returns"]

# Only what is typed is copied: no prompts, no output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_title = f"neardup {__version__}"
html_static_path = ["site"]
html_css_files = ["site.css"]
# The site's first address; Sphinx puts the first page where its source is.
html_additional_pages = {"index": "redirect.html"}
templates_path = ["site"]
html_show_sphinx = False


# README.md is the page of the package, too, and so names where the repository is.
repository = "https://github.com/neardup/neardup"
pictures = "https://raw.githubusercontent.com/neardup/neardup"


def stay_on_the_site(app: Sphinx, page: str, source: list[str]) -> None:
    """Let links of the overview to the repository lead to the pages that the site has of it."""
    if page == "README":
        source[0] = re.sub(rf"({repository}/blob|{pictures})/main/", "", source[0])


def show_folders(app: Sphinx, page: str, source: list[str]) -> None:
    """Show a link to a folder of the repository as text: the site has pages only."""
    folder = app.env.doc2path(page).parent

    def show(link: re.Match[str]) -> str:
        return link[1] if (folder / link[2]).is_dir() else link[0]

    source[0] = re.sub(r"\[([^\]]*)\]\(([\w./-]+)\)", show, source[0])


def make_pages(app: Sphinx) -> None:
    """Write pages that are not kept as they are, before Sphinx looks what pages there are."""
    reference.write_pages(reference.HERE / reference.FOLDER)


def show_reference(app: Sphinx, page: str, source: list[str]) -> None:
    """Let pages lead to those of commands, functions and classes."""
    if page == "docs/command-line":
        source[0] = command_line.front()
    elif page == "docs/api":
        source[0] = reference.python_front(source[0])
    source[0] = command_line.redirected(source[0])


command_line = reference.CommandLine((reference.HERE / "command-line.md").read_text("utf-8"))


def setup(app: Sphinx) -> None:
    """Make pages, and take care of the links that lead out of the site."""
    app.connect("builder-inited", make_pages)
    app.connect("source-read", stay_on_the_site)
    app.connect("source-read", show_reference)
    app.connect("source-read", show_folders)
