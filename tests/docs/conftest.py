"""The README's first command, run once for all pages."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from neardup.cli import run
from tests.docs.pages import ROOT, page


@pytest.fixture(scope="session")
def readme_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Run the README's first command; give what it prints and the output folder."""
    out = tmp_path_factory.mktemp("readme") / "clean"
    line = re.findall(r"(?m)^\.venv/bin/(neardup .*)$", page("README.md"))[0]
    arguments = shlex.split(line)[1:]
    assert arguments.count("clean") == 1
    arguments = [str(out) if argument == "clean" else argument for argument in arguments]
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(io.StringIO()) as printed:
        assert run(arguments) == 0
    return printed.getvalue().replace(str(out), "clean"), out
