"""``summary.json`` that is valid JSON and none of ours: one line says so, whatever it is."""

from __future__ import annotations

import json

import pytest

import neardup
from neardup.errors import InvalidInputError, NeardupError
from neardup.files.streams import LocalDestination
from neardup.outputs.summary_file import read_summary, write_summary
from neardup.stages.output import open_output
from tests.calls import grouped
from tests.damage import changed_json
from tests.each import each_of

TEXTS = [f"some words that are here {i // 2} and then again {i // 2} {i % 3}" for i in range(8)]
ROWS = [{"id": f"d{i}", "text": text} for i, text in enumerate(TEXTS)]
HOW = {"ngram": 1, "threshold": "0.6"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    here = tmp_path_factory.mktemp("written")
    results = {
        "minhash": neardup.deduplicate(ROWS, **grouped(audit=4, **HOW)),
        "exact": neardup.deduplicate(TEXTS, **grouped(against=TEXTS[:2], method="exact", **HOW)),
        "pairs": neardup.choose(neardup.find_pairs(ROWS, **grouped(**HOW)), ROWS),
        "cut": neardup.cut(TEXTS, min_tokens=3, exact=True),
    }
    for name, result in results.items():
        result.write(here / name)
    return here


def sign(folder, summary):
    """Write a summary that another version of neardup might have written."""
    tables = summary.get("tables", {}) if isinstance(summary, dict) else {}
    if isinstance(summary, dict) and isinstance(tables, dict):
        digests = {name: str(digest)[7:] for name, digest in tables.items()}
        write_summary(LocalDestination(folder), summary, digests)


@pytest.mark.slow
@each_of("name", ["minhash", "exact", "pairs", "cut"])
def test_read_summary__changed(folders, tmp_path, name):
    whole = json.loads((folders / name / "summary.json").read_text())
    assert read_summary(str(folders / name))[1] == whole
    refused = []
    for what, changed in changed_json(whole):
        (tmp_path / "summary.json").write_text(json.dumps(changed))
        with pytest.raises(InvalidInputError):
            read_summary(str(tmp_path))
        try:
            sign(tmp_path, changed)
            read_summary(str(tmp_path))
        except UnicodeEncodeError:
            # No file in UTF-8 has half a surrogate pair.
            assert "\\ud" in json.dumps(changed)
        except NeardupError as error:
            refused.append(f"{what}: {error}")
    assert len(refused) > 100
    assert [message for message in refused if "\n" in message] == []


@each_of(
    ("changes", "reason"),
    [
        ({"method": None}, "Expected `str`, got `null` - at `$.method`"),
        ({"by_file": {"counts": 3}}, "at `$.by_file.counts`"),
        ({"documents_in": -1}, "Expected `int` >= 0"),
        ({"keep": ...}, "is of no `neardup dedup`, `cut` or `drop`"),
        ({"reading": ...}, "missing required field `reading`"),
    ],
)
@each_of("use", [neardup.report, open_output])
def test_readers__one_line(folders, tmp_path, changes, reason, use):
    whole = json.loads((folders / "minhash/summary.json").read_text())
    changed = {name: value for name, value in (whole | changes).items() if value is not ...}
    sign(tmp_path, changed)
    with pytest.raises(InvalidInputError) as caught:
        use(tmp_path)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
