"""What the repository says of itself: its citation and its workflows."""

from __future__ import annotations

import re
import tomllib

import neardup
from tests.docs.pages import ROOT, page


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
    project = tomllib.loads(page("pyproject.toml"))["project"]
    systems = [name for name in project["classifiers"] if name.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]
    assert "macOS and Windows are not tested" in " ".join(page("README.md").split())
