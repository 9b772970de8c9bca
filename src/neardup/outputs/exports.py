"""Shared passages as files of other programs: GraphML for networks, TEI for editions.

Both are written as they come, by the XML writer of Python: libraries of graphs hold the whole graph
with its attributes in memory first, and have no TEI.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import quote
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.files.ids import as_text
from neardup.files.streams import Destination
from neardup.options.choices import TableFormat
from neardup.outputs.table_files import TableTarget, check_file, write_file
from neardup.outputs.table_text import batches_of
from neardup.outputs.targets import Target
from neardup.passages.matches import union_lengths
from neardup.tables import Floats, Int64s
from neardup.version import __version__

# What XML has no place for.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class _Xml:
    """Writes elements, one behind the other or in another one."""

    def __init__(self, stream: BinaryIO) -> None:
        self._generator = XMLGenerator(stream, "utf-8", short_empty_elements=True)
        self._generator.startDocument()
        self._level = 0

    def put(self, name: str, text: str = "", **attributes: str) -> None:
        """Write an element that has no others in it."""
        self._start(name, attributes)
        if text:
            self._generator.characters(_NO_XML.sub("\ufffd", text))
        self._generator.endElement(name)

    @contextmanager
    def within(self, name: str, **attributes: str) -> Iterator[None]:
        """Write what comes into an element."""
        self._start(name, attributes)
        self._level += 1
        yield
        self._level -= 1
        self._generator.ignorableWhitespace("\n" + "  " * self._level)
        self._generator.endElement(name)

    def close(self) -> None:
        """End the file with a line."""
        self._generator.ignorableWhitespace("\n")
        self._generator.endDocument()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._generator.ignorableWhitespace(("\n" if self._level else "") + "  " * self._level)
        # Names with a colon are no names of Python.
        named = {key.replace("__", ":"): value for key, value in attributes.items()}
        shown = {key: _NO_XML.sub("\ufffd", value) for key, value in named.items()}
        self._generator.startElement(name, AttributesImpl(shown))


@dataclass(frozen=True)
class _Documents:
    """Ids of the documents of passages, and which of them each passage is in.

    Those of one collection are together on the first side.
    """

    ids: tuple[Sequence[str], Sequence[str]]
    numbers: tuple[Int64s, Int64s]

    @classmethod
    def of(cls, passages: pa.Table, *, is_one: bool) -> _Documents:
        """Give numbers to the documents of a table, in the order in which they come."""
        sides = [as_text(passages[name].combine_chunks()) for name in ("query_id", "doc_id")]
        if is_one:
            both = pa.concat_arrays(sides).dictionary_encode()
            ids, numbers = both.dictionary.to_pylist(), both.indices.to_numpy().astype(np.int64)
            return cls((ids, []), (numbers[: len(passages)], numbers[len(passages) :]))
        queries, docs = (side.dictionary_encode() for side in sides)
        n_queries = len(queries.dictionary)
        return cls(
            (queries.dictionary.to_pylist(), docs.dictionary.to_pylist()),
            (
                queries.indices.to_numpy().astype(np.int64),
                docs.indices.to_numpy().astype(np.int64) + n_queries,
            ),
        )


@dataclass(frozen=True)
class _Edges:
    """Pairs of documents that share passages: how many, of how many characters, how alike."""

    ends: Int64s
    n_passages: Int64s
    characters: Int64s
    similarities: Floats

    @classmethod
    def of(cls, passages: pa.Table, numbers: tuple[Int64s, Int64s]) -> _Edges:
        """Put passages together by their documents, whichever of two is the query."""
        pairs = np.sort(np.stack(numbers, axis=1), axis=1)
        ends, groups = np.unique(pairs, axis=0, return_inverse=True)
        groups = groups.reshape(-1)
        n = len(ends)
        is_turned = numbers[0] > numbers[1]
        bounds = [
            passages[name].to_numpy()
            for name in ("query_start", "query_end", "doc_start", "doc_end")
        ]
        starts, stops = (
            [np.where(is_turned, doc, query), np.where(is_turned, query, doc)]
            for query, doc in ((bounds[0], bounds[2]), (bounds[1], bounds[3]))
        )
        sides = [union_lengths(starts[k], stops[k], groups, n) for k in (0, 1)]
        best = np.zeros(n)
        np.maximum.at(best, groups, passages["similarity"].to_numpy())
        return cls(ends, np.bincount(groups, minlength=n), np.maximum(*sides), best)


def write_graphml(passages: pa.Table, stream: BinaryIO, *, is_one: bool) -> None:
    """Write who shares passages with whom: a node a document, an edge a pair.

    A node has its id as ``label``, and its ``collection``, 1 or 2; an edge the number of
    ``passages``, the ``characters`` that are in them, of the text that has more, and the greatest
    ``similarity``.
    """
    documents = _Documents.of(passages, is_one=is_one)
    edges = _Edges.of(passages, documents.numbers)
    xml = _Xml(stream)
    with xml.within("graphml", xmlns="http://graphml.graphdrawing.org/xmlns"):
        for name, owner, kind in (
            ("label", "node", "string"),
            ("collection", "node", "int"),
            ("passages", "edge", "long"),
            ("characters", "edge", "long"),
            ("similarity", "edge", "double"),
        ):
            of_key = {"attr.name": name, "attr.type": kind}
            xml.put("key", id=name, **{"for": owner}, **of_key)
        with xml.within("graph", edgedefault="undirected"):
            number = 0
            for collection, ids in enumerate(documents.ids, 1):
                for each in ids:
                    with xml.within("node", id=f"n{number}"):
                        xml.put("data", each, key="label")
                        xml.put("data", str(collection), key="collection")
                    number += 1
            values = [
                edges.n_passages.tolist(),
                edges.characters.tolist(),
                edges.similarities.tolist(),
            ]
            for (a, b), *of_edge in zip(edges.ends.tolist(), *values, strict=True):
                with xml.within("edge", source=f"n{a}", target=f"n{b}"):
                    for key, value in zip(_OF_EDGES, of_edge, strict=True):
                        xml.put("data", str(value), key=key)
    xml.close()


_OF_EDGES = ("passages", "characters", "similarity")


def write_tei(passages: pa.Table, stream: BinaryIO, *, is_one: bool) -> None:
    """Write passages as links between places of texts, the similarity of each as its ``n``.

    A place is the id of a document as a relative URL, and characters as RFC 5147 counts them.
    """
    documents = _Documents.of(passages, is_one=is_one)
    xml = _Xml(stream)
    with xml.within("TEI", xmlns="http://www.tei-c.org/ns/1.0"):
        with xml.within("teiHeader"), xml.within("fileDesc"):
            with xml.within("titleStmt"):
                xml.put("title", "Shared passages")
            with xml.within("publicationStmt"):
                xml.put("p", f"Made by neardup {__version__}")
            with xml.within("sourceDesc"):
                if not len(passages):
                    xml.put("p", "No documents that share a passage.")
                for ids in filter(None, documents.ids):
                    with xml.within("listBibl"):
                        for each in ids:
                            xml.put("bibl", each)
        if len(passages):
            with xml.within("standOff"), xml.within("linkGrp", type="sharedPassage"):
                _put_links(xml, passages)
        else:
            with xml.within("text"), xml.within("body"):
                xml.put("p", "No two documents share a passage.")
    xml.close()


_ENDS = tuple(f"{side}_{end}" for side in ("query", "doc") for end in ("id", "start", "end"))


def _put_links(xml: _Xml, passages: pa.Table) -> None:
    number = 0
    for batch in batches_of(passages.select([*_ENDS, "similarity"])):
        columns = [batch.column(name).to_pylist() for name in batch.schema.names]
        for query, start, end, doc, doc_start, doc_end, similarity in zip(*columns, strict=True):
            number += 1
            target = f"{_pointer(query, start, end)} {_pointer(doc, doc_start, doc_end)}"
            xml.put("link", xml__id=f"p{number}", n=f"{similarity:.4f}", target=target)


def _pointer(document: str | int, start: int, end: int) -> str:
    """Return the URL of a place in a text."""
    text = str(document)
    # Of a URL what is special in it stays so, but for what would end it.
    safe = "/:?&=%+~@!$'()*,;[]" if _URL.match(text) else "/~"
    return f"{quote(text, safe=safe)}#char={start},{end}"


_WRITERS: dict[str, Callable[..., None]] = {".graphml": write_graphml, ".tei.xml": write_tei}
EXPORT_ENDINGS = tuple(_WRITERS)


def export_ending(target: Target) -> str | None:
    """Return the ending of an export; None for the name of a table, and of anything else."""
    return next((each for each in _WRITERS if target.name.endswith(each)), None)


def plan_export(
    target: Target, table_format: TableFormat | None, *, overwrite: bool
) -> TableTarget:
    """Make sure, before work starts, that an export may be written to a file."""
    if table_format is not None:
        message = f"output-format {table_format} does not go with the name {target}; leave it out"
        raise InvalidParameterError(message, "output-format")
    check_file(target, (target.suffix,), overwrite=overwrite)
    return TableTarget(target, target.suffix, is_stream=False)


def write_export(passages: pa.Table, target: Target, *, is_one: bool, overwrite: bool) -> None:
    """Write passages to a file as its ending says; it appears when it is complete.

    ``is_one``: both sides are of one collection.
    """
    plan_export(target, None, overwrite=overwrite)
    ending = export_ending(target)
    assert ending is not None

    def write(destination: Destination) -> None:
        with destination.create() as file:
            _WRITERS[ending](passages, file, is_one=is_one)

    write_file(target, write)
