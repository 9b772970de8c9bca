"""Modules, functions and classes that ARCHITECTURE.md and CONTRIBUTING.md name exist."""

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
