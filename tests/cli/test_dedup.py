"""``neardup dedup`` on every kind of input, with every option, checked against the inputs."""

from __future__ import annotations

import io
import json
import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.cli.options import MEASURES
from neardup.files import parquet
from neardup.files.delimited import DelimitedSource
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.records import RecordSource
from tests.oracles import weighted

COMPRESSIONS = ["", ".gz", ".zst", ".xz", ".bz2"]


def numbered(name: str, texts: list[str]) -> dict[str, str]:
    return {f"{name}:{i}": text for i, text in enumerate(texts, 1)}


@pytest.mark.parametrize(
    "name",
    [
        *(f"a.jsonl{suffix}" for suffix in COMPRESSIONS),
        *(f"a.csv{suffix}" for suffix in COMPRESSIONS),
        "a.ndjson",
        "a.json",
        "a.json.gz",
        "a.tsv",
        "a.tsv.zst",
    ],
)
def test_dedup__rows_come_out_as_they_went_in(
    run, here, texts, write_texts, read_content, verify, name
):
    rows = write_texts(name, texts)
    outcome = run("dedup", name, "-o", "out")
    assert (outcome.code, outcome.err) == (0, "")
    stays = verify(here / "out", numbered(name, texts))
    assert 0 < sum(stays) < len(stays)
    assert [path.name for path in Path("out/kept").iterdir()] == [name]
    assert [path.name for path in Path("out/removed").iterdir()] == [name]
    assert read_content(here / "out/kept" / name) == rows.content(stays)
    assert read_content(here / "out/removed" / name) == rows.content([not s for s in stays])
    removed = pq.read_table("out/removed.parquet")
    assert set(removed["file"].to_pylist()) == {name}
    assert removed["row"].to_pylist() == [i for i, stay in enumerate(stays, 1) if not stay]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_dedup__one_document_a_line(run, here, texts, write_texts, read_content, verify, suffix):
    name = f"a.txt{suffix}"
    lines = [" ".join(text.split()) for text in texts if text.strip()]
    rows = write_texts(name, lines)
    assert run("dedup", "--lines", name, "-o", "out", "--quiet").code == 0
    stays = verify(here / "out", numbered(name, lines))
    assert read_content(here / "out/kept" / name) == rows.content(stays)
    assert read_content(here / "out/removed" / name) == rows.content([not s for s in stays])


def test_dedup__one_document_a_file(run, here, texts, write_file, read_content, verify):
    names = [f"{'xy'[i % 2]}/{i:03}.txt{COMPRESSIONS[i % 5]}" for i in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        write_file(f"in/{name}", text)
    assert run("dedup", "in", "-o", "out").code == 0
    documents = {f"{name}:1": text for name, text in sorted(zip(names, texts, strict=True))}
    stays = verify(here / "out", documents)
    for (name, text), stay in zip(documents.items(), stays, strict=True):
        path = here / "out" / ("kept" if stay else "removed") / name.removesuffix(":1")
        other = here / "out" / ("removed" if stay else "kept") / name.removesuffix(":1")
        assert read_content(path) == text.encode()
        assert not other.exists() or read_content(other) == b""


def test_dedup__parquet(run, here, texts, verify):
    metadata = {b"made by": b"a test", b"pandas": b"{}"}
    schema = pa.schema(
        [
            pa.field("text", pa.large_string(), metadata={b"language": b"none"}),
            pa.field("tags", pa.list_(pa.int16())),
            pa.field("when", pa.timestamp("ns", "Europe/Berlin")),
            pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
        ],
        metadata,
    )
    table = pa.table(
        {
            "text": texts,
            "tags": [[i, None] if i % 3 else None for i in range(len(texts))],
            "when": [i * 10**15 for i in range(len(texts))],
            "kind": pa.array(["a", "b", None, "c"] * len(texts)).dictionary_encode()[: len(texts)],
        },
        schema,
    )
    pq.write_table(table, "a.parquet", row_group_size=30)
    assert run("dedup", "a.parquet", "-o", "out").code == 0
    stays = pa.array(verify(here / "out", numbered("a.parquet", texts)))
    kept, removed = pq.read_table("out/kept/a.parquet"), pq.read_table("out/removed/a.parquet")
    assert kept.schema.equals(pq.read_table("a.parquet").schema, check_metadata=True)
    assert removed.schema.equals(kept.schema, check_metadata=True)
    assert kept.equals(table.filter(stays))
    assert removed.equals(table.filter(pa.compute.invert(stays)))


@pytest.mark.parametrize("lines", [False, True])
def test_dedup__standard_input(
    run, here, monkeypatch, texts, write_texts, read_content, verify, lines
):
    name = "stdin.txt" if lines else "stdin.jsonl"
    texts = [" ".join(text.split()) for text in texts if text.strip()]
    rows = write_texts(f"source/{name}", texts)
    data = (here / "source" / name).read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert run("dedup", "-", *["--lines"][:lines], "-o", "out").code == 0
    stays = verify(here / "out", numbered(name, texts))
    assert read_content(here / "out/kept" / name) == rows.content(stays)
    assert read_content(here / "out/removed" / name) == rows.content([not s for s in stays])


@pytest.mark.parametrize("argument", ["in", "in/**/*.*", "{here}/in"])
def test_dedup__many_files(run, here, texts, write_texts, read_content, verify, argument):
    names = ["a.jsonl", "b/a.csv.gz", "b/c/a.jsonl.zst", "d.json"]
    files = {}
    documents = {}
    for i, name in enumerate(names):
        part = texts[i::4]
        files[name] = write_texts(f"in/{name}", part)
        documents |= numbered(name, part)
    assert run("dedup", argument.format(here=here), "-o", "out").code == 0
    stays = verify(here / "out", documents)
    for name, rows in files.items():
        here_stays, stays = stays[: len(rows.rows)], stays[len(rows.rows) :]
        assert read_content(here / "out/kept" / name) == rows.content(here_stays)
        gone = [not stay for stay in here_stays]
        assert read_content(here / "out/removed" / name) == rows.content(gone)


def test_dedup__ids_of_the_user(run, here, texts, write_texts, verify):
    write_texts("a.jsonl", texts)
    assert run("dedup", "a.jsonl", "-o", "out", "--id-column", "id").code == 0
    verify(here / "out", {f"d{i}": text for i, text in enumerate(texts)})


@pytest.mark.parametrize("name", ["b.jsonl", "b.csv.gz"])
def test_dedup__against(run, here, texts, write_texts, verify, name):
    own, other = texts[::2], texts[1::2]
    write_texts("a.jsonl", own)
    write_texts(name, other[:20])
    write_texts("c.jsonl", other[20:])
    result = run("dedup", "a.jsonl", "--against", name, "--against", "c.jsonl", "-o", "out")
    assert result.code == 0
    against = numbered(name, other[:20]) | numbered("c.jsonl", other[20:])
    stays = verify(here / "out", numbered("a.jsonl", own), against=against)
    assert [path.name for path in Path("out/kept").iterdir()] == ["a.jsonl"]
    keepers = pq.read_table("out/removed.parquet")["kept_id"].to_pylist()
    assert {name.partition(":")[0] for name in keepers} == {"a.jsonl", name, "c.jsonl"}
    assert json.loads(Path("out/summary.json").read_text())["against_documents"] == len(other)
    assert sum(stays) < len(own)


def test_dedup__against_what_is_not_similar(run, here, write_texts, verify):
    write_texts("a.jsonl", ["one", "two", ""])
    write_texts("b.jsonl", ["three", ""])
    assert run("dedup", "a.jsonl", "--against", "b.jsonl", "-o", "out").code == 0
    documents = numbered("a.jsonl", ["one", "two", ""])
    against = numbered("b.jsonl", ["three", ""])
    assert verify(here / "out", documents, against=against) == [True] * 3


def test_dedup__against_a_file_of_the_same_name(run, here, texts, write_texts, verify):
    write_texts("old/a.jsonl", texts[::2])
    write_texts("new/a.jsonl", texts[1::2])
    assert run("dedup", "new/a.jsonl", "--against", "old/a.jsonl", "-o", "out").code == 0
    against = numbered("against/a.jsonl", texts[::2])
    verify(here / "out", numbered("a.jsonl", texts[1::2]), against=against)


def test_dedup__against_itself(run, here, write_texts, verify):
    texts = ["one", "two", ""]
    write_texts("a.jsonl", texts)
    assert run("dedup", "a.jsonl", "--against", "a.jsonl", "-o", "out").code == 0
    against = numbered("against/a.jsonl", texts)
    stays = verify(here / "out", numbered("a.jsonl", texts), against=against)
    assert stays == [False, False, True]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("threshold", ["0.55", "0.95"])
def test_dedup__measure(run, here, texts, write_texts, verify, measure, threshold):
    write_texts("a.jsonl", [*texts, *(text[: len(text) * 2 // 3] for text in texts[:20])])
    arguments = ("dedup", "a.jsonl", "-o", "out", "--measure", measure, "--threshold", threshold)
    assert run(*arguments, "--ngram", 3).code == 0
    documents = [*texts, *(text[: len(text) * 2 // 3] for text in texts[:20])]
    stays = verify(
        here / "out",
        numbered("a.jsonl", documents),
        measure=measure,
        threshold=threshold,
        ngram=3,
    )
    assert sum(stays) < len(stays)


def weigh_texts(texts: list[str], others: list[str], tf: str, idf: str) -> list[dict[str, int]]:
    """Weigh the words of some texts as those of all, the others included."""
    words = [re.findall(r"\w+", text.casefold()) for text in [*texts, *others]]
    counts = weighted.document_frequencies(words)
    return [weighted.weigh(each, tf, idf, counts, len(words)) for each in words]


@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize(("tf", "idf"), [("log", "standard"), ("squared", "probabilistic")])
def test_dedup__weighted(run, here, texts, write_texts, read_content, tf, idf, against):
    own, other = (texts[::2], texts[1::2]) if against else (texts, [])
    rows = write_texts("a.jsonl", own)
    options = ["--measure", "weighted-jaccard", "--tf", tf, "--idf", idf, "--threshold", "0.7"]
    if against:
        write_texts("b.jsonl", other)
        options += ["--against", "b.jsonl"]
    assert run("dedup", "a.jsonl", "-o", "out", *options).code == 0
    documents = numbered("a.jsonl", own) | numbered("b.jsonl", other)
    weights = dict(zip(documents, weigh_texts(own, other, tf, idf), strict=True))
    removed = pq.read_table("out/removed.parquet").to_pylist()
    gone = {row["id"] for row in removed}
    n_near = 0
    for row in removed:
        assert row["kept_id"] not in gone
        x, y = weights[row["id"]], weights[row["kept_id"]]
        if row["exact_copy"]:
            assert row["similarity"] == 1.0
            assert x == y
        else:
            exact = weighted.weighted_jaccard(x, y)
            assert exact >= Fraction("0.7")
            assert row["similarity"] == pytest.approx(float(exact), rel=1e-15)
            n_near += 1
    assert n_near > 5
    stays = [name not in gone for name in documents if name.startswith("a.jsonl")]
    assert read_content(here / "out/kept/a.jsonl") == rows.content(stays)
    # No two that stay are clearly similar, but those of the other file.
    left = [name for name in documents if name not in gone and weights[name]]
    for d, name in enumerate(left):
        for other_name in left[d + 1 :] if name.startswith("a.jsonl") else ():
            assert weighted.weighted_jaccard(weights[name], weights[other_name]) < 0.85


def test_dedup__report_of_weights(run, write_file):
    texts = ["the cat sat on a mat", "The cat sat on a mat!", "the dog", "", "the"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    options = ("--measure", "weighted-jaccard", "--tf", "log", "--idf", "standard")
    first, second, third, last = run("dedup", "a.jsonl", "-o", "out", *options).out.splitlines()
    assert first == "5 documents: 4 kept, 1 removed (1 exact copy, 0 near-duplicates)"
    assert second == (
        "similar: weighted-jaccard >= 0.8 over words 1-grams, weighted by tf log and idf standard; "
        "16 bands of 6 rows find a pair at the threshold with probability 0.9923"
    )
    assert third == "1 empty document, kept"
    assert last.startswith("written to out in ")


@pytest.mark.parametrize("idf", [None, "unary", "standard", "smooth", "probabilistic"])
@pytest.mark.parametrize("tf", [None, "log"])
def test_dedup__summary_of_weights(run, write_file, tf, idf):
    write_file("a.jsonl", b'{"text": "a b"}\n{"text": "a"}\n')
    options = [
        *(("--tf", tf) if tf else ()),
        *(("--idf", idf) if idf else ()),
        *("--measure", "weighted-jaccard", "--json"),
    ]
    summary = json.loads(run("dedup", "a.jsonl", "-o", "out", *options).out)
    assert summary["measure"] == "weighted-jaccard"
    scheme = summary["scheme"]
    assert (scheme["tf"], scheme["idf"]) == (tf or "raw", idf or "smooth")
    assert (scheme["kind"], scheme["num_perm"], scheme["seed"]) == ("weighted", 96, 42)
    assert scheme["ngram"] == 1
    assert ("count" in summary["seconds"]) == (idf != "unary")
    assert json.loads(Path("out/summary.json").read_text()) == summary


def test_dedup__summary_without_weights(run, write_file):
    write_file("a.jsonl", b'{"text": "a b"}\n')
    summary = json.loads(run("dedup", "a.jsonl", "-o", "out", "--json").out)
    assert not {"tf", "idf"} & summary["scheme"].keys()
    assert "count" not in summary["seconds"]
    assert summary["scheme"]["kind"] == "minhash"


def test_dedup__ngram_of_weights(run, write_file):
    """The same words in another order are the same document as single words only."""
    texts = ["a b c d", "d c b a"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    for ngram, n_removed in ((1, 1), (2, 0)):
        options = ("--measure", "weighted-jaccard", "--ngram", ngram, "--json")
        summary = json.loads(run("dedup", "a.jsonl", "-o", f"out{ngram}", *options).out)
        assert (summary["documents_removed"], summary["scheme"]["ngram"]) == (n_removed, ngram)


KEEP_KEYS = {
    "first": lambda i, _: i,
    "longest": lambda i, text: (-len(text), i),
    "shortest": lambda i, text: (len(text), i),
    "max:score": lambda i, _: (-((i * 7) % 10), i),
    "min:score": lambda i, _: ((i * 7) % 10, i),
    "priority:source=b,a": lambda i, _: ({"b": 0, "a": 1}.get("cab"[i % 3], 2), i),
}


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
@pytest.mark.parametrize("keep", KEEP_KEYS)
def test_dedup__keep(run, here, texts, write_texts, verify, keep, name):
    if name == "a.parquet":
        rows = [
            {"text": text, "score": (i * 7) % 10, "source": "cab"[i % 3]}
            for i, text in enumerate(texts)
        ]
        pq.write_table(pa.Table.from_pylist(rows), name)
    else:
        write_texts(name, texts)
    assert run("dedup", name, "-o", "out", "--keep", keep).code == 0
    verify(here / "out", numbered(name, texts))
    for row in pq.read_table("out/removed.parquet").to_pylist():
        goes, stays = (int(row[column].partition(":")[2]) - 1 for column in ("id", "kept_id"))
        key = KEEP_KEYS[keep]
        assert key(stays, texts[stays]) < key(goes, texts[goes])


def test_dedup__components_remove_chains(run, here, write_file, verify):
    # Each is similar to the next one (7/9 of 3-word shingles), the first and the last are not.
    words = [f"w{i}" for i in range(13)]
    texts = [" ".join(words[i : i + 10]) for i in range(4)]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    options = ("--ngram", 3, "--threshold", "0.7", "--recall", "0.9999999")
    assert run("dedup", "a.jsonl", "-o", "chains", "--clusters", "components", *options).code == 0
    assert run("dedup", "a.jsonl", "-o", "direct", *options).code == 0
    documents = numbered("a.jsonl", texts)
    how = {"threshold": "0.7", "ngram": 3}
    assert verify(here / "chains", documents, direct=False, **how) == [True, False, False, False]
    assert verify(here / "direct", documents, **how) == [True, False, True, False]
    summary = json.loads(Path("chains/summary.json").read_text())
    assert summary["removed_beyond_survivors"] == 1
    assert summary["clusters"] == "components"


def test_dedup__components_report_the_difference(run, write_file):
    texts = [" ".join(f"w{j}" for j in range(i, i + 10)) for i in range(4)]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    arguments = ("dedup", "a.jsonl", "-o", "o", "--clusters", "components", "--ngram", 3)
    outcome = run(*arguments, "--threshold", "0.7", "--recall", "0.9999999")
    assert "\ncomponents remove 1 document more than survivors\n" in outcome.out


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.json", "a.csv"])
def test_dedup__format_jsonl(run, here, texts, write_texts, read_content, verify, name):
    write_texts(name, texts)
    assert run("dedup", name, "-o", "out", "--format", "jsonl").code == 0
    stays = verify(here / "out", numbered(name, texts))
    new_name = {"a.jsonl.gz": "a.jsonl.gz"}.get(name, "a.jsonl")
    for folder, wanted in (("kept", True), ("removed", False)):
        lines = read_content(here / "out" / folder / new_name).splitlines()
        found = [json.loads(line)["text"] for line in lines]
        assert found == [t for t, stay in zip(texts, stays, strict=True) if stay is wanted]


@pytest.mark.parametrize("name", ["a.jsonl.zst", "a.csv", "a.txt", "a.parquet"])
def test_dedup__format_parquet(run, here, texts, write_texts, verify, name):
    texts = [" ".join(text.split()) for text in texts if text.strip()]
    if name == "a.parquet":
        pq.write_table(pa.table({"text": texts}), name)
    else:
        write_texts(name, texts)
    assert run("dedup", name, "--lines", "-o", "out", "--format", "parquet").code == 0
    stays = verify(here / "out", numbered(name, texts))
    kept, removed = pq.read_table("out/kept/a.parquet"), pq.read_table("out/removed/a.parquet")
    assert kept["text"].to_pylist() == [t for t, stay in zip(texts, stays, strict=True) if stay]
    assert kept.schema.equals(removed.schema, check_metadata=True)
    assert len(kept) + len(removed) == len(texts)


def test_dedup__bands_and_rows(run, here, texts, write_texts, verify):
    write_texts("a.jsonl", texts)
    arguments = ("dedup", "a.jsonl", "-o", "out", "--bands", 30, "--rows", 4, "--json")
    summary = json.loads(run(*arguments).out)
    verify(here / "out", numbered("a.jsonl", texts))
    assert (summary["bands"], summary["rows"]) == (30, 4)
    assert summary["scheme"]["num_perm"] == 120
    assert summary["predicted_recall"] == pytest.approx(1 - (1 - 0.8**4) ** 30)


def test_dedup__numbered_occurrences(run, write_file):
    texts = ["a b a b a b a b", "a b a b a b"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    for occurrences, n_removed in (("set", 1), ("numbered", 0)):
        options = ("--ngram", 2, "--occurrences", occurrences, "--json")
        outcome = run("dedup", "a.jsonl", "-o", occurrences, *options)
        assert json.loads(outcome.out)["documents_removed"] == n_removed


@pytest.mark.parametrize(
    ("options", "pair"),
    [
        (["--no-casefold"], ["One two", "one two"]),
        ([], ["Café one", "Cafe one"]),
        ([], ["٣ pears", "3 pears"]),
        (["--tokenizer", "whitespace"], ["one, two", "one two"]),
    ],
)
def test_dedup__differences_that_count(run, write_file, options, pair):
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in pair))
    assert json.loads(run("dedup", "a.jsonl", "-o", "o", "--json", *options).out)[
        "documents_removed"
    ] == 0  # fmt: skip


@pytest.mark.parametrize(
    ("options", "pair"),
    [
        ([], ["One two", "one, TWO!"]),
        (["--strip-accents"], ["Café one", "Cafe one"]),
        (["--unicode-form", "NFC"], ["Café one", "Cafe\u0301 one"]),
        (["--unicode-form", "NFKC"], ["ﬁve", "five"]),
        (["--fold-digits"], ["٣ pears", "3 pears"]),
        (["--tokenizer", "whitespace", "--casefold"], ["One  two", "one two"]),
        (["--tokenizer", "characters"], ["one", "one"]),
        (["--tokenizer", "bytes"], ["one", "one"]),
    ],
)
def test_dedup__differences_that_do_not_count(run, write_file, options, pair):
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in pair))
    outcome = run("dedup", "a.jsonl", "-o", "o", "--json", *options)
    assert json.loads(outcome.out)["exact_copies"] == 1


def test_dedup__json(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    outcome = run("dedup", "a.jsonl", "-o", "out", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    assert json.loads(outcome.out) == json.loads(Path("out/summary.json").read_text())


def test_dedup__quiet(run, here, texts, write_texts, verify):
    write_texts("a.jsonl", texts)
    outcome = run("dedup", "a.jsonl", "-o", "out", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    verify(here / "out", numbered("a.jsonl", texts))


def test_dedup__report(run, write_file):
    texts = ["a b c d e f g", "A b c, d e f g!", "", "x"]
    write_file("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    first, second, third, last = run("dedup", "a.jsonl", "-o", "out").out.splitlines()
    assert first == "4 documents: 3 kept, 1 removed (1 exact copy, 0 near-duplicates)"
    assert second == (
        "similar: jaccard >= 0.8 over words 5-grams; 16 bands of 6 rows find a pair at the "
        "threshold with probability 0.9923"
    )
    assert third == "1 empty document, kept"
    assert last.startswith("written to out in ")


def test_dedup__report_of_a_poor_recall(run, write_file):
    write_file("a.jsonl", b'{"text": "a b"}\n')
    outcome = run("dedup", "a.jsonl", "-o", "out", "--bands", "1", "--rows", "100")
    lines = outcome.out.splitlines()
    assert "1 band of 100 rows finds a pair" in lines[1]
    assert lines[2].startswith("that is less than the recall of 0.99; leave out --bands")


SOURCES = (JsonLinesSource, DelimitedSource, RecordSource, parquet.ParquetSource)


@pytest.mark.parametrize("measure", ["jaccard", "weighted-jaccard"])
@pytest.mark.parametrize("clusters", ["survivors", "components"])
def test_dedup__same_bytes_for_any_workers_and_blocks(
    run, here, monkeypatch, texts, write_texts, read_tree, clusters, measure
):
    names = ["a.jsonl", "b.jsonl.gz", "c.csv.zst", "d.json.xz", "e.tsv.bz2", "f.txt"]
    for i, name in enumerate(names):
        write_texts(f"in/{name}", texts[i:] + texts[: i * 5])
    pq.write_table(pa.table({"text": texts[:70]}), "in/g.parquet")
    write_texts("other.jsonl", texts[5:15])

    def output(workers: int, block_bytes: int | None) -> dict[str, bytes | None]:
        with monkeypatch.context() as patch:
            if block_bytes is not None:
                patch.setattr(parquet, "_MIN_ROWS", 1)
                for source in SOURCES:
                    patch.setitem(source.__init__.__kwdefaults__, "block_bytes", block_bytes)
            target = f"out-{workers}-{block_bytes}"
            options = ("--workers", workers, "--lines", "--clusters", clusters, "--quiet")
            arguments = ("in", "--against", "other.jsonl", "-o", target, "--measure", measure)
            assert run("dedup", *arguments, *options).code == 0
        files = read_tree(here / target)
        summary = json.loads(files["summary.json"])
        assert summary["workers"] == workers
        for name in ("workers", "seconds", "peak_memory_bytes"):
            del summary[name]
        return {**files, "summary.json": json.dumps(summary).encode()}

    expected = output(1, None)
    assert expected["removed.parquet"]
    for workers, block_bytes in [(2, None), (5, None), (1, 64), (2, 5000), (5, 700)]:
        found = output(workers, block_bytes)
        assert found.keys() == expected.keys()
        for name, content in expected.items():
            assert found[name] == content, (name, workers, block_bytes)


def test_dedup__another_seed(run, here, texts, write_texts, verify):
    write_texts("a.jsonl", texts)
    assert run("dedup", "a.jsonl", "-o", "out", "--seed", 2**64 - 1).code == 0
    verify(here / "out", numbered("a.jsonl", texts))


def test_dedup__output_below_folders_that_are_not_there(run, here, texts, write_texts, verify):
    write_texts("a.jsonl", texts)
    assert run("dedup", "a.jsonl", "-o", "x/y/out").code == 0
    verify(here / "x/y/out", numbered("a.jsonl", texts))
    assert sorted(path.name for path in (here / "x/y").iterdir()) == ["out"]


def test_dedup__name_with_brackets(run, here, texts, write_texts, verify):
    write_texts("a [1].jsonl", texts)
    assert run("dedup", "a [1].jsonl", "-o", "ö [2]").code == 0
    verify(here / "ö [2]", numbered("a [1].jsonl", texts))
