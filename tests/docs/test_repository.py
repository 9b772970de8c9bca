"""What the repository says of itself: its citation and its workflows."""

from __future__ import annotations

import re
import tomllib

import neardup
from neardup.indexes.manifest import FORMAT
from neardup.sketches.table_format import FORMAT_VERSION
from neardup.text.shingles import HASH_VERSION
from tests.docs.pages import HOME, ROOT, page, tables

PROJECT = tomllib.loads(page("pyproject.toml"))


def test_citation__names_the_version_and_the_papers():
    text = page("CITATION.cff")
    assert f"\nversion: {neardup.__version__}\n" in text
    titles = re.findall(r"(?m)^    title: \"?(.*?)\"?$", text)
    assert len(titles) == 5
    of_papers = {
        "monoactive": "Near-duplicate text alignment under weighted Jaccard similarity",
        "ppjoin": "Efficient similarity joins for near duplicate detection",
        "coates": "A fast metric of document similarity",
        "broder": "On the resemblance and containment of documents",
    }
    for name, title in of_papers.items():
        assert title in titles
        shown = " ".join(page(f"docs/papers/{name}.md").split())
        assert title.lower() in shown.lower()


def test_workflows__pin_every_action():
    """By its commit, with the version in a comment: a tag can be moved."""
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    used = [
        line.strip()
        for path in workflows
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert len(used) > 10
    for line in used:
        assert re.fullmatch(r"- uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_systems__are_those_that_the_tests_have_run_on():
    systems = [
        name for name in PROJECT["project"]["classifiers"] if name.startswith("Operating System")
    ]
    assert systems == ["Operating System :: POSIX :: Linux"]
    assert "macOS and Windows are not tested" in " ".join(page("README.md").split())


def test_metadata__of_the_package():
    """What users may ask for are extras; what developers need is no part of the package."""
    project = PROJECT["project"]
    assert set(project["optional-dependencies"]) == {
        *("jit", "tokenizers", "xlsx", "documents", "pages", "spark", "serve"),
    }
    assert set(PROJECT["dependency-groups"]) == {"test", "fuzz", "browser", "docs", "check"}
    assert project["license"] == "Apache-2.0"
    assert project["authors"]
    assert {"Source", "Documentation", "Changelog", "Issues"} == set(project["urls"])
    assert all(url.startswith(HOME) for url in project["urls"].values())


def test_groups__are_those_that_scripts_install():
    named = set()
    for name in (".ci/run", ".readthedocs.yaml", "README.md", "CONTRIBUTING.md"):
        named |= set(re.findall(r"--group (\w+)", page(name)))
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        named |= set(re.findall(r"--group (\w+)", path.read_text(encoding="utf-8")))
    assert named == set(PROJECT["dependency-groups"])


def test_changelog__names_the_version_and_the_formats():
    text = page("CHANGELOG.md")
    assert re.findall(r"(?m)^## (.*)$", text)[:2] == ["Unreleased", neardup.__version__]
    [rows] = tables("CHANGELOG.md", "What is stable, and what may change")
    versions = {re.sub(r"\[(.*?)\]\(.*?\)", r"\1", row[0]): row[1] for row in rows}
    assert versions["indexes"] == str(FORMAT)
    assert versions["sketches"] == str(FORMAT_VERSION)
    assert versions["hashes"] == str(HASH_VERSION)
