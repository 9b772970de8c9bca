"""Shared passages as GraphML and TEI, read as other programs read them."""

from __future__ import annotations

import random
from collections import defaultdict
from urllib.parse import unquote
from xml.etree import ElementTree

import networkx
import pytest

import neardup
from neardup.errors import InvalidParameterError, OutputExistsError
from tests.each import each_of

TEI = "{http://www.tei-c.org/ns/1.0}"
RNG = random.Random(7)
SHARED = [" ".join(f"w{RNG.randrange(300)}é" for _ in range(30)) for _ in range(5)]
# As ids may be: what XML, URLs and both of them take for their own, and what XML cannot hold.
NAMES = [
    "a b.txt",
    "ü/1<&>.txt",
    "c#1",
    'say "x"',
    "d:e?f=%20",
    "https://x.org/a?b=c&d#e",
    "g",
    "\x07",
]


def make_rows(n, seed):
    draw = random.Random(seed)
    texts = [
        " ".join(f"🙂{seed}-{k} {text}" for text in draw.sample(SHARED, draw.randrange(1, 4)))
        for k in range(n)
    ]
    return [{"id": NAMES[k % len(NAMES)] + "!" * (k // 8), "text": t} for k, t in enumerate(texts)]


OWN, OTHER = make_rows(9, 1), make_rows(8, 2)
CASES = {
    "one": ((OWN,), {}),
    "one with itself": ((OWN,), {"within": True}),
    "one, both ways": ((OWN,), {"measure": "containment"}),
    "two": ((OWN, OTHER), {}),
    "texts": ((OWN, OTHER), {"places": True, "with_text": True}),
}


def found_in(data, options):
    return neardup.align(*data, min_tokens=12, **options)


def shown(identifier):
    return identifier.replace("\x07", "\ufffd")


@each_of(("data", "options"), CASES.values(), ids=CASES)
def test_graphml__as_networkx_reads_it(data, options, tmp_path):
    found = found_in(data, options)
    found.write(tmp_path / "who.graphml")
    graph = networkx.read_graphml(tmp_path / "who.graphml")
    assert not graph.is_directed()
    assert not graph.is_multigraph()
    # Characters of each pair, one by one, and its passages.
    covered = defaultdict(lambda: (set(), set()))
    rows = defaultdict(list)
    second = 1 if len(data) == 1 else 2
    for row in found.passages.to_pylist():
        ends = [(1, shown(row["query_id"])), (second, shown(row["doc_id"]))]
        order = sorted((0, 1), key=lambda k: ends[k])
        key = tuple(ends[k] for k in order)
        rows[key].append(row["similarity"])
        for place, k in enumerate(order):
            side = ("query", "doc")[k]
            covered[key][place].update(range(row[f"{side}_start"], row[f"{side}_end"]))
    nodes = {name: (of["collection"], of["label"]) for name, of in graph.nodes(data=True)}
    assert sorted(nodes.values()) == sorted({end for key in rows for end in key})
    edges = {
        tuple(sorted((nodes[a], nodes[b]))): (of["passages"], of["characters"], of["similarity"])
        for a, b, of in graph.edges(data=True)
    }
    assert len(edges) > 3
    assert edges == {
        key: (len(found), max(map(len, covered[key])), max(found)) for key, found in rows.items()
    }


@each_of(("data", "options"), CASES.values(), ids=CASES)
def test_tei__links_lead_to_the_texts(data, options, tmp_path):
    found = found_in(data, options)
    found.write(tmp_path / "links.tei.xml")
    root = ElementTree.parse(tmp_path / "links.tei.xml").getroot()
    assert [child.tag for child in root] == [f"{TEI}teiHeader", f"{TEI}standOff"]
    listed = [each.text for each in root.iter(f"{TEI}bibl")]
    texts = [{row["id"]: row["text"] for row in rows} for rows in (data[0], data[-1])]
    rows = found.passages.to_pylist()
    links = list(root.iter(f"{TEI}link"))
    assert len(links) == len(rows) > 3
    for number, (link, row) in enumerate(zip(links, rows, strict=True), 1):
        assert link.get("{http://www.w3.org/XML/1998/namespace}id") == f"p{number}"
        assert float(link.get("n")) == round(row["similarity"], 4)
        ends = link.get("target").split(" ")
        for end, side, known in zip(ends, ("query", "doc"), texts, strict=True):
            document, fragment = end.split("#")
            start, stop = map(int, fragment.removeprefix("char=").split(","))
            identifier = unquote(document)
            assert shown(identifier) in listed
            piece = known[identifier][start:stop]
            assert piece == known[row[f"{side}_id"]][row[f"{side}_start"] : row[f"{side}_end"]]
    assert "https://x.org/a?b=c&d%23e#char=" in "".join(each.get("target") for each in links)


def test_exports__of_nothing(tmp_path):
    nothing = neardup.align(["a b"], ["c d"])
    nothing.write(tmp_path / "n.graphml")
    assert not networkx.read_graphml(tmp_path / "n.graphml")
    nothing.write(tmp_path / "n.tei.xml")
    root = ElementTree.parse(tmp_path / "n.tei.xml").getroot()
    assert root.find(f".//{TEI}body/{TEI}p").text == "No two documents share a passage."


def test_exports__files_as_others(tmp_path):
    found = found_in((OWN, OTHER), {})
    found.write(tmp_path / "a.graphml")
    before = (tmp_path / "a.graphml").read_bytes()
    with pytest.raises(OutputExistsError):
        found.write(tmp_path / "a.graphml")
    found.write(tmp_path / "a.graphml", overwrite=True)
    assert (tmp_path / "a.graphml").read_bytes() == before
    with pytest.raises(InvalidParameterError, match="must end in"):
        found.write(tmp_path / "a.xml")
    pairs = neardup.find_pairs(["a b c d e f", "a b c d e f"])
    with pytest.raises(InvalidParameterError, match="must end in"):
        pairs.write(tmp_path / "pairs.graphml")


def test_search__is_of_two_collections(tmp_path):
    index = neardup.PassageIndex.create(tmp_path / "index", min_tokens=12)
    index.add(OWN)
    found = index.search([{"id": "g", "text": SHARED[0]}], "0.5")
    found.write(tmp_path / "s.graphml")
    graph = networkx.read_graphml(tmp_path / "s.graphml")
    assert sorted({of["collection"] for _, of in graph.nodes(data=True)}) == [1, 2]
