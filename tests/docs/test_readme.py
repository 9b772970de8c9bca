from __future__ import annotations

import re
import shlex

import pyarrow.parquet as pq
import pytest

from neardup.cli import run
from tests.docs.pages import ROOT, first_names, page, section, tables

README = page("README.md")


def test_readme__is_short_and_its_links_hold_elsewhere():
    """As the page of the package, too, which shows it without the repository around it."""
    assert len(README.splitlines()) < 150
    links = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?s)```.*?```", "", README))
    assert len(links) > 10
    assert [link for link in links if not link.startswith("https://")] == []


def test_readme__sample_output(readme_run):
    printed, _ = readme_run
    shown = re.search(r"It prints\n\n```text\n(.*?)\n```", README, re.DOTALL)[1]
    # The last line has times and memory.
    assert printed.splitlines()[:-1] == shown.splitlines()[:-1]
    pattern = r"written to clean in [\d.]+ s(, [\d,]+ MB of memory at most)?"
    for text in (printed, shown):
        assert re.fullmatch(pattern, text.splitlines()[-1])


def test_readme__files_and_columns(readme_run):
    _, out = readme_run
    for path in out.iterdir():
        name = f"`{path.name}{'/' * path.is_dir()}`"
        assert name in README
        assert name in section("docs/command-line.md", "Output")
    _, *described = tables("docs/command-line.md", "Output")
    columns = [[first_names(row)[0] for row in table] for table in described]
    for name, expected in zip(("removed", "clusters"), columns, strict=True):
        assert pq.read_schema(out / f"{name}.parquet").names == expected
        assert f"| `{name}.parquet` | `{', '.join(expected)}`" in README


@pytest.mark.slow
def test_readme__five_jobs(tmp_path, monkeypatch, capsys):
    """Each row of the table is a job, and each command writes what it names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = section("README.md", "Five jobs")
    [block] = re.findall(r"(?s)```sh\n(.*?)```", text)
    used = []
    for line in block.replace("\\\n", " ").splitlines():
        _, *words = shlex.split(line)
        used.append(words[0])
        assert run(words) == 0
        # An index is named by its place.
        output = words[words.index("-o") + 1] if "-o" in words else words[2]
        assert (tmp_path / output).exists(), line
    [rows] = tables("README.md", "Five jobs")
    assert len(rows) == 5
    assert set(used) == set(re.findall(r"`(?:neardup )?(\w+)`", " ".join(row[1] for row in rows)))


@pytest.mark.slow
def test_readme__python(monkeypatch):
    monkeypatch.chdir(ROOT)
    [block] = re.findall(r"(?s)```python\n(.*?)```", README)
    exec(compile(block, "README.md", "exec"), {})
