"""``neardup pairs --field``: records of several columns, compared by the mean of all."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import neardup
from neardup.jobs.pairs import by_fields, field_blocks, fields
from tests.spilling import spilling

GOODS = """id,title,maker,price
a,Sony Walkman NWZ 5,Sony,$100
b,Walkman NWZ 5 by sony,SONY,105.00
c,Dishwasher deluxe,Bosch,"1,299"
d,,Bosch,1250
e,Dishwasher deluxe white,,n/a
"""
FIELDS = ("--field", "title:0.5", "--field", "maker:0.3:exact", "--field", "price:0.2:number")


@pytest.fixture
def goods(write_file):
    write_file("goods.csv", GOODS)


def test_fields(run, here, goods):
    outcome = run("pairs", "goods.csv", *FIELDS, "--threshold", "0.6", "--stats", "-o", "p.csv")
    lines = outcome.out.splitlines()
    assert lines[0] == "5 documents: 3 pairs with a weighted mean of title, maker and price >= 0.6"
    assert lines[2:5] == [
        "1 document without a value in title; 1 pair judged without it",
        "1 document without a value in maker; 1 pair judged without it",
        "1 document without a value in price (1 with what is no number); 1 pair judged without it",
    ]
    assert "pairs near in a field" in outcome.out
    assert "pairs found " in outcome.out
    with Path("p.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [
        {
            "id_a": "a",
            "id_b": "b",
            "similarity": rows[0]["similarity"],
            "similarity_title": "0.8",
            "similarity_maker": "1.0",
            "similarity_price": str(1 - 5 / 105),
        },
        {
            "id_a": "c",
            "id_b": "d",
            "similarity": rows[1]["similarity"],
            "similarity_title": "",
            "similarity_maker": "1.0",
            "similarity_price": str(1 - 49 / 1299),
        },
        {
            "id_a": "c",
            "id_b": "e",
            "similarity": "0.6666666666666666",
            "similarity_title": "0.6666666666666666",
            "similarity_maker": "",
            "similarity_price": "",
        },
    ]
    assert float(rows[0]["similarity"]) == pytest.approx(0.5 * 0.8 + 0.3 + 0.2 * 100 / 105)
    assert float(rows[1]["similarity"]) == pytest.approx((0.3 + 0.2 * (1 - 49 / 1299)) / 0.5)


def test_fields__equal_records_are_at_1(run, here, write_file):
    """Whatever their weights add up to as floats, and however low the threshold is."""
    write_file("a.csv", "id,title,authors,year\na,x y,z,1\nb,x y,z,1\nc,x y,z,2\n")
    fields = ("--field", "title:0.6", "--field", "authors:0.3", "--field", "year:0.1:exact")
    for threshold in ("0.5", "0.9", "1"):
        run("pairs", "a.csv", *fields, "--threshold", threshold, "-o", "p.csv", "--overwrite")
        found = [line.split(",")[2] for line in Path("p.csv").read_text().splitlines()[1:]]
        assert found == (["1.0"] if threshold == "1" else ["1.0", "0.9", "0.9"])


@pytest.mark.parametrize("content", ["", "id,title\n"])
@pytest.mark.parametrize("other", [(), ("--against", "goods.csv")])
@pytest.mark.parametrize(
    "options",
    [
        ("--field", "title:1"),
        ("--text-column", "title", "--columns", "title"),
        ("--text-column", "title", "--where", "title <> 'x'"),
        ("--text-column", "title", "--also", "title:edit:0.5"),
    ],
)
def test_fields__without_rows_nothing_is_found(
    run, here, goods, write_file, content, other, options
):
    write_file("none.csv", content)
    outcome = run("pairs", "none.csv", *other, *options, "-o", "p.csv")
    assert "INPUT has no rows, so there was nothing to compare" in outcome.out
    assert len(Path("p.csv").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "options", [("--field", "name:1"), ("--text-column", "title", "--columns", "name")]
)
@pytest.mark.parametrize("names", [("none.csv",), ("goods.csv", "--against", "none.csv")])
def test_fields__a_header_without_rows_says_the_columns(
    run, here, goods, write_file, names, options
):
    write_file("none.csv", "id,title\n")
    outcome = run("pairs", *names, *options, "-o", "p.csv")
    assert "no column 'name'" in outcome.err
    assert "; columns are 'id', 'title'" in outcome.err


def test_fields__page_says_what_each_gave(run, here, goods):
    run("pairs", "goods.csv", *FIELDS, "--threshold", "0.6", "-o", "p.parquet")
    run("report", "p.parquet", "goods.csv", "-o", "p.html")
    page = Path("p.html").read_text(encoding="utf-8")
    assert (
        "the mean of those of title (weight 0.5), maker (weight 0.3) and price (weight 0.2)" in page
    )
    assert "What each field gave" in page
    assert "title without a value, maker 1.0000, price 0.9623" in page
    # Titles are the texts, although --text-column does not say so.
    assert "Walkman" in page


@pytest.mark.parametrize("table", ["p.csv", "p.jsonl"])
def test_fields__page_of_a_table_that_says_nothing_of_them(run, here, goods, write_file, table):
    run("pairs", "goods.csv", *FIELDS, "--threshold", "0.6", "-o", table)
    assert run("report", table, "goods.csv", "-o", "p.html").code == 0
    page = Path("p.html").read_text(encoding="utf-8")
    assert "Walkman" in page
    assert "1,299" in page
    # Beside a text similarities are of conditions.
    write_file("texts.csv", GOODS.replace("maker", "text"))
    found = ("pairs", "texts.csv", "--threshold", "1", "--also", "title:edit:0.1")
    run(*found, "-o", "q.csv")
    run("report", "q.csv", "texts.csv", "-o", "q.html")
    page = Path("q.html").read_text(encoding="utf-8")
    assert "SONY" in page
    assert "Walkman" not in page


def test_fields__between_two_collections_one_to_one(run, here, goods, write_file):
    write_file("other.csv", "id,title,maker,price,color\nx,sony walkman nwz 5,,99,red\n")
    run(
        *("pairs", "goods.csv", "--against", "other.csv", *FIELDS, "--threshold", "0.5"),
        *("--one-to-one", "--columns", "color", "--where", "maker = 'Sony'", "-o", "p.csv"),
    )
    (row,) = Path("p.csv").read_text(encoding="utf-8").splitlines()[1:]
    a, b, similarity, rest = row.split(",", 3)
    assert [a, b, rest] == ['"a"', '"x"', '1.0,,0.99,"red"']
    assert float(similarity) == pytest.approx((0.5 + 0.2 * 0.99) / 0.7)


OTHERS = """id,name,brand,cost,title
x,sony walkman nwz 5,,99,The best of all
y,Toaster,Acme,20,Also good
"""
RENAMED = ("--field", "title=name:0.5", "--field", "price=cost:0.2:number")


def test_fields__columns_that_are_called_differently(run, here, goods, write_file):
    """The table, its page and what is judged have the first name, and values of both sides."""
    write_file("other.csv", OTHERS)
    both = ("goods.csv", "--against", "other.csv")
    more = ("--columns", "title,brand", "--threshold", "0.9")
    outcome = run("pairs", *both, *RENAMED, *more, "-o", "p.parquet")
    assert outcome.out.startswith(
        "5 documents and 2 documents: 1 pair with a weighted mean of title and price >= 0.9\n"
    )
    run("pairs", *both, *RENAMED, *more, "-o", "p.csv")
    head, row = Path("p.csv").read_text(encoding="utf-8").splitlines()
    expected = "id_a,id_b,similarity,similarity_title,similarity_price,title_a,title_b,brand_b"
    assert head.replace('"', "") == expected
    assert row.endswith(',1.0,0.99,"Sony Walkman NWZ 5","sony walkman nwz 5",""')
    assert run("report", "p.parquet", *both, "-o", "p.html").code == 0
    page = Path("p.html").read_text(encoding="utf-8")
    assert "sony walkman nwz 5" in page
    assert "The best of all" not in page
    run("pairs", *both, *RENAMED, "-o", "q.parquet")
    assert run("review", "q.parquet", *both, "-o", "q.html").code == 0
    page = Path("q.html").read_text(encoding="utf-8")
    assert "Walkman NWZ 5" in page
    assert '"fields":["title","maker","price"]' in page
    assert "The best of all" not in page


def test_fields__page_of_a_bare_table_is_told_the_other_texts(run, here, goods, write_file):
    write_file("other.csv", OTHERS)
    both = ("goods.csv", "--against", "other.csv")
    run("pairs", *both, *RENAMED, "-o", "p.csv")
    run("report", "p.csv", *both, "--against-text-column", "name", "-o", "p.html")
    page = Path("p.html").read_text(encoding="utf-8")
    assert "Sony Walkman NWZ 5" in page
    assert "sony walkman nwz 5" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--field", "title=name:1"), "column 'title' and 'name' of another collection"),
        (("--against", "other.csv", "--field", "title=a=b:1"), "with == for a = that a name has"),
        (("--against", "other.csv", "--field", "title===b:1"), "not at its end or beginning"),
        (("--against", "other.csv", "--field", "title=:1"), "COLUMN or COLUMN=OTHER"),
        (("--against", "other.csv", "--field", "title=maker:1"), "no column 'maker', which fields"),
        (
            ("--against", "other.csv", "--field", "title=name:1", "--field", "maker=name:1"),
            "names 'name' twice",
        ),
        (
            ("--against", "clash.csv", "--field", "title=name:1"),
            "is the name of a column, and may be 'title' and 'name' of the other collection; write "
            "'title==name'",
        ),
    ],
)
def test_fields__names_of_columns_are_clear(run, here, goods, write_file, options, message):
    write_file("other.csv", OTHERS)
    write_file("clash.csv", "id,name,title=name\nx,a,b\n")
    outcome = run("pairs", "goods.csv", *options, "-o", "p.csv")
    [line] = outcome.err.splitlines()
    assert message in line


def test_fields__a_name_with_an_equals_sign(run, here, write_file):
    write_file("a.csv", "id,a=b\nx,one two\ny,one two\n")
    outcome = run("pairs", "a.csv", "--field", "a==b:1", "-o", "p.csv")
    assert outcome.out.startswith("2 documents: 1 pair with a weighted mean of a=b >= 0.8")


def test_fields__rows_of_json_may_lack_all(run, here, write_file):
    """Numbers as such, a null, and a key that a row does not have."""
    rows = [
        {"title": "a b", "price": 10},
        {"title": None, "price": 10},
        {"price": 10.0},
        {"title": "a b", "price": None},
    ]
    write_file("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    outcome = run(
        "pairs", "a.jsonl", "--field", "title:1", "--field", "price:1:number", "-o", "p.csv"
    )
    assert outcome.out.startswith("4 documents: 4 pairs with")
    found = [line.split(",")[:2] for line in Path("p.csv").read_text().splitlines()[1:]]
    assert [pair[0][-2] + pair[1][-2] for pair in found] == ["12", "13", "14", "23"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--field", "title"), "--field must be COLUMN:WEIGHT or COLUMN:WEIGHT:KIND, got 'title'"),
        (
            ("--field", "title:0"),
            "with a weight above 0 and a kind out of text, rare, edit, exact, number",
        ),
        (("--field", "title:1:words"), "with a weight above 0"),
        (("--field", "title:1", "--field", "title:2"), "names 'title' twice"),
        (("--field", "name:1"), "no column 'name', which fields (--field) names; columns are"),
        (
            ("--field", "title:1", "--top", "3", "--per-document"),
            "--per-document does not go with --field",
        ),
        (
            ("--field", "title:1", "--top", "3", "--limit", "3"),
            "--limit has no effect with --top 3",
        ),
        (
            ("--field", "title:1", "--top", "3", "--also", "maker:edit:1"),
            "found by a --threshold; leave out --top",
        ),
        (("--field", "title:1", "--method", "minhash"), "compared exactly; leave out --method"),
        (("--field", "title:1", "--measure", "cosine"), "by jaccard, dice or max-containment"),
        (("--field", "title:1", "--max-distance", "1"), "give --threshold instead"),
        (("--field", "title:1", "--threshold", "1e-7"), "must be 0.000001 at least"),
        (
            ("--field", "title:1", "--against", "goods.csv", "--against-text-column", "maker"),
            "take the place of --against-text-column",
        ),
        (("--field", "title:1", "--text-column", "maker"), "take the place of --text-column"),
        (("--field", "title:1", "--also", "title:edit:1"), "a column is a field or a condition"),
        (("--field", "title:1", "--algorithm", "ppjoin"), "--algorithm has no effect on fields"),
        (("--field", "title:1:rare", "--idf", "smooth"), "--idf has no effect on fields"),
        (("--field", "title:1:rares"), "COLUMN:WEIGHT:KIND, with a weight above 0"),
        (("--field", "title:1", "--recall", "0.9"), "--recall has no effect on fields"),
        (("--text-column", "title", "--labels", "l.csv"), "--labels has no effect without fields"),
    ],
)
def test_fields__refused(run, here, goods, options, message):
    outcome = run("pairs", "goods.csv", *options, "-o", "p.csv")
    assert message in outcome.err


def test_fields__limit(run, here, goods):
    outcome = run(
        *("pairs", "goods.csv", *FIELDS, "--threshold", "0.6", "--limit", "2", "-o", "p.csv"),
    )
    assert "more than 2 pairs" in outcome.err


def test_fields__the_most_similar(run, here, goods):
    outcome = run("pairs", "goods.csv", *FIELDS, "--top", "2", "--json", "-o", "p.parquet")
    summary = json.loads(outcome.out)
    assert summary["threshold"] is None
    assert [summary[name] for name in ("top", "pairs", "steps")] == [2, 2, 1]
    run("pairs", "goods.csv", *FIELDS, "--top", "2", "-o", "p.csv")
    found = [line.split(",")[:2] for line in Path("p.csv").read_text().splitlines()[1:]]
    assert found == [['"c"', '"d"'], ['"a"', '"b"']]
    outcome = run("pairs", "goods.csv", *FIELDS, "--top", "9", "--threshold", "0.9", "-o", "q.csv")
    said = "5 documents: 1 pair with a weighted mean of title, maker and price >= 0.9, the 9 most"
    assert outcome.out.startswith(said)
    run("report", "p.parquet", "goods.csv", "-o", "p.html")
    assert "only the 2 best were asked for" in Path("p.html").read_text(encoding="utf-8")


def test_fields__the_most_similar_in_exact_fractions():
    """Where floats cannot tell."""
    rows = [{"price": f"999999999999999999{end}"} for end in ("97", "98", "99")]
    for top in (1, 2, 3):
        found = neardup.find_pairs(rows, fields="price:1:number", top=top).pairs
        ids = list(zip(found["id_a"].to_pylist(), found["id_b"].to_pylist(), strict=True))
        assert ids == [("1", "2"), ("0", "1"), ("0", "2")][:top]


def test_fields__the_most_similar_of_many():
    """Thresholds fall until there are enough, and what is less similar is not looked at."""
    rng = np.random.default_rng(3)
    words = [f"w{n}" for n in range(300)]
    rows = [{"title": " ".join(rng.choice(words, 6)), "price": str(n)} for n in range(1000)]
    rows += [dict(row, title=row["title"] + " more") for row in rows[:50]]
    result = neardup.find_pairs(rows, fields=["title:0.8", "price:0.2:number"], top=50)
    assert {(int(a) + 1000, int(b)) for a, b in zip(*result.pairs.columns[:2], strict=False)} == {
        (int(b), int(b)) for b in result.pairs["id_b"].to_pylist()
    }
    assert 1 < result.summary["steps"] < 5
    assert result.counts.candidates < 50_000


@pytest.mark.parametrize("memory", [20_000, 1_000_000])
@pytest.mark.parametrize("top", [None, 15])
@pytest.mark.parametrize("has_other", [False, True])
def test_fields__within_a_budget(monkeypatch, memory, top, has_other):
    """In blocks, and in parts of them where too much is near in one field."""
    rng = np.random.default_rng(1)
    words = [f"w{n}" for n in range(34)]
    left, right = (
        [
            {"title": " ".join(rng.choice(words, 4)), "price": str(rng.integers(1, 50))}
            for _ in range(60)
        ]
        for _ in range(2)
    )
    both = [left, right] if has_other else [left]
    options = {"fields": ["title:0.7", "price:0.3:number"], "threshold": "0.5", "top": top}
    whole = neardup.find_pairs(*both, **options)
    parted, halves = [], field_blocks._halves
    monkeypatch.setattr(field_blocks, "_halves", lambda *unit: parted.append(unit) or halves(*unit))
    monkeypatch.setattr(field_blocks, "_FEW_PAIRS", 4)
    monkeypatch.setattr(field_blocks, "_PAIR", memory // 20)
    with spilling(memory):
        found = neardup.find_pairs(*both, memory="1GB", **options)
    assert whole.pairs.num_rows > 10
    assert found.pairs.to_pylist() == whole.pairs.to_pylist()
    assert len(parted) > 3
    assert found.summary["distinct_records"] == whole.summary["distinct_records"]


def test_fields__goes_on_where_it_was_stopped(monkeypatch, run, here, write_file):
    rng = np.random.default_rng(1)
    lines = [f"{n},{' '.join(map(str, rng.integers(0, 20, 4)))}" for n in range(80)]
    write_file("a.csv", "\n".join(["id,title", *lines, ""]))
    command = ("pairs", "a.csv", "--field", "title:1", "--threshold", "0.5", "--memory", "1GB")
    assert run(*command, "-o", "whole.csv").code == 0
    compared, join = [], field_blocks.join_fields

    def stopped(*arguments):
        compared.append(arguments)
        if len(compared) == 20:
            raise RuntimeError
        return join(*arguments)

    monkeypatch.setattr(field_blocks, "join_fields", stopped)
    with spilling(10_000):
        with pytest.raises(RuntimeError):
            run(*command, "-o", "p.csv")
        assert run(*command, "-o", "p.csv").code == 0
        n_compared = len(compared)
        compared.clear()
        monkeypatch.setattr(field_blocks, "join_fields", lambda *a: compared.append(a) or join(*a))
        run(*command, "-o", "q.csv")
    # The unit at which it was stopped comes twice.
    assert n_compared == len(compared) + 1
    for name in ("p.csv", "q.csv"):
        assert Path(name).read_bytes() == Path("whole.csv").read_bytes()


@pytest.mark.parametrize("has_other", [False, True])
@pytest.mark.parametrize("memory", [None, 20_000])
@pytest.mark.parametrize("blocking", [None, "maker"])
def test_fields__rare_is_what_pairs_do_with_idf(memory, has_other, blocking):
    """Over the records of both collections, and whatever is in a block of them."""
    rng = np.random.default_rng(2)
    left, right = (
        [
            {"name": " ".join(f"w{n}" for n in rng.zipf(1.5, 5) % 90), "maker": str(number % 2)}
            for number in range(110)
        ]
        for _ in range(2)
    )
    both = [left, right] if has_other else [left]
    options = {"threshold": "0.6", "blocking": blocking}
    weights = {"measure": "weighted-jaccard", "idf": "smooth", "text_column": "name"}
    plain = neardup.find_pairs(*both, **options, **weights).pairs.to_pylist()
    with spilling(memory or 1 << 40):
        found = neardup.find_pairs(*both, fields="name:1:rare", memory="1GB", **options)
    rows = found.pairs.to_pylist()
    assert len(rows) >= 20
    assert [(row["id_a"], row["id_b"]) for row in rows] == [
        (row["id_a"], row["id_b"]) for row in plain
    ]
    similarities = [row["similarity"] for row in plain]
    assert [row["similarity_name"] for row in rows] == pytest.approx(similarities)


def test_fields__model_numbers_count_more_than_words_that_all_goods_share(run, here, write_file):
    goods = [f"h{n},Sony black digital camera H{n}\n" for n in range(100)]
    write_file(
        "theirs.csv", "".join(["id,title\n", *goods, "x,Sony W55 camera silver\n", "z,!!!\n"])
    )
    write_file("ours.csv", "id,name\na,Sony black digital camera W55\nd,\n")
    command = ("pairs", "ours.csv", "--against", "theirs.csv", "--top", "1")
    for kind, partner in (("text", "h0"), ("rare", "x")):
        outcome = run(*command, "--field", f"name=title:1:{kind}", "-o", f"{kind}.csv")
        assert "2 documents without a value in name" in outcome.out
        with Path(f"{kind}.csv").open(encoding="utf-8", newline="") as file:
            assert [(row["id_a"], row["id_b"]) for row in csv.DictReader(file)] == [("a", partner)]
    run(*command, "--field", "name=title:1:rare", "-o", "rare.parquet")
    run("report", "rare.parquet", "ours.csv", "--against", "theirs.csv", "-o", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "mean of those of name (weight 1)" in page
    assert "silver" in page


def test_fields__too_much_alike_is_refused(monkeypatch):
    """Nothing is left out: where no field tells records apart, the way out is said."""
    monkeypatch.setattr(by_fields, "_MOST_POSTINGS", 1e4)
    rows = [{"maker": "x", "price": n} for n in range(1, 101)]
    with pytest.raises(neardup.InvalidInputError, match=r"--blocking COLUMN.*more weight"):
        neardup.find_pairs(rows, fields=["maker:1:exact", "price:1:number"], threshold=0.5)


def test_fields__equal_makers_are_not_all_compared():
    """A maker that every pair has to share limits what is compared, and does not find pairs."""
    rng = np.random.default_rng(1)
    words = [f"w{n}" for n in range(400)]
    rows = [
        {"title": " ".join(rng.choice(words, 6)), "maker": f"m{n % 4}", "price": str(n)}
        for n in range(1000)
    ]
    rows += [dict(row, title=row["title"] + " more") for row in rows[:50]]
    result = neardup.find_pairs(
        rows, fields=["title:0.5", "maker:0.3:exact", "price:0.2:number"], threshold="0.8"
    )
    assert result.summary["pairs"] >= 50
    assert result.counts.candidates < 20_000


def test_fields__threshold_in_exact_fractions():
    """Where floats cannot tell, the digits that were written do."""
    rows = [{"price": "100000000000000000000"}, {"price": "79999999999999999999"}]
    assert neardup.find_pairs(rows, fields="price:1:number").pairs.num_rows == 0
    rows[1]["price"] = "80000000000000000000"
    assert neardup.find_pairs(rows, fields="price:1:number").pairs.num_rows == 1


def test_fields__equal_records_are_worked_out_once(monkeypatch):
    """At 1 every pair lies at the threshold, where floats do not decide."""
    asked = []
    exact = fields._Wholes.exact_similarities
    monkeypatch.setattr(
        fields._Wholes,
        "exact_similarities",
        lambda own, a, b: asked.extend(a.tolist()) or exact(own, a, b),
    )
    rows = [{"maker": f"m{n % 5}", "color": "red"} for n in range(200)]
    result = neardup.find_pairs(rows, fields=["maker:1:exact", "color:1:exact"], threshold="1")
    assert result.pairs.num_rows == 5 * 40 * 39 // 2
    assert len(asked) < 10


@pytest.fixture
def judged(write_file):
    """Records whose names say which are the same, and whose colours say nothing."""
    rng = np.random.default_rng(7)
    lines, labels = ["id,name,color"], ["id_a,id_b,label"]
    for n in range(40):
        lines += [f"a{n},n{n} x{n} y{n},{rng.choice(['red', 'blue'])}"]
        lines += [f"b{n},n{n} x{n} z{n},{rng.choice(['red', 'blue'])}"]
        labels += [f"a{n},b{n},1", f"a{n},b{(n + 1) % 40},0"]
    write_file("records.csv", "\n".join([*lines, ""]))
    write_file("labels.csv", "\n".join([*labels, "a0,unknown,1", ""]))


@pytest.mark.parametrize("name", ["name:1", "name:1:rare"])
def test_fields__weights_from_labels(run, here, judged, name):
    fields = ("--field", name, "--field", "color:9:exact")
    outcome = run("pairs", "records.csv", *fields, "--labels", "labels.csv", "-o", "p.csv")
    assert outcome.out.splitlines()[0].startswith("80 documents: 40 pairs with a weighted mean of ")
    assert "weights by 80 labels, 40 of them right: name " in outcome.out
    assert "F1 on these labels 1.000" in outcome.out
    outcome = run(
        *("pairs", "records.csv", *fields, "--labels", "labels.csv", "--threshold", "0.99"),
        *("-o", "p.csv", "--overwrite", "--json"),
    )
    summary = json.loads(outcome.out)
    assert summary["threshold"] == 0.99
    assert summary["pairs"] == 0
    weights = {each["column"]: each["weight"] for each in summary["fields"]}
    assert weights["name"] > 0.8
    assert sum(weights.values()) == pytest.approx(1)


def test_fields__says_where_weights_by_labels_had_no_say(run, here, judged):
    fields = ("--field", "name:1", "--field", "color:9:exact", "--labels", "labels.csv")
    lines = Path("records.csv").read_text(encoding="utf-8").splitlines()
    lines = [re.sub(r"^([ab])(\d+),(.*),.*", r"\1\2,\3,c\2", line) for line in lines]
    Path("records.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    assert "hint" not in run("pairs", "records.csv", *fields, "-o", "p.csv").out
    # Labels judge records that have a color, and most pairs are of records without one.
    lines += [f"{side}{n},n{n} x{n} y{n}," for n in range(50) for side in "cd"]
    Path("records.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    outcome = run("pairs", "records.csv", *fields, "-o", "p.csv", "--overwrite")
    [hint] = [line for line in outcome.out.splitlines() if line.startswith("hint")]
    assert re.fullmatch(
        r"hint: of \d+ pairs \d+ without color were judged by what else they have; try labels near "
        "the threshold of equal weights, a higher --threshold, or leave such records out by "
        "--where",
        hint,
    )


def test_fields__labels_have_to_say_both(run, here, judged, write_file):
    write_file("right.csv", "id_a,id_b\n" + "".join(f"a{n},b{n}\n" for n in range(20)))
    outcome = run(
        *("pairs", "records.csv", "--field", "name:1", "--labels", "right.csv", "-o", "p.csv")
    )
    assert "labels have 20 right and 0 wrong pairs" in outcome.err
    write_file("others.csv", "id_a,id_b,label\nx,y,1\n")
    outcome = run(
        *("pairs", "records.csv", "--field", "name:1", "--labels", "others.csv", "-o", "p.csv")
    )
    assert "labels and records have no pair in common" in outcome.err
