"""``against`` an index and other documents at once: what is like either of them goes."""

from __future__ import annotations

import json
import random
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

import neardup
from neardup import DocumentIndex, InvalidInputError, InvalidParameterError
from tests.calls import grouped
from tests.document_indexes import OPTIONS
from tests.indexes import tree
from tests.oracles.against_both import removals
from tests.spilling import spilling

WORDS = [f"w{number}" for number in range(300)]


def texts_of(seed: int) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Draw documents of three collections, many of them like others."""
    draw = random.Random(seed)
    texts: list[str] = []
    for _ in range(120):
        words = draw.choices(WORDS, k=12)
        if texts and draw.random() < 0.75:
            words = draw.choice(texts).split()
            for place in draw.sample(range(12), draw.choice([0, 0, 1, 2, 3, 4])):
                words[place] = draw.choice(WORDS)
            if draw.random() < 0.2:
                draw.shuffle(words)
        texts.append(" ".join(words))
    draw.shuffle(texts)
    parts = texts[:30], texts[30:60], texts[60:]
    return tuple(
        {f"{side}{number}": text for number, text in enumerate(part)}
        for side, part in zip("iao", parts, strict=True)
    )


def rows_of(texts):
    return [{"id": name, "text": text} for name, text in texts.items()]


def write(path: Path, texts) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows_of(texts)))
    return path


def tokens_of(texts):
    return {name: text.split() for name, text in texts.items()}


def removed_by(result):
    return [
        (row["id"], row["kept_in"], row["kept_id"], row["similarity"], row["exact_copy"])
        for row in result.removed.to_pylist()
    ]


@pytest.fixture
def index(tmp_path):
    return DocumentIndex.create(tmp_path / "idx", **grouped(**OPTIONS))


@pytest.mark.parametrize("seed", range(8))
def test_removals__as_all_pairs_say(index, tmp_path, seed):
    known, others, own = texts_of(seed)
    index.add(rows_of(known), read=neardup.ReadOptions(id_column="id"))
    path = write(tmp_path / "takedown.jsonl", others)
    found = neardup.deduplicate(
        rows_of(own), against=[index, path], read=neardup.ReadOptions(id_column="id")
    )
    expected = removals(*map(tokens_of, (own, known, others)), Fraction(1, 2))
    assert removed_by(found) == [(*row[:3], float(row[3]), row[4]) for row in expected]
    counts = {side: sum(row[1] == side for row in expected) for side in ("index", "against")}
    assert min(counts.values()) > 3
    summary = found.summary
    assert summary["removed_for_index"] == counts["index"]
    assert summary["removed_for_against"] == sum(counts.values())
    assert summary["against_documents"] == len(known) + len(others)
    assert [each["name"] for each in summary["against"]] == ["idx", "takedown.jsonl"]
    places = [(row["kept_in"], row["kept_file"]) for row in found.removed.to_pylist()]
    assert set(places) <= {
        ("index", None),
        ("against", "takedown.jsonl"),
        ("input", "data"),
    }
    named = {other: number for number, other in enumerate(others, 1)}
    for row in found.removed.to_pylist():
        assert (row["kept_row"] is None) == (row["kept_in"] == "index")
        if row["kept_in"] == "against":
            assert row["kept_row"] == named[row["kept_id"]]


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["first", "longest"])
def test_files__the_same_for_any_workers_and_memory(index, tmp_path, keep):
    known, others, own = texts_of(2)
    index.add(rows_of(known), read=neardup.ReadOptions(id_column="id"))
    inputs = write(tmp_path / "own.jsonl", own)
    path = write(tmp_path / "takedown.jsonl", others)
    outputs = []
    for number, (workers, memory) in enumerate([(1, None), (2, None), (2, "16MB"), (1, "16MB")]):
        used = tmp_path / f"used{number}"
        shutil.copytree(index.folder, used / "idx")
        options = {"against": [used / "idx", path], "add": True, "keep": keep}
        if memory is not None:
            options |= {"memory": memory, "work": tmp_path / f"work{number}"}
        with spilling() if memory else pytest.MonkeyPatch.context():
            found = neardup.deduplicate(
                inputs, **grouped(id_column="id", workers=workers, **options)
            )
            found.write(tmp_path / f"out{number}")
        files = tree(tmp_path / f"out{number}"), tree(used / "idx")
        del files[0]["summary.json"]
        outputs.append(files)
    assert outputs[0][0] == outputs[1][0] == outputs[2][0] == outputs[3][0]
    # How the index packs documents depends on the blocks that they are read in.
    assert outputs[0][1] == outputs[1][1]
    assert outputs[2][1] == outputs[3][1]
    assert len(outputs[0][0]) == 4


def test_add__only_to_the_index_and_only_what_stays(index, tmp_path):
    known, others, own = texts_of(3)
    index.add(rows_of(known), read=neardup.ReadOptions(id_column="id"))
    path = write(tmp_path / "takedown.jsonl", others)
    found = neardup.deduplicate(
        rows_of(own),
        against=[index.folder, path],
        add=True,
        read=neardup.ReadOptions(id_column="id"),
    )
    kept = found.kept["id"].to_pylist()
    index.refresh()
    assert [row["id"] for row in index.documents(0, 1000)] == [*known, *kept]
    assert found.summary["documents_added"] == len(kept)
    # The index is told of what went for its documents, and of nothing that went for a file's.
    rows = found.removed.to_pylist()
    n_told = sum(row["kept_in"] != "against" for row in rows)
    assert index.info()["gone_documents"] == n_told < len(rows)
    orphans = index.remove([*known]).orphans["kept_id"].to_pylist()
    assert sorted(orphans) == sorted(r["kept_id"] for r in rows if r["kept_in"] == "index")
    # Who repeats it adds nothing.
    index.add(rows_of(known), read=neardup.ReadOptions(id_column="id"))
    again = neardup.deduplicate(
        rows_of(own),
        against=[index.folder, path],
        add=True,
        read=neardup.ReadOptions(id_column="id"),
    )
    assert again.summary["documents_added"] == 0
    assert again.summary["documents_known"] == len(kept)


def test_add__what_files_have_goes_also_where_the_index_has_it(index, tmp_path):
    """A list of what has to go is newer than what was added last week."""
    rows = [{"id": "n", "text": "one two three four"}, {"id": "m", "text": "five six seven eight"}]
    neardup.deduplicate(rows, against=index, add=True, read=neardup.ReadOptions(id_column="id"))
    path = write(tmp_path / "takedown.jsonl", {"t": "one two three four"})
    found = neardup.deduplicate(
        rows, against=[index, path], add=True, read=neardup.ReadOptions(id_column="id")
    )
    assert [row[:3] for row in removed_by(found)] == [("n", "against", "t")]
    assert found.summary["documents_known"] == 1
    assert found.kept["id"].to_pylist() == ["m"]


def test_denied__beside_copies_in_the_index_and_in_files(index, tmp_path):
    """What has the tokens of a denied document is denied, whatever else has them."""
    texts = ["one two three four", "five six seven eight", "nine ten eleven twelve"]
    rows = [{"id": f"{k}-{n}", "text": text} for n, text in enumerate(texts) for k in "ab"]
    index.add(rows, read=neardup.ReadOptions(id_column="id"))
    index.remove(["a-0", "a-1"], deny=True)
    path = write(tmp_path / "takedown.jsonl", {"f-1": texts[1], "f-2": texts[2]})
    own = [{"id": f"n{n}", "text": text} for n, text in enumerate([*texts, *texts])]
    found = neardup.deduplicate(
        own, against=[index, path], read=neardup.ReadOptions(id_column="id")
    )
    assert removed_by(found) == [
        (f"n{k + n}", side, kept_id, 1.0, True)
        for k in (0, 3)
        for n, (side, kept_id) in enumerate(
            [("denied-exact", "a-0"), ("denied-exact", "a-1"), ("against", "f-2")]
        )
    ]
    assert found.summary["documents_denied"] == {"exact": 4, "estimated": 0}
    assert found.summary["removed_for_index"] == 0


def test_refusals(index, tmp_path):
    known, others, own = texts_of(7)
    index.add(rows_of(known), read=neardup.ReadOptions(id_column="id"))
    path = write(tmp_path / "takedown.jsonl", others)
    for option in ({"method": "exact"}, {"clusters": "components"}, {"audit": 3}):
        with pytest.raises(InvalidParameterError):
            neardup.deduplicate(rows_of(own), **grouped(against=[index, path], **option))
    other = DocumentIndex.create(tmp_path / "other", **grouped(**OPTIONS))
    with pytest.raises(InvalidParameterError, match="against names 2 indexes, of which one is"):
        neardup.deduplicate(rows_of(own), against=[index, other, path])
    with pytest.raises(InvalidParameterError, match="an index is compared against alone, got 2"):
        neardup.find_pairs(rows_of(own), [index, path])
    path.write_text("no JSON")
    with pytest.raises(InvalidInputError):
        neardup.deduplicate(rows_of(own), against=[index.folder, path], add=True)
    index.refresh()
    assert len(index) == len(known)
