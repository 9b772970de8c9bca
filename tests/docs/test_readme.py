from __future__ import annotations

import gzip
import json
import random
import re
import shlex

import click
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.cli import cli, run
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


def test_readme__opens_with_four_jobs():
    """Each job has a command that the program understands."""
    [rows] = re.findall(r"(?m)^\| You want to \|.*\n\| ---.*\n((?:\|.*\n)+)", README)
    commands = re.findall(r"`neardup (\w+) (.*?)`", rows)
    assert [name for name, _ in commands] == ["dedup", "pairs", "align", "align"]
    for name, rest in commands:
        context = click.Context(cli, info_name="neardup")
        cli.get_command(context, name).make_context(name, shlex.split(rest), parent=context)


@pytest.mark.slow
def test_readme__five_jobs(tmp_path, monkeypatch):
    """Each command writes the output that it names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    [block] = re.findall(r"(?s)```sh\n(.*?)```", section("README.md", "Five jobs"))
    used = set()
    for line in block.replace("\\\n", " ").splitlines():
        _, *words = shlex.split(line)
        used.add(words[0])
        assert run(words) == 0
        # An index is named by its place.
        output = words[words.index("-o") + 1] if "-o" in words else words[2]
        assert (tmp_path / output).exists(), line
    assert used == {"dedup", "pairs", "align", "cut", "index", "search", "drop"}


@pytest.mark.slow
def test_readme__share_of_copies():
    """About as many copies of runs of random words are similar by the default options."""
    head, *rows = re.findall(r"(?m)^\| (?:words changed|copies of .* found) \|.*\|$", README)
    shares = [float(cell.strip(" %")) / 100 for cell in head.strip("|").split("|")[1:]]
    with gzip.open(ROOT / "examples/licences.jsonl.gz", "rt", encoding="utf-8") as lines:
        words = sorted({word for line in lines for word in json.loads(line)["text"].split()})
    generator, five = random.Random(3), neardup.TextOptions(ngram=5)
    assert len(rows) == 3
    for row in rows:
        name, *stated = row.strip("|").split("|")
        length = int(re.sub(r"\D", "", name))
        for share, cell in zip(shares, stated, strict=True):
            texts = [generator.choices(words, k=length) for _ in range(100)]
            copies = [
                [f"x{i}" if generator.random() < share else word for i, word in enumerate(text)]
                for text in texts
            ]
            pairs = [map(" ".join, each) for each in zip(texts, copies, strict=True)]
            found = sum(neardup.similarity(*pair, text=five) >= 0.8 for pair in pairs)
            assert abs(found / 100 - float(cell.strip(" %")) / 100) < 0.15, (length, share)


@pytest.mark.slow
def test_readme__python(monkeypatch):
    monkeypatch.chdir(ROOT)
    [block] = re.findall(r"(?s)```python\n(.*?)```", README)
    exec(compile(block, "README.md", "exec"), {})
