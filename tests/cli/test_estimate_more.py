"""Clusters, containment and super-shingles of ``neardup estimate``."""

from __future__ import annotations

import csv
import json
import random

import pytest


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


@pytest.mark.parametrize("kind", ["smallest", "modulo"])
def test_estimate__clusters(run, here, sketched, kind):
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
        *("estimate", "s.parquet", "--clusters", "--threshold", "0.8"),
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
        *("estimate", "s.parquet", "--clusters", "--json", "--threshold", "0.8"),
        *("-o", "c.csv", "--overwrite", "--memory", "16MB"),
    )
    assert json.loads(as_json.out)["clusters"] == 5


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
    assert outcome.out.splitlines()[1] == "1 pair with at least 2 super-shingles in common"
    [row] = rows_of(here / "p.csv")
    assert (row["id_a"], row["id_b"]) == ("d0", "d1")
    assert int(row["super_shingles"]) >= 2
