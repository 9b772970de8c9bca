"""The files that commands are run on, made of ``examples/``: every format, good and bad."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

EXAMPLES = Path(__file__).parents[2] / "examples"

Row = dict[str, str | int]

ODD_TEXTS = [
    "",
    " \n ",
    "...",
    "one",
    "One, two!",
    'quoted "words", and\nlines;\tand tabs',
    "Ünïcödé tëxt wíth äccents ánd ﬁgures １２３ ٤٥٦, once more and again",
    "Unicode text with accents and figures 123 456, once more and again",
    "U\u0308ni\u0308co\u0308de\u0301 te\u0308xt with accents and figures 123 456, once more",
    "秦川雄帝宅函谷壯皇居綺殿千尋起離宮百雉餘連甍遙接漢飛觀迥凌虛",
    "秦川雄帝宅，函谷壯皇居。綺殿千尋起，離宮百雉餘。連甍遙接漢，飛觀迥凌虛。",
    "a rose is a rose is a rose is a rose is a rose 🌹🌹🌹",
    "A rose is a rose is a rose is a rose. 🌹",
]


def make_inputs(folder: Path) -> None:
    """Write all input files into a new folder."""
    licences = _read_rows("licences.jsonl.gz")
    texts = [row["text"] for row in [*licences[:120], *licences[2000:2120], *licences[3500:3560]]]
    docs = _label([*map(str, texts[:200]), *ODD_TEXTS, *map(str, texts[200:])])
    others = _label([re.sub("the", "any", str(text), count=2) for text in texts[::4]], "o")
    _write_every_format(folder, docs)
    _write(folder / "others.jsonl", _json_lines(others))
    _write(folder / "others.csv.gz", _delimited(others, ","))
    _write(folder / "few.jsonl", _json_lines(docs[190:230]))
    _write(folder / "empty.jsonl", b"")
    _write_folders(folder, docs)
    _write_names(folder, licences)
    _write_books(folder)
    _write_bad(folder, docs)
    words = sorted({word for row in docs for word in re.findall(r"\w+", str(row["text"]))})
    _write(folder / "tokenizer.json", json.dumps(_tokenizer(words)).encode())
    _write(folder / "ids.txt", b"d003\r\nd117\n\nd200\n")
    _write(folder / "unknown-ids.txt", b"d003\nnobody\nd117\nno one\n")
    _write(folder / "ids.csv", b"query_id,doc_id,other\nq,d001,d002\nq,d005,d006\n")
    _write(folder / "ids.jsonl", b'{"doc_id": "d001"}\n{"doc_id": "d001"}\n{"doc_id": "d009"}\n')
    pq.write_table(pa.table({"doc_id": ["d010", "d011"]}), folder / "ids.parquet")


def _read_rows(name: str) -> list[Row]:
    data = (EXAMPLES / name).read_bytes()
    lines = (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()
    return [json.loads(line) for line in lines]


def _label(texts: list[str], letter: str = "d") -> list[Row]:
    """Add columns that policies choose by."""
    return [
        {"id": f"{letter}{i:03}", "text": text, "score": i * 7 % 10, "source": "cab"[i % 3]}
        for i, text in enumerate(texts)
    ]


def _json_lines(rows: list[Row]) -> bytes:
    """Write rows of changing style, none of which may get lost."""
    styles = ({"ensure_ascii": True}, {"ensure_ascii": False}, {"sort_keys": True})
    lines = [
        json.dumps(row, **styles[i % 3]) + ("\n", " \r\n")[i % 2] for i, row in enumerate(rows)
    ]
    return "".join(lines).encode()


def _delimited(rows: list[Row], delimiter: str) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return file.getvalue().encode()


def _write(path: Path, data: bytes) -> None:
    """Write a file, compressed as its suffix says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix:
        case ".gz":
            data = gzip.compress(data, mtime=0)
        case ".xz":
            data = lzma.compress(data)
        case ".bz2":
            data = bz2.compress(data)
        case ".zst":
            sink = pa.BufferOutputStream()
            with pa.CompressedOutputStream(sink, "zstd") as stream:
                stream.write(data)
            data = sink.getvalue().to_pybytes()
    path.write_bytes(data)


def _write_every_format(folder: Path, docs: list[Row]) -> None:
    lines = "".join(" ".join(str(row["text"]).split()) + "\n" for row in docs).encode()
    contents = {
        "docs.jsonl": _json_lines(docs),
        "docs.ndjson": _json_lines(docs),
        "docs.json": json.dumps(docs, indent=1).encode(),
        "docs.csv": _delimited(docs, ","),
        "docs.tsv": _delimited(docs, "\t"),
        "lines.txt": lines,
    }
    for name, data in contents.items():
        _write(folder / name, data)
    for name, suffix in zip(contents, ("gz", "zst", "xz", "bz2", "gz", "zst"), strict=True):
        _write(folder / f"{name}.{suffix}", contents[name])
    for suffix in ("zst", "xz", "bz2"):
        _write(folder / f"docs.jsonl.{suffix}", contents["docs.jsonl"])
    pq.write_table(pa.Table.from_pylist(docs), folder / "docs.parquet", row_group_size=100)


def _write_folders(folder: Path, docs: list[Row]) -> None:
    _write(folder / "tree/a.jsonl", _json_lines(docs[:80]))
    _write(folder / "tree/b.csv.gz", _delimited(docs[80:180], ","))
    _write(folder / "tree/deep/c.tsv", _delimited(docs[180:250], "\t"))
    _write(folder / "tree/deep/d.json.bz2", json.dumps(docs[250:]).encode())
    _write(folder / "tree/deep/text.txt", b"A text\nof its own.\n")
    _write(folder / "tree/.hidden.jsonl", _json_lines(docs[:5]))
    _write(folder / "tree/notes.pdf", b"not read")
    (folder / "no-files").mkdir()


def _write_names(folder: Path, licences: list[Row]) -> None:
    names = [Path(str(row["id"])).stem for row in licences[:400]]
    rows: list[Row] = [{"id": f"n{i}", "name": name} for i, name in enumerate(names)]
    _write(folder / "names.csv", _delimited(rows, ","))
    _write(folder / "more-names.csv", _delimited([*rows[::9], {"id": "x", "name": "gpl_1"}], ","))


def _write_books(folder: Path) -> None:
    for name in ("pages", "questions"):
        shutil.copyfile(EXAMPLES / f"{name}.jsonl", folder / f"{name}.jsonl")
    for year, title in (("1818", "first"), ("1831", "second")):
        chapters = _read_rows(f"frankenstein-{year}.jsonl")[:3]
        chapters = [{**row, "text": str(row["text"])[:7000]} for row in chapters]
        _write(folder / f"{year}.jsonl", _json_lines(chapters))
        text = str(chapters[0]["text"])
        _write(folder / f"{title}.txt", text[:6000].encode())
        _write(folder / f"{title}.md.gz", text.encode())
        _write(folder / f"{year}/one.txt", text.encode())
        _write(folder / f"{year}/two.txt", str(chapters[1]["text"]).encode())
    _write(folder / "short.txt", b"Call me Ishmael.")
    _write(folder / "blank.txt", b"")


def _write_bad(folder: Path, docs: list[Row]) -> None:
    good = _json_lines(docs[:30]).splitlines(keepends=True)
    bad = [b'{"id": "x1", "text": 5}\n', b'{"id": "x2"}\n', b'{"text": \n', b'["x"]\n']
    bad += [b'{"id": "x3", "text": "\xff"}\n', b'{"id": "x4", "text": null}\n']
    for number, row in enumerate(bad):
        _write(folder / f"bad-{number}.jsonl", b"".join([*good[:3], row, *good[3:6]]))
    _write(folder / "bad.jsonl", b"".join([*good[:9], *bad, *good[9:]]))
    _write(folder / "bad.csv", b"id,text\n1,x\n2,y,z\n3,\xff\n4,X\n")
    _write(
        folder / "bad.json", b'[{"id": "a", "text": "x"}, {"id": "b"}, {"id": "c", "text": "x"}]'
    )
    _write(folder / "bad.txt", b"fine\n\xff\xfe\nfine\n")
    pq.write_table(pa.table({"id": list("abc"), "text": ["x", None, "x"]}), folder / "bad.parquet")
    _write(folder / "twice.jsonl", b"".join([*good[:4], good[1]]))
    _write(folder / "body.csv", b"key,body\n1,x y z\n2,x y z\n")
    for suffix in ("gz", "zst", "xz", "bz2"):
        path = folder / f"broken.jsonl.{suffix}"
        _write(path, b"".join(good))
        path.write_bytes(path.read_bytes()[:-200])
        (folder / f"false.jsonl.{suffix}").write_bytes(good[0])
    data = (folder / "docs.parquet").read_bytes()
    (folder / "broken.parquet").write_bytes(data[:-10])
    middle = len(data) // 2
    (folder / "damaged.parquet").write_bytes(data[:middle] + bytes(300) + data[middle + 300 :])
    (folder / "unknown.pdf").write_bytes(b"x")


def _tokenizer(words: list[str]) -> dict[str, object]:
    """Describe a tokenizer that knows these words."""
    vocabulary = {"[UNK]": 0} | {word: number for number, word in enumerate(words, 1)}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }
