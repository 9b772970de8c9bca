"""Pages of the reference that the site makes: one a command, one a function or class.

What a command's help does not say stands in its section of ``command-line.md``, which on the site
becomes a page of its own, with the help. Links to ``command-line.md#...`` lead there, and old
addresses go on working. What of Python is public stands in ``api.md``.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path

import click

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from native.manual import all_commands  # noqa: E402 - from the repository, wherever Sphinx runs
from neardup.cli import cli  # noqa: E402

FOLDER = "reference"
# As wide as a page of the site is.
COLUMNS = 88
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_DIRECTIVE = re.compile(r"(?m)^\.\. auto(?:function|class):: (neardup\.([\w.]+))$(?:\n   :.*$)*")


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


def python_pages(text: str) -> dict[str, str]:
    """Return the page of each function and class that ``api.md`` describes."""
    return {
        f"{found[1]}.md": f"# {found[2]}\n\n```{{eval-rst}}\n{found[0]}\n```\n"
        for found in _DIRECTIVE.finditer(text)
    }


def python_front(text: str) -> str:
    """Return ``api.md`` with a line for each function and class, which leads to its page."""

    def line(found: re.Match[str]) -> str:
        module, _, name = found[1].rpartition(".")
        [short, *_] = (inspect.getdoc(getattr(importlib.import_module(module), name)) or "").split(
            "\n"
        )
        return f"- [`{name}`]({FOLDER}/{found[1]}.md): {short.replace('``', '`')}"

    def block(found: re.Match[str]) -> str:
        inner = re.sub(r"(?m)^\.\. currentmodule::.*\n", "", found[1])
        return _DIRECTIVE.sub(line, inner) if _DIRECTIVE.search(inner) else found[0]

    names = [f"{FOLDER}/{name}" for name in python_pages(text)]
    return re.sub(r"(?s)```\{eval-rst\}\n(.*?)```\n", block, text) + "\n" + _hidden_toctree(names)


def write_pages(folder: Path) -> None:
    """Write all pages into a folder, those anew that have changed."""
    command_line = CommandLine((HERE / "command-line.md").read_text(encoding="utf-8"))
    pages = {**command_line.pages(), **python_pages((HERE / "api.md").read_text(encoding="utf-8"))}
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
