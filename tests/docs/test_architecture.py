"""Modules, functions and classes that pages and docstrings name exist."""

from __future__ import annotations

import ast
import re

from tests.docs.pages import ROOT, page
from tests.each import each_of

FOLDERS = [ROOT / "src/neardup", ROOT, ROOT / "tests"]
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md")
# Files that a contributor makes, and folders of an output.
OTHERS = re.compile(r"NAME|^(?:kept|removed)/$")


def names_in(path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


@each_of("name", PAGES)
def test_page__names_what_exists(name):
    text = re.sub(r"(?s)```.*?```", "", page(name))
    spans = re.findall(r"`([\w/]+(?:/|\.py))(?:::([\w.]+))?`", text)
    assert len(spans) > 20
    for path, member in spans:
        if OTHERS.search(path):
            continue
        found = [folder / path for folder in FOLDERS if (folder / path).exists()]
        assert found, path
        if member:
            assert set(member.split(".")) <= names_in(found[0]), f"{path}::{member}"


def test_architecture__is_one_page():
    assert len(page("ARCHITECTURE.md").splitlines()) <= 150


PACKAGE = ROOT / "src/neardup"


def has_name(dotted):
    """Return whether a name such as ``files.inputs.resolve_paths`` exists below the package."""
    folder, parts = PACKAGE, dotted.split(".")
    while parts and (folder / parts[0]).is_dir():
        folder /= parts.pop(0)
    if not parts:
        return True
    module = folder / f"{parts[0]}.py"
    return module.exists() and all(
        re.search(rf"(?m)^\s*(?:def |class )?{name}\b", module.read_text(encoding="utf-8"))
        for name in parts[1:]
    )


def test_docstrings__name_what_exists():
    packages = {path.stem for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    missing = [
        (str(path.relative_to(PACKAGE)), dotted)
        for path in sorted(PACKAGE.rglob("*.py"))
        for dotted in re.findall(r"``(\w+(?:\.\w+)+)(?:\(\))?``", path.read_text(encoding="utf-8"))
        if dotted.split(".")[0] in packages and not has_name(dotted)
    ]
    assert missing == []
