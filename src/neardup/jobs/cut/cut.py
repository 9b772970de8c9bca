"""``cut``: remove repeated text from the documents of a collection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.other import resolve_other
from neardup.engine.engine import Change, Engine
from neardup.engine.opening import open_engine
from neardup.errors import InvalidInputError
from neardup.files.inputs import passed_over, resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.cut.cut_passages import cut_passages
from neardup.jobs.cut.cut_plan import CutJobPlan, plan_cut
from neardup.jobs.cut.spans import Extent, change_of, describe_repeated, most_repeated
from neardup.jobs.cut.units import cut_units
from neardup.options.choices import CutPreset, CutUnit, Data, DataOrIndex, Number
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.options.option import merge
from neardup.options.passage_options import CutOptions
from neardup.passages.search_plan import candidate_probability
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import sides_of
from neardup.reading.sign import describe_filtered, rows_where
from neardup.results import describe_ids, describe_skipped, versions
from neardup.runs.progress import counted
from neardup.stages.options import has_token_options, hints_of_letters, with_warning
from neardup.stages.selection import (
    ROWS_AT_ONCE,
    KeeperIds,
    Selection,
    complete_summary,
    write_rows_by,
)
from neardup.tables import Bools, CutSpans


def cut_sources(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source] | None, plan: CutJobPlan
) -> CutResult:
    """Run all stages before writing.

    With ``against``, only text of these documents is cut, and all of them stay.
    """
    others = against or []
    _check_sources(sources)
    find = cut_passages if plan.unit == "passages" else cut_units
    found = find(engine, sources, others, plan)
    other, own, change, most = found.other, found.own, found.change, found.most
    if against is not None and not len(other):
        # Stages treat an empty collection as missing.
        change, most = change_of(own, CutSpans.of_none(), plan), None
    runner, spans = engine.runner, change.gathered
    with engine.stage("report"):
        extent = Extent.of(spans, len(other) + len(own))
        most = most_repeated(spans) if most is None else most
        described = describe_repeated(own, most, plan, runner)
        keeper_ids = KeeperIds(own, other, extent.keepers)
    summary: dict[str, Any] = {
        "documents_in": int(own.is_document.sum()),
        "documents_cut": extent.documents,
        "spans": len(spans),
        "characters_removed": extent.characters,
        "most_repeated": described,
        **describe_skipped(own.skipped, other.skipped),
        **describe_filtered(own.sources),
        "passed_over": passed_over(own.sources, other.sources),
        "against_documents": int(other.is_document.sum()),
        **describe_ids(own.columns, other.columns),
        "text_bytes": own.text_bytes,
        "keep": plan.options.keep,
        "replacement": plan.options.replacement,
        "engine": "threads",
        "workers": runner.workers,
        "hints": [],
    }
    complete_summary(summary, runner)
    summary["versions"] = versions()
    summary |= _summarise_search(own, plan) | engine.describe()
    result = CutResult(own, other, change, keeper_ids, summary)
    write_rows_by(result, engine)
    return result


def _summarise_search(own: Catalogue, plan: CutJobPlan) -> dict[str, Any]:
    """Return the part of the summary about compared text."""
    options, sizes = plan.options, np.maximum(own.n_tokens, 0)
    threshold = recall = 1.0
    hints = {}
    if plan.alignment is not None and plan.scheme is not None:
        search, shingles = plan.alignment.search, plan.scheme.shingles
        threshold = float(search.threshold)
        recall = candidate_probability(plan.scheme.num_perm, search.hits, search.threshold)
        if not has_token_options(options):
            hints["hints"] = hints_of_letters(shingles, own.sources, own.columns)
    return {
        "empty_documents": own.count_empty(),
        "short_documents": int(((sizes > 0) & (sizes < plan.min_tokens)).sum()),
        "tokens": int(sizes.sum()),
        "unit": plan.unit,
        "exact": plan.alignment is None,
        "threshold": threshold,
        "min_tokens": plan.min_tokens,
        "min_documents": options.min_documents,
        "predicted_recall": recall,
        **options.describe_preset(),
        **hints,
    }


def _check_sources(sources: Sequence[Source]) -> None:
    for file in (file for source in sources for file in (source, *source.files)):
        if file.uncuttable is not None:
            message = (
                f"text cannot be cut out of {file.uncuttable}, whose bytes stay as they are; "
                "cut it out of its text, which dedup writes with format='jsonl' (--format jsonl)"
            )
            raise InvalidInputError(message, path=file.origin)


def cut(
    data: Data,
    against: DataOrIndex | None = None,
    *,
    unit: CutUnit | None = None,
    exact: bool = False,
    threshold: Number | None = None,
    min_tokens: int | None = None,
    min_documents: int | None = None,
    keep: str = "first",
    replacement: str = "",
    preset: CutPreset | None = None,
    recall: Number | None = None,
    num_perm: int | None = None,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> CutResult:
    """Cut repeated passages, paragraphs or lines out of texts.

    Documents are taken in the order of ``keep``. Text of a document stays; equal text, or text
    verified to be similar, is cut from later documents and from later parts of the same one.

    Parameters
    ----------
    data
        Documents, in any form that ``deduplicate`` takes. With several text columns, positions
        count in the joined text, and each column is cut.
    against
        Other documents, or an index of either kind, whose texts are all read. They stay, and only
        text that one of them has is cut.
    unit
        ``passages`` (the default), any stretches of tokens; ``paragraphs``, separated by blank
        lines; ``lines``; or ``sentences``, any three in a row. Units other than passages are cut
        if they are equal token by token.
    exact
        Cut only passages that are equal token by token: every repeated one of ``min_tokens`` tokens
        is found, and no other. Otherwise similar ones are found by alignment.
    threshold
        Least similarity of a passage to the kept copy, in (0, 1], an exact decimal. None: 0.8.
        Passages are compared as multisets of tokens.
    min_tokens
        Tokens of the shortest unit that is cut. None: 50 for passages, else 5.
    min_documents
        Cut only text that at least this many documents have, from all but the first. None: also
        repeats within one document.
    keep
        Keep order of the documents, as of ``deduplicate``. With lines or paragraphs also ``none``:
        every copy is cut, and names another one.
    replacement
        Text that replaces each cut.
    preset
        ``ocr`` or ``code``: defaults for passages of such texts.
    recall
        Least probability that a similar passage at the threshold is found. None: 1, or 0.99 with
        ``num_perm`` or ``seed``.
    num_perm
        Hash functions. None: 64.
    text, read, run
        Tokens and shingles, input, and threads, memory or Spark.

    Returns
    -------
    The result: ``kept``, all rows with shorter texts, ``removed``, a row for each span that went,
    ``summary`` and ``write()``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or a conflict of options.
    InvalidInputError
        For a bad row or a repeated id.
    ReadError, WriteError, IndexFormatError
        If a file cannot be read, the work folder cannot be written, or an index is damaged.

    Notes
    -----
    Cutting a collection again with the same options, ``keep`` first and no replacement, changes
    nothing. Exceptions are a ``min_documents`` of 3 or more for equal passages, any
    ``min_documents`` for similar ones, and a tokenizer file that joins the text at a cut to one
    token. Equal text takes time linear in the text, and about 60 bytes per document, in addition to
    data in files if they do not fit into memory: about 50 bytes per paragraph and line; for
    passages 16 bytes per sample of the texts, two in 27 tokens, and 8 bytes per token of documents
    that share one. Shared samples of passages take 30 bytes each, and cut passages 130. Similar
    passages are looked up in an index of the remaining text, within ``memory``, and cut ones take
    about 600 bytes each. The files are read twice, once more for equal passages, and once more for
    writing.

    Examples
    --------
    >>> import neardup
    >>> notice = "All rights reserved. No part may be copied without leave of the owner."
    >>> texts = [f"A tale of two cats. {notice}", f"A dog was there. {notice} The end."]
    >>> result = neardup.cut(texts, min_tokens=8, exact=True)
    >>> result.kept["text"].to_pylist()[1]
    'A dog was there. The end.'
    >>> result.removed.select(["id", "start", "end", "kept_id"]).to_pylist()
    [{'id': '1', 'start': 17, 'end': 88, 'kept_id': '0'}]
    """
    options = merge(CutOptions, locals())
    plan = plan_cut(options, has_other=against is not None)
    sources = rows_where(resolve_inputs(data, options), options.where)
    resolve = partial(resolve_inputs, options=options)
    others = None if against is None else resolve_other(against, resolve, options.tokenizer)
    with open_engine(run, [*sources, *(others or ())]) as engine:
        return with_warning(cut_sources(engine, sources, others, plan))


class CutResult(Selection):
    """Shortened texts, the removed spans, and their kept copies.

    ``kept`` are all documents, with shorter texts after cuts; ``removed`` lists the removed spans.
    As an Arrow stream it is ``kept``.
    """

    summary: dict[str, Any]

    def __init__(
        self,
        own: Catalogue,
        other: Catalogue,
        change: Change,
        keeper_ids: KeeperIds,
        summary: dict[str, Any],
    ) -> None:
        super().__init__(own, np.ones(len(own), np.bool_), summary, other)
        self._change, self._spans = change, change.gathered
        self._keeper_ids = keeper_ids

    def headline(self) -> str:
        """Return the counts of documents, spans and removed characters."""
        counts = self.summary
        return (
            f"{counted(counts['spans'], 'span')} cut from {counts['documents_cut']:,} of "
            f"{counted(counts['documents_in'], 'document')}: "
            f"{counted(counts['characters_removed'], 'character')}"
        )

    def _tables(self) -> dict[str, pa.RecordBatchReader]:
        schema = self._removed_rows(CutSpans.of_none()).schema
        return {
            "removed.parquet": pa.RecordBatchReader.from_batches(schema, self._removed_batches())
        }

    def _removed_batches(self) -> Iterator[pa.RecordBatch]:
        for part in self._spans.parts():
            for start in range(0, len(part), ROWS_AT_ONCE):
                rows = part.take(slice(start, start + ROWS_AT_ONCE))
                yield from self._removed_rows(rows).to_batches()

    def _sides(self) -> dict[str, Bools]:
        return sides_of(self._documents)

    @cached_property
    def removed(self) -> pa.Table:
        """One row per removed span, by document and position.

        ``id``, ``start``, ``end``, ``kept_id``, ``kept_start``, ``kept_end``, ``similarity``,
        ``file``, ``row`` and ``kept_in``, the collection of the kept copy: ``input`` or
        ``against``. Positions are characters of the original texts, ends exclusive. Spans of a
        document may overlap, and one may extend over an earlier removal.
        """
        return self._tables()["removed.parquet"].read_all()

    def _removed_rows(self, spans: CutSpans) -> pa.Table:
        is_own = spans.kept_documents >= len(self._other)
        columns = {
            "id": self._own_ids.take(spans.documents),
            "start": spans.starts,
            "end": spans.stops,
            "kept_id": self._keeper_ids.take(spans.kept_documents),
            "kept_start": spans.kept_starts,
            "kept_end": spans.kept_stops,
            "similarity": pa.array(spans.similarities, mask=np.isnan(spans.similarities)),
            "file": self._documents.document_files(spans.documents),
            "row": self._documents.numbers[spans.documents],
            "kept_in": pa.array(np.where(is_own, "input", "against"), pa.string()),
        }
        return pa.table(columns)
