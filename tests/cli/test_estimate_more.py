"""Clusters, containment and super-shingles of ``neardup estimate``."""

from __future__ import annotations

import csv
import json
import random

import pytest

import neardup


@pytest.fixture
def sketched(run, write_file, here):
    """Sketch some texts under ids of their own."""

    def sketch(texts, *options):
        rows = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(texts)]
        write_file("texts.jsonl", "\n".join(rows) + "\n")
        outcome = run(
            *("sketch", "texts.jsonl", "--id-column", "id", "-o", "s.parquet", "--overwrite"),
            *options,
        )
        assert outcome.code == 0, outcome.err
        return here / "s.parquet"

    return sketch


def words(generator, n):
    return [f"w{generator.randrange(10**6)}" for _ in range(n)]


def rows_of(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("representative", ["first", "popular"])
@pytest.mark.parametrize("kind", ["smallest", "modulo"])
def test_estimate__clusters(run, here, sketched, kind, representative):
    generator = random.Random(kind)
    families = [words(generator, 300) for _ in range(3)]
    texts = []
    for number in range(9):
        copy = list(families[number % 3])
        copy[generator.randrange(300)] = "other"
        texts.append(" ".join(copy))
    texts += [" ".join(words(generator, 200)), ""]
    sketched(texts, "--kind", kind)
    outcome = run(
        *("estimate", "s.parquet", "--clusters", representative, "--threshold", "0.8"),
        *("-o", "c.csv"),
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[:2] == [
        f"11 documents, sketches of kind {kind}",
        "5 clusters with an estimated similarity >= 0.8, 2 of a single document, the largest of 3",
    ]
    found = rows_of(here / "c.csv")
    assert [row["id"] for row in found] == [f"d{i}" for i in range(11)]
    assert [row["cluster_id"] for row in found] == [*"012" * 3, "3", "4"]
    assert [row["cluster_size"] for row in found] == ["3"] * 9 + ["1"] * 2
    assert [row["representative_id"] for row in found[:9]] == ["d0", "d1", "d2"] * 3
    as_json = run(
        *("estimate", "s.parquet", "--clusters", representative, "--json", "--threshold", "0.8"),
        *("-o", "c.csv", "--overwrite", "--memory", "16MB"),
    )
    summary = json.loads(as_json.out)
    assert (summary["clusters"], summary["representative"]) == (5, representative)


@pytest.mark.parametrize(
    ("kind", "options", "error"),
    [
        ("minhash", "--clusters first", "--clusters need sketches of kind smallest or"),
        ("smallest", "--clusters first --limit 3", "--limit has no effect with clusters; leave it"),
        ("smallest", "--clusters first --measure jaccard", "--measure has no effect with clusters"),
        (
            "smallest",
            "--super-shingles 2",
            "--super-shingles need sketches of kind minhash or weig",
        ),
        (
            "minhash",
            "--rows 3",
            "--rows has no effect without --super-shingles; leave it out, or gi",
        ),
        ("smallest", "--clusters first --super-shingles 2", "--super-shingles has no effect with"),
        ("smallest", "--measure containment --threshold 0.5", "--measure containment needs sket"),
        ("modulo", "--measure containment", "--measure has no effect without --threshold; "),
        ("smallest", "--clusters first --threshold 2", "--threshold must lie in (0, 1], got 2"),
    ],
)
def test_estimate__options_without_effect(run, sketched, kind, options, error):
    sketched(["a b c d e f"], "--kind", kind)
    outcome = run("estimate", "s.parquet", "-o", "x.csv", *options.split())
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"error: {error}")


def test_estimate__containment(run, here, sketched):
    generator = random.Random(3)
    book = words(generator, 3000)
    sketched([" ".join(book), " ".join(book[500:1500]), "other"], "--kind", "modulo", "--size", 300)
    command = ("estimate", "s.parquet", "--measure", "containment", "--threshold", "0.8")
    outcome = run(*command, "-o", "p.csv")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[1] == "1 pair with an estimated containment >= 0.8"
    [row] = rows_of(here / "p.csv")
    assert (row["id_a"], row["id_b"]) == ("d1", "d0")


def test_estimate__super_shingles(run, here, sketched):
    text = " ".join(words(random.Random(2), 400))
    sketched([text, text + " the end", "other words"], "--kind", "minhash")
    outcome = run("estimate", "s.parquet", "--super-shingles", "2", "-o", "p.csv")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[1] == "1 pair with at least 2 of 6 super-shingles in common"
    [row] = rows_of(here / "p.csv")
    assert (row["id_a"], row["id_b"]) == ("d0", "d1")
    assert int(row["super_shingles"]) >= 2


def test_estimate__short_edit_sketches_are_said(run, here, sketched):
    """They are not even looked at with a threshold."""
    generator = random.Random(6)
    long = " ".join(words(generator, 900))
    sketched([long, long, "short", "texts", ""], "--kind", "edit")
    for options in ((), ("--threshold", "0.9")):
        command = ("estimate", "s.parquet", *options, "-o", "p.csv", "--overwrite")
        assert run(*command).out.splitlines()[2] == (
            "3 sketches of less than 20 symbols, of which nothing is estimated: a smaller "
            "--compression tells more"
        )
        assert json.loads(run(*command, "--json").out)["short_sketches"] == 3
    sketched(["short", "short"], "--kind", "edit")
    outcome = run("estimate", "s.parquet", "--threshold", "0.5", "-o", "q.csv")
    assert outcome.out.splitlines()[1].startswith("0 pairs with an estimated similarity >= 0.5")
    assert outcome.out.splitlines()[2].startswith("2 sketches of less than 20 symbols")
    assert "a lower --threshold" not in outcome.out


def test_cluster_sketches__of_a_file_and_of_sketches(tmp_path):
    sketches = neardup.sketch(["a b c", "a b c", "x y z"], kind="smallest", ngram=1)
    sketches.write(tmp_path / "s.parquet")
    found = neardup.cluster_sketches(sketches)
    assert found.clusters["cluster_id"].to_pylist() == [0, 0, 1]
    assert found.clusters.equals(neardup.cluster_sketches(tmp_path / "s.parquet").clusters)
    assert repr(found) == "ClusterResult(3 documents: 2 clusters)"
