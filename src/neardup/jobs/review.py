"""``review``: a page for judging pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from neardup.documents.other import resolve_against
from neardup.engine.opening import open_runner
from neardup.errors import InvalidInputError, option_name
from neardup.files.inputs import check_effect, name_apart, resolve_inputs
from neardup.files.rows import Source
from neardup.options.choices import ColumnNames, Data, DataOrIndex
from neardup.options.documents import ReviewOptions
from neardup.options.groups import ReadOptions, RunOptions
from neardup.options.option import merge, no_effect
from neardup.reading.sign import columns_there, where_to_have
from neardup.reports.judgements import LABEL
from neardup.reports.page import Report
from neardup.reports.pairs import PairTable, evaluate_pairs, read_pairs
from neardup.reports.review import (
    Fields,
    choose_to_judge,
    earlier_judgements,
    find_pivot,
    review_report,
)
from neardup.runs.runner import Runner
from neardup.stages.options import columns_of, other_columns_of
from neardup.stages.tables import (
    ID_COLUMNS,
    ReadCollection,
    an_id_of_others,
    kind_of_table,
    open_labels,
    open_table,
)
from neardup.tables import Int64s


def review(
    pairs: Data,
    data: Data | None = None,
    against: DataOrIndex | None = None,
    *,
    labels: Data | None = None,
    limit: int = 20_000,
    columns: ColumnNames | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> Report:
    """Make a page to judge pairs as same or different.

    Pairs may also be judged unsure. The page shows both documents of a pair side by side, field by
    field, with differences marked, the least certain pair first. It keeps the judgements in the
    browser, and exports them as a CSV file for ``labels`` of this function and of ``report``.

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
    labels
        Pairs that were judged before, such as an exported file of a review page. The page begins
        with these labels, and with the pairs near the best threshold by them.
    limit
        Maximum pairs of the page, the nearest to the best threshold by ``labels``, or to the
        similarity that separates two groups (Otsu). All labelled pairs are included.
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
    The pairs of the page are in memory with their documents; with labels the ids of all pairs.

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
    options = merge(ReviewOptions, read, limit=limit, columns=columns)
    own = None if data is None else resolve_inputs(data, options)
    other = resolve_against(against, partial(resolve_inputs, options=options), options)
    with open_runner(run, "review") as runner:
        return make_review(pairs, own, other, labels, options, runner)


def make_review(
    table: Any,
    own: Sequence[Source] | None,
    other: Sequence[Source] | None,
    labels: Any,
    options: ReviewOptions,
    runner: Runner,
) -> Report:
    """Make the page of a table of pairs for ``review``."""
    check_effect(options, own or (), other or ())
    options.check_other("against", is_given=other is not None)
    if labels is not None:
        _check_no_labels(own or ())
    name = str(table) if isinstance(table, str | Path) else "the table"
    rows, summary = open_table(table, runner)
    if kind_of_table(rows.schema.names, name) == "passages":
        message = "the table has passages, which are not judged; review takes pairs"
        raise InvalidInputError(message, path=name)
    if own is not None and other is not None:
        name_apart(other, own, an_id_of_others(rows))
    pairs = read_pairs(rows, summary, True if other is not None else None, name)
    judged, labelled = None, None
    if labels is not None:
        judged = open_labels(labels, runner)
        labelled = evaluate_pairs(pairs, judged.decided())
    earlier = earlier_judgements(pairs, judged)
    pivot = find_pivot(pairs, labelled)
    chosen = choose_to_judge(pairs, pivot, earlier, options.limit)
    fields = _read_fields(pairs, chosen, own, other, options, runner)
    advice = _advice(pairs, is_own=own is not None, is_other=other is not None)
    notes = () if labelled is None else labelled.notes()
    by_labels = labelled is not None and labelled.best is not None
    return review_report(pairs, chosen, fields, (pivot, by_labels), earlier, advice, notes)


def _read_fields(
    pairs: PairTable,
    chosen: Int64s,
    own: Sequence[Source] | None,
    other: Sequence[Source] | None,
    options: ReviewOptions,
    runner: Runner,
) -> Fields:
    names = options.shown_columns or None
    if own is None and other is None:
        if names is not None:
            where = "without the documents, whose columns they are"
            raise no_effect("columns", where, "name INPUT")
        return Fields([], None)
    if names is not None:
        _check_columns(names, [*(own or ()), *(other or ())], "columns")
    ids_a, ids_b = (set(pairs.ids_of(side, chosen).to_pylist()) for side in (0, 1))
    if not pairs.is_two_sided:
        ids_a = ids_b = ids_a | ids_b
    columns, columns_b = columns_of(options), other_columns_of(options)
    for sources, read in ((own, columns), (other, columns_b)):
        if sources is not None and read.id is not None:
            _check_columns([read.id], sources, option_name(read.id_option))
    # The texts of both sides are one field, whatever the names of their columns.
    called = dict(zip(columns.texts, columns_b.texts, strict=False))
    renamed = {name_b: name for name, name_b in called.items()}
    if names is not None:
        names = tuple(dict.fromkeys(renamed.get(name, name) for name in names))
    known: dict[str, dict[str, dict[str, Any]]] = {"a": {}, "b": {}}
    if own is not None:
        known["a"] = ReadCollection(own, columns, options.skip_bad).rows(ids_a, names, runner)
    if not pairs.is_two_sided:
        known["b"] = known["a"]
    elif other is not None:
        asked = None if names is None else [called.get(name, name) for name in names]
        found = ReadCollection(other, columns_b, options.skip_bad).rows(ids_b, asked, runner)
        known["b"] = {
            key: {
                renamed.get(name, name): value
                for name, value in row.items()
                # A column with the new name of another one does not match the other side's.
                if name in renamed or name not in called
            }
            for key, row in found.items()
        }
    id_columns = {columns.id or "id", columns_b.id or "id"}
    there = dict.fromkeys(name for side in known.values() for row in side.values() for name in row)
    # Texts come first; ids are displayed anyway.
    ordered = dict.fromkeys([*(name for name in columns.texts if name in there), *there])
    shown = names or [name for name in ordered if name not in id_columns]

    def find(side: str, identifier: str) -> Mapping[str, Any] | None:
        return known[side].get(identifier)

    return Fields(shown, find)


def _check_columns(names: Sequence[str], sources: Sequence[Source], said_by: str) -> None:
    for name in names:
        if name not in columns_there(sources, [name]):
            message = f"no column {name!r}, which {said_by} names{where_to_have(sources)}"
            raise InvalidInputError(message, path=sources[0].origin)


def _check_no_labels(sources: Sequence[Source]) -> None:
    """Raise if documents include labels, from several files after --labels."""
    for source in sources:
        if {*ID_COLUMNS, LABEL} <= set(source.column_names() or ()):
            message = "these are labels, not documents; labels are one file"
            raise InvalidInputError(message, path=source.origin)


def _advice(pairs: PairTable, *, is_own: bool, is_other: bool) -> str:
    if not is_own and not pairs.is_two_sided:
        return (
            "To see the fields, name the documents: neardup review PAIRS INPUT -o PAGE.html; or "
            "find pairs with --columns."
        )
    if not (is_own and (is_other or not pairs.is_two_sided)):
        return (
            "To see the fields of both, name both collections: neardup review PAIRS INPUT "
            "--against OTHER -o PAGE.html; or find pairs with --columns."
        )
    return (
        "Some documents are not in the files named; name the same files as when the pairs were "
        "found, with the same column of ids."
    )
