"""Make a page about a job's result, or for judging pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.other import resolve_other
from neardup.engine.opening import open_runner
from neardup.errors import InvalidInputError, InvalidParameterError, option_name
from neardup.files.inputs import name_apart, resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.cut.cut import CutResult
from neardup.jobs.dedup.deduplication_result import DeduplicationResult, outcome_of
from neardup.options.choices import ColumnNames, Data, DataOrIndex
from neardup.options.document_options import ReviewOptions
from neardup.options.groups import AgainstOptions, ReadOptions, RunOptions
from neardup.options.option import merge, no_effect
from neardup.outputs.output_tables import TableRows, read_summary
from neardup.reading.sign import available_columns
from neardup.reading.texts import FoundText
from neardup.reports.cut_page import CutTable, Key, cut_report
from neardup.reports.dedup_page import RemovedTable, cluster_sizes, dedup_report
from neardup.reports.examples import Document
from neardup.reports.page import Report
from neardup.reports.pairs_page import PairTable, pairs_report, read_pairs
from neardup.reports.passages_page import PassageTable, passage_report, read_passages
from neardup.reports.review import Rows, review_report
from neardup.results import PassageResult, Result
from neardup.runs.runner import Runner
from neardup.stages.options import columns_of, other_columns_of
from neardup.stages.output import Outcome, ShownTexts, ids_in_other, open_output
from neardup.stages.result_tables import (
    ReadCollection,
    example_of_other_ids,
    kind_of_folder,
    kind_of_table,
    open_table,
    open_written,
)
from neardup.stages.selection import collections_of, tables_of

# Next step if texts are unknown, for results of one collection and of two.
_ADVICE = "To see the texts, name the documents: `neardup report {} INPUT -o PAGE.html`"
_ADVICE_OF_TWO = (
    "To see the texts, name both collections: `neardup report TABLE INPUT --against OTHER -o "
    "PAGE.html`"
)


def report(
    result: Data,
    data: Data | None = None,
    against: DataOrIndex | None = None,
    *,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> Report:
    """Make a page about the result of a job.

    Parameters
    ----------
    result
        The result of ``deduplicate``, ``find_pairs``, ``align``, ``cut``, ``estimate`` or a search;
        or the path of the folder or table that its command wrote.
    data
        The documents of the job, in any form, to show. A folder of ``neardup dedup`` contains them.
    against
        The other documents of the job, if it had two collections.
    read, run
        Columns of the documents, and threads.

    Returns
    -------
    A ``Report``: ``write`` makes a file of it, a notebook shows it, ``html`` is the page. It loads
    nothing, and is the same each time.

    Raises
    ------
    InvalidParameterError
        For an unknown option, or one without an effect on this result.
    InvalidInputError, ReadError
        If the result does not allow a report, cannot be read, or was changed.

    Notes
    -----
    Memory: 400 bytes per pair, passage, span or removed document, and texts. Inputs are read once.
    """
    options = merge(AgainstOptions, locals())
    own = None if data is None else resolve_inputs(data, options)
    resolve = partial(resolve_inputs, options=options)
    other = None if against is None else resolve_other(against, resolve)
    with open_runner(run) as runner:
        return make_report(result, own, other, options, runner)


def make_report(
    result: Any,
    own: Sequence[Source] | None,
    other: Sequence[Source] | None,
    options: AgainstOptions,
    runner: Runner,
) -> Report:
    """Make the page of a result, with arguments of ``report``."""
    options.check_other("against", is_given=other is not None)
    data, against = _collections(own, other, options)
    with runner.stage("report"):
        if isinstance(result, DeduplicationResult | CutResult):
            _refuse("a result in memory, which has its documents", data=data, against=against)
            documents, others = collections_of(result)
            if others.sources and result.summary.get("against_documents"):
                against = ReadCollection.of_catalogue(others)
            if isinstance(result, DeduplicationResult):
                return _report_of_dedup(outcome_of(result), against, runner)
            rows = TableRows.of_reader(
                lambda: tables_of(result)["removed.parquet"], result.summary["spans"]
            )
            cut = CutTable.read(rows, result.summary)
            return _report_of_cut(cut, ReadCollection.of_catalogue(documents), against, runner)
        if isinstance(result, Result):
            # The passages are the evidence, also for pairs of documents.
            table = result.passages if isinstance(result, PassageResult) else result.table
            rows, summary, name = TableRows.of_table(table), result.summary, type(result).__name__
        else:
            is_path = isinstance(result, str | Path)
            kind = kind_of_folder(str(result)) if is_path else None
            if kind == "cut":
                removed = open_written(f"{result}/removed.parquet")
                cut = CutTable.read(removed, read_summary(str(result))[1])
                return _report_of_cut(cut, data, against, runner)
            if kind is not None:
                _refuse("a folder of dedup, which has its documents", data=data)
                return _report_of_dedup(open_output(result), against, runner)
            name = str(result) if is_path else "the table"
            if is_path and Path(result).is_dir():
                message = (
                    "the folder is not an output of dedup or cut, which has a summary.json; name "
                    "such a folder, or a table that pairs, estimate, align or search has written"
                )
                raise InvalidInputError(message, path=name)
            rows, summary = open_table(result, runner)
        _rename_files(rows, own, other)
        if kind_of_table(rows.schema.names, name) == "passages":
            passages = read_passages(rows, summary, has_other=against is not None)
            return _report_of_passages(passages, data, against, runner)
        pairs = read_pairs(rows, summary, True if against is not None else None, name)
        return _report_of_pairs(pairs, data, against, runner)


def _collections(
    own: Sequence[Source] | None, other: Sequence[Source] | None, options: AgainstOptions
) -> tuple[ReadCollection | None, ReadCollection | None]:
    """Return both collections with the columns that options name."""
    data = None if own is None else ReadCollection(own, columns_of(options), options.skip_bad)
    if other is None:
        return data, None
    return data, ReadCollection(other, other_columns_of(options), options.skip_bad)


def _rename_files(
    rows: TableRows, own: Sequence[Source] | None, other: Sequence[Source] | None
) -> None:
    if own is not None and other is not None:
        name_apart(other, own, example_of_other_ids(rows))


def _refuse(result: str, **given: ReadCollection | None) -> None:
    """Raise if an argument has no effect on this report."""
    for name, value in given.items():
        if value is not None:
            message = f"{name} has no effect on a report of {result}; leave it out"
            raise InvalidParameterError(message, name)


def _report_of_dedup(outcome: Outcome, against: ReadCollection | None, runner: Runner) -> Report:
    removed = RemovedTable.read(outcome.removed)
    chosen, keepers = removed.examples(), removed.keepers()
    wanted = [*chosen, *keepers]
    shown = ShownTexts(outcome, against, runner, removed=chosen, keepers=wanted)
    return dedup_report(
        outcome.summary,
        removed,
        cluster_sizes(outcome.clusters),
        {row: shown.removal(row) for row in chosen},
        {row: shown.keeper(row).text for row in keepers},
    )


def _report_of_pairs(
    pairs: PairTable, data: ReadCollection | None, against: ReadCollection | None, runner: Runner
) -> Report:
    chosen = pairs.examples()
    ids_a, ids_b = (set(pairs.ids_of(side, list(chosen))) for side in (0, 1))
    own = {} if data is None else data.texts(ids_a | ids_b, runner)
    other = own
    if pairs.is_two_sided:
        other = {} if against is None else against.texts(ids_b, runner)
    _check_known("INPUT", data, ids_a, own)
    _check_known(option_name("against"), against, ids_b, other)

    def find(side: str, identifier: str) -> Document | None:
        found = (own if side == "a" else other).get(identifier)
        return found and Document(identifier, found.file, found.row, found.text)

    advice = _ADVICE_OF_TWO if pairs.is_two_sided else _ADVICE.format("TABLE")
    return pairs_report(pairs, chosen, find, advice)


def _report_of_passages(
    passages: PassageTable,
    data: ReadCollection | None,
    against: ReadCollection | None,
    runner: Runner,
) -> Report:
    wanted, n_first = passages.wanted(), passages.n_first
    texts: dict[int, FoundText] = {}
    for collection, where, numbers in (
        (data, "INPUT", wanted if against is None else wanted[wanted < n_first]),
        (against, option_name("against"), wanted[wanted >= n_first]),
    ):
        ids = passages.ids.take(pa.array(numbers)).to_pylist()
        found = {} if collection is None else collection.texts(ids, runner)
        for number, name in zip(numbers.tolist(), ids, strict=True):
            if name in found:
                texts[number] = found[name]
            elif collection is not None and (number < n_first or against is not None):
                raise _missing(where, name)
    _check_places(passages, texts)
    advice = _ADVICE.format("TABLE") if passages.is_one else _ADVICE_OF_TWO
    return passage_report(passages, texts, advice)


def _check_known(
    where: str, collection: ReadCollection | None, ids: set[str], known: Mapping[str, object]
) -> None:
    """Raise InvalidInputError if a collection has none of a table's ids."""
    if collection is not None and ids and ids.isdisjoint(known):
        raise _missing(where, min(ids))


def _missing(where: str, name: str) -> InvalidInputError:
    message = (
        f"the table names documents that {where} does not have, such as {name!r}; give the same "
        f"inputs, {option_name('against')} and {option_name('id_column')} as when it was made"
    )
    return InvalidInputError(message)


def _check_places(passages: PassageTable, texts: Mapping[int, FoundText]) -> None:
    """Raise InvalidInputError for a passage that extends beyond its document."""
    lengths = np.full(len(passages.ids), np.iinfo(np.int64).max)
    lengths[list(texts)] = [len(each.text) for each in texts.values()]
    for side, own in (("query", passages.queries), ("doc", passages.docs)):
        starts, stops = passages.places(side)
        wrong = np.flatnonzero((starts < 0) | (starts > stops) | (stops > lengths[own]))
        if len(wrong):
            row, number = int(wrong[0]), int(own[wrong[0]])
            message = (
                f"the table names characters {starts[row]:,} to {stops[row]:,} of document "
                f"{passages.ids[number].as_py()!r}, which do not lie in it; the text has changed "
                "since, or is read with other options"
            )
            raise InvalidInputError(message)


def _report_of_cut(
    cut: CutTable, data: ReadCollection | None, against: ReadCollection | None, runner: Runner
) -> Report:
    texts: dict[Key, str] = {}
    sides = (("input", data, "INPUT"), ("against", against, option_name("against")))
    for side, collection, where in sides if data is not None and len(cut) else ():
        if collection is None:
            continue
        # An id of the other collection may really begin with the added prefix.
        wanted = {
            name: ids_in_other(name) if side == "against" else (name,)
            for key, name in cut.wanted()
            if key == side
        }
        found = collection.texts(chain.from_iterable(wanted.values()), runner)
        for name, names in wanted.items():
            text = next((found[each].text for each in names if each in found), None)
            if text is None:
                raise _missing(where, name)
            texts[side, name] = text
    return cut_report(cut, texts, _ADVICE.format("FOLDER"))


def review(
    pairs: Data,
    data: Data | None = None,
    against: DataOrIndex | None = None,
    *,
    limit: int = 20_000,
    columns: ColumnNames | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> Report:
    """Make a page to judge pairs as same or different.

    Pairs may also be judged unsure. The page shows both documents of a pair side by side, field by
    field, with differences marked, the least similar pair first. It keeps the judgements in the
    browser, and exports them as a CSV file.

    Parameters
    ----------
    pairs
        The result of ``find_pairs``, ``estimate`` or a search for documents, or the path of the
        table that its command wrote.
    data
        The documents of the job: the page shows their columns. None: the columns that the table has
        of both documents, as added by ``columns`` of ``find_pairs``.
    against
        The other documents of the job, if it had two collections.
    limit
        Maximum pairs of the page, the least similar first.
    columns
        Columns of the documents to show. None: all but the ids, the text first.
    read, run
        Columns of the documents, and threads.

    Returns
    -------
    A ``Report``: ``write`` makes a file of it. In a notebook it can be tried, but keeps nothing.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or without an effect.
    InvalidInputError, ReadError
        If the table has no pairs with similarities, or an input cannot be read.

    Notes
    -----
    The pairs of the page are in memory with their documents.

    Examples
    --------
    >>> import neardup
    >>> papers = [
    ...     {"id": 1, "text": "Wavelet-based histograms", "year": 1998},
    ...     {"id": 2, "text": "Wavelet based histograms", "year": 1999},
    ... ]
    >>> pairs = neardup.find_pairs(papers, text=neardup.TextOptions(ngram=1))
    >>> neardup.review(pairs, papers)
    Report(1 pair to judge)
    """
    options = merge(ReviewOptions, locals())
    own = None if data is None else resolve_inputs(data, options)
    resolve = partial(resolve_inputs, options=options)
    other = None if against is None else resolve_other(against, resolve)
    with open_runner(run) as runner:
        return make_review(pairs, own, other, options, runner)


def make_review(
    table: Any,
    own: Sequence[Source] | None,
    other: Sequence[Source] | None,
    options: ReviewOptions,
    runner: Runner,
) -> Report:
    """Make the page of a table of pairs for ``review``."""
    options.check_other("against", is_given=other is not None)
    name = str(table) if isinstance(table, str | Path) else "the table"
    rows, summary = open_table(table, runner)
    if kind_of_table(rows.schema.names, name) == "passages":
        message = "the table has passages, which are not judged; review takes pairs"
        raise InvalidInputError(message, path=name)
    _rename_files(rows, own, other)
    pairs = read_pairs(rows, summary, True if other is not None else None, name)
    chosen = pairs.least_similar(options.limit)
    fields, documents = _read_fields(pairs, chosen, own, other, options, runner)
    command = "`neardup review PAIRS INPUT -o PAGE.html`"
    if pairs.is_two_sided:
        command = "`neardup review PAIRS INPUT --against OTHER -o PAGE.html`"
    advice = (
        "To see all fields, name the documents as when the pairs were found, with the same column "
        f"of ids: {command}."
    )
    return review_report(pairs, chosen, fields, documents, advice)


def _read_fields(
    pairs: PairTable,
    chosen: Sequence[int],
    own: Sequence[Source] | None,
    other: Sequence[Source] | None,
    options: ReviewOptions,
    runner: Runner,
) -> tuple[Sequence[str], tuple[Rows, Rows] | None]:
    """Return the fields to show, and both sides' columns by id."""
    names = options.shown_columns or None
    if own is None and other is None:
        if names is not None:
            where = "without the documents, whose columns they are"
            raise no_effect("columns", where, "name INPUT")
        return [], None
    if names is not None:
        _check_columns(names, [*(own or ()), *(other or ())], "columns")
    ids_a, ids_b = (set(pairs.ids_of(side, chosen)) for side in (0, 1))
    if not pairs.is_two_sided:
        ids_a = ids_b = ids_a | ids_b
    data, against = _collections(own, other, options)
    for each in (data, against):
        if each is not None and each.columns.id is not None:
            _check_columns([each.columns.id], each.sources, option_name(each.columns.id_option))
    # The texts of both sides are one field, whatever the names of their columns.
    columns, columns_b = columns_of(options), other_columns_of(options)
    name_in_b = dict(zip(columns.texts, columns_b.texts, strict=False))
    name_in_a = {b: a for a, b in name_in_b.items()}
    if names is not None:
        names = tuple(dict.fromkeys(name_in_a.get(name, name) for name in names))
    rows_a = {} if data is None else data.rows(ids_a, names, runner)
    rows_b = {} if pairs.is_two_sided else rows_a
    if pairs.is_two_sided and against is not None:
        names_b = None if names is None else [name_in_b.get(name, name) for name in names]
        # A column with the new name of another one does not match the other side's.
        rows_b = {
            key: {
                name_in_a.get(name, name): value
                for name, value in row.items()
                if name in name_in_a or name not in name_in_b
            }
            for key, row in against.rows(ids_b, names_b, runner).items()
        }
    _check_known("INPUT", data, ids_a, rows_a)
    _check_known(option_name("against"), against, ids_b, rows_b)
    rows = [*rows_a.values(), *rows_b.values()]
    there = dict.fromkeys(name for row in rows for name in row)
    # Texts come first; ids are displayed anyway.
    ordered = [*(name for name in columns.texts if name in there), *there]
    ids = {columns.id or "id", columns_b.id or "id"}
    shown = names or [name for name in dict.fromkeys(ordered) if name not in ids]
    return shown, (rows_a, rows_b)


def _check_columns(names: Sequence[str], sources: Sequence[Source], said_by: str) -> None:
    for name in names:
        if name not in available_columns(sources, [name]):
            message = f"no column {name!r}; name another with {said_by}"
            raise InvalidInputError(message, path=sources[0].origin)
