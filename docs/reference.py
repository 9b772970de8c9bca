"""Pages of the reference that the site makes: one per command, function and class.

A section of ``command-line.md`` becomes a page of its own, with the help of its command. Links to
``command-line.md#...`` lead there. Public names of Python are described by their docstrings.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import neardup  # noqa: E402
import neardup.errors  # noqa: E402
import neardup.types  # noqa: E402
from neardup.cli import cli  # noqa: E402

FOLDER = "reference"
# As wide as a page of the site is.
COLUMNS = 88
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def all_commands(context: click.Context) -> Iterator[tuple[str, click.Context]]:
    """Yield the contexts of a command and of all below it, by what one types."""
    yield context.command_path, context
    command = context.command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            yield from all_commands(click.Context(child, context, info_name=name))


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class CommandLine:
    """The page of the command line, and those that are made of its sections.

    Parameters
    ----------
    text
        ``command-line.md``.
    """

    def __init__(self, text: str) -> None:
        root = click.Context(cli, info_name="neardup", **cli.context_settings)
        self._contexts = dict(all_commands(root))
        self._begin, *sections = re.split(r"(?m)^## ", text)
        self._sections = dict(section.split("\n", 1) for section in sections)
        self._homes = {
            slug(heading): name
            for name in self._contexts
            if name in self._sections
            for heading in [name, *re.findall(r"(?m)^###+ (.*)$", self._sections[name])]
        }

    def pages(self) -> dict[str, str]:
        """Return the page of each command, by its name."""
        return {self._file(name): self._page(name) for name in self._sections if self._has(name)}

    def front(self) -> str:
        """Return what is left of the page: an entry for each command, and what all share."""
        text = self._with_help("neardup", self._begin)
        for name, section in self._sections.items():
            text += f"## {name}\n"
            if not self._has(name):
                text += self._rewritten(section, name)
                continue
            for heading in re.findall(r"(?m)^###+ (.*)$", section):
                text += f'\n<a id="{slug(heading)}"></a>\n'
            short = self._contexts[name].command.get_short_help_str(limit=1000)
            text += f"\n{short} [Options and outputs]({FOLDER}/{self._file(name)})\n\n"
        return text + _hidden_toctree([f"{FOLDER}/{name}" for name in self.pages()])

    def redirected(self, text: str) -> str:
        """Let links to sections of ``command-line.md`` lead to the pages that they are now."""

        def new(link: re.Match[str]) -> str:
            home = self._homes.get(link[1])
            return f"{FOLDER}/{self._file(home)}#{link[1]}" if home else link[0]

        return re.sub(r"\bcommand-line\.md#([\w-]+)", new, text)

    def _has(self, name: str) -> bool:
        return name in self._contexts

    def _file(self, name: str) -> str:
        return f"{name.replace(' ', '-')}.md"

    def _page(self, name: str) -> str:
        section = self._with_help(name, self._sections[name])
        section = re.sub(r"(?m)^#(##+ )", r"\1", section)
        return f"# {name}\n{self._rewritten(section, name, folder='../')}"

    def _rewritten(self, text: str, name: str, folder: str = "") -> str:
        """Let links of a section lead where they led, from a folder below or from where it was."""

        def new(link: re.Match[str]) -> str:
            target = link[1]
            if target.startswith("http"):
                return link[0]
            if target.startswith("#"):
                home = self._homes.get(target[1:])
                if home == name or (home is None and not folder):
                    return link[0]
                if home is None:
                    return f"]({folder}command-line.md{target})"
                return f"]({'' if folder else FOLDER + '/'}{self._file(home)}{target})"
            return f"]({folder}{target})"

        return _LINK.sub(new, text)

    def _with_help(self, name: str, section: str) -> str:
        """Show below the command what it prints."""
        context = self._contexts[name]
        context.terminal_width = COLUMNS
        block = f"```console\n$ {name} --help\n"
        assert section.count(block) == 1, f"docs/command-line.md needs one block {block!r}"
        return section.replace(block, block + context.command.get_help(context).rstrip() + "\n")


def python_pages() -> dict[str, str]:
    """Return the page of each public function and class, and one of all errors."""
    names = [name for name in neardup.__all__ if name not in ("__version__", "types")]
    places = {name: f"neardup.{name}" for name in names if not hasattr(neardup.errors, name)} | {
        name: f"neardup.types.{name}"
        for name, each in vars(neardup.types).items()
        if isinstance(each, type)
    }
    pages = {
        f"{place}.md": f"# {name}\n\n```{{eval-rst}}\n{_directive(name, place)}```\n"
        for name, place in places.items()
    }
    errors = ".. automodule:: neardup.errors\n   :members:\n   :show-inheritance:\n"
    return pages | {"neardup.errors.md": f"# Errors\n\n```{{eval-rst}}\n{errors}```\n"}


def _directive(name: str, place: str) -> str:
    each = getattr(neardup.types if ".types." in place else neardup, name)
    if not isinstance(each, type):
        return f".. autofunction:: {place}\n"
    # Members of a named tuple are in its docstring.
    members = "" if issubclass(each, tuple) else "   :members:\n   :inherited-members:\n"
    special = "   :special-members: __getitem__, __contains__, __len__\n"
    return f".. autoclass:: {place}\n{members}{special if 'Index' in name else ''}"


def python_front(text: str) -> str:
    """Return ``api.md`` with links to the pages of its names, and of types and errors."""
    pages = python_pages()
    text = re.sub(
        r"(?m)^\| `(\w+)` \|",
        lambda row: (
            f"| [`{row[1]}`]({FOLDER}/neardup.{row[1]}.md) |"
            if f"neardup.{row[1]}.md" in pages
            else row[0]
        ),
        text,
    )
    others = [name for name in pages if ".types." in name or "errors" in name]
    lines = "\n".join(f"- [`{name[:-3]}`]({FOLDER}/{name})" for name in others)
    names = [f"{FOLDER}/{name}" for name in pages]
    return f"{text}\n## Types and errors\n\n{lines}\n\n{_hidden_toctree(names)}"


def write_pages(folder: Path) -> None:
    """Write all pages into a folder, those anew that have changed."""
    command_line = CommandLine((HERE / "command-line.md").read_text(encoding="utf-8"))
    pages = {**command_line.pages(), **python_pages()}
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _hidden_toctree(names: list[str]) -> str:
    lines = "\n".join(name.removesuffix(".md") for name in names)
    return f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{lines}\n```\n"
