"""Values of a column of all documents of a deduplication, from its folder or its input."""

from __future__ import annotations

import numpy as np

from neardup.jobs.dedup.output import DedupOutput, other_rows
from neardup.reading.catalogue import Catalogue
from neardup.reading.column_values import ColumnValues, ValueCollector, read_values
from neardup.reading.second_pass import numbered_blocks


def values_in_folder(output: DedupOutput, column: str) -> ColumnValues:
    """Read a column of all documents of an output folder.

    Returns
    -------
    The values of the documents, in input order.

    Raises
    ------
    InvalidInputError, ReadError
        If there is no such column, or too many values in it; if the folder is not as it was.
    """
    documents = output.documents
    collector, places, sources = ValueCollector(column), [np.empty(0, np.int64)], []
    for number, file in enumerate(output.files):
        for goes in (False, True):
            here = np.flatnonzero((documents.files == number) & (documents.goes == goes))
            if not len(here):
                continue
            source, _ = output.source("removed" if goes else "kept", file)
            n_found = 0
            for block in source.blocks():
                collector.add(read_values(block, column, np.zeros(len(block), np.bool_)))
                n_found += len(block)
            if n_found != len(here):
                raise other_rows(source)
            places.append(here)
            sources.append(source)
    order = np.concatenate(places)
    found = collector.values(sources)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = found.numbers
    return ColumnValues(column, found.names, numbers)


def values_in_catalogue(documents: Catalogue, column: str) -> ColumnValues:
    """Read a column of all documents of a catalogue; as ``values_in_folder``."""
    collector, is_document = ValueCollector(column), documents.is_document
    for source, start, stop in documents.ranges():
        for block, rows in numbered_blocks(source, start, stop):
            is_good = is_document[rows]
            collector.add(read_values(block, column, ~is_good).filter(is_good))
    return collector.values(documents.sources)
