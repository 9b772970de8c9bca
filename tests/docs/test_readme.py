from __future__ import annotations

import re

import pyarrow.parquet as pq

from neardup.cli import _COMMANDS
from tests.docs.pages import first_names, page, section, tables
from tests.each import each_of


def test_readme__sample_output(readme_run):
    printed, _ = readme_run
    shown = re.search(r"It prints\n\n```text\n(.*?)\n```", page("README.md"), re.DOTALL)[1]
    # The last line has times and memory.
    assert printed.splitlines()[:-1] == shown.splitlines()[:-1]
    pattern = r"written to clean in [\d.]+ s(, [\d,]+ MB of memory at most)?"
    for text in (printed, shown):
        assert re.fullmatch(pattern, text.splitlines()[-1])


def test_readme__files_and_columns(readme_run):
    _, out = readme_run
    for path in out.iterdir():
        name = f"`{path.name}{'/' * path.is_dir()}`"
        assert name in page("README.md")
        assert name in section("docs/command-line.md", "Output")
    _, *described = tables("docs/command-line.md", "Output")
    columns = [[first_names(row)[0] for row in table] for table in described]
    for name, expected in zip(("removed", "clusters"), columns, strict=True):
        assert pq.read_schema(out / f"{name}.parquet").names == expected
        assert f"| `{name}.parquet` | `{', '.join(expected)}`" in page("README.md")


@each_of("command", _COMMANDS)
def test_readme__names_each_command(command):
    assert re.search(rf"neardup {command}\b", page("README.md"))
