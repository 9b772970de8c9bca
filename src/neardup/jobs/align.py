"""``align``: passages shared by two collections, or within one.

Windows of documents are looked up, their hits chained, and the ends of passages refined.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neardup.documents.other import resolve_other
from neardup.engine.engine import Engine, TaskResources
from neardup.engine.opening import key_of, key_with_index, open_engine
from neardup.errors import InvalidParameterError
from neardup.files.documents import ReadingPass, keep_extracted
from neardup.files.inputs import Inputs, name_apart, passed_over, resolve_inputs
from neardup.files.rows import RowBlock, Source
from neardup.index.open_index import Addition, SharedIndex
from neardup.index.store import SEGMENTS, SegmentRecord, index_kind, index_named
from neardup.options.choices import (
    AlignmentSummary,
    Data,
    DataOrIndex,
    InverseFrequency,
    Number,
    PassageMeasure,
    PassagePresetName,
)
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.options.kinds import exact_fraction, percent_of
from neardup.options.option import merge, no_effect
from neardup.options.passage_options import AlignOptions, PassageTokenOptions
from neardup.options.presets import PassagePreset, describe_preset, passages_for
from neardup.passages.aligner import (
    Aligner,
    AlignmentPlan,
    certain_length,
    make_alignment_plan,
    make_window_scheme,
    step_of,
)
from neardup.passages.document_blocks import (
    DocumentBlock,
    DocumentReading,
    IgnoredRuns,
    gather,
    least_run,
    read_document_block,
    read_documents,
    runs_of,
)
from neardup.passages.open_passages import (
    OpenPassages,
    PassageHandle,
    combine,
    open_segments,
    temporary_contents,
)
from neardup.passages.passage_lookup import DocumentLimits, WindowCounts, segment_tokens_within
from neardup.passages.passage_matches import PassageMatches, Placer, count_marked, pair_table
from neardup.passages.passage_segment import write_segment
from neardup.passages.search_plan import (
    choose_seed_threshold,
    jaccard_of_share,
    make_search_plan,
    passage_recall,
    share_of_jaccard,
)
from neardup.passages.windows import PassageScheme
from neardup.reading.sign import describe_filtered, rows_where
from neardup.results import NO_COLUMNS, PassageResult, SkippedRow, describe_ids, describe_skipped
from neardup.runs.runner import Runner
from neardup.stages.options import (
    columns_of,
    has_token_options,
    hints_of_letters,
    other_columns_of,
    with_warning,
)
from neardup.stages.passage_queries import Find, FoundForQueries, query_passages
from neardup.tables import Int64s, TokenLists
from neardup.text.tokenizers import Tokenizer
from neardup.text.weighting import DocumentFrequencies

# In fewer documents, a word of all documents may be one of few that two texts share.
_FEW = 5


@dataclass(frozen=True)
class NewDocuments:
    """Documents to index in a temporary folder.

    The index finds passages of ``min_tokens`` tokens; ``scheme`` are its other options. A few
    documents are weighed by ``idf_of_few``, if given. With ``is_input``, they are also the queries.
    """

    sources: Sequence[Source]
    read: DocumentReading
    min_tokens: int
    scheme: Mapping[str, Any]
    idf_of_few: InverseFrequency | None = None
    is_input: bool = False

    @property
    def window_scheme(self) -> PassageScheme:
        """Scheme of their index."""
        return make_window_scheme(self.min_tokens, **self.scheme)

    def weighed(self, index: OpenPassages) -> OpenPassages:
        """Return their index with the weights for few documents."""
        if self.idf_of_few is None or index.n_documents >= _FEW:
            return index
        return index.with_idf(self.idf_of_few)


Other = PassageHandle | NewDocuments


def choose_other(
    against: Any,
    resolve: Callable[[Any], Sequence[Source]],
    options: AlignOptions,
    scheme: Mapping[str, Any],
    queries: Sequence[Source],
) -> Other:
    """Decide whether the other collection is an index or documents.

    A ``PassageIndex``, and the path of a folder with one, are an index; all other data are
    documents, which ``resolve`` finds, including documents of an index of documents; None are the
    queries themselves. ``scheme`` are options of a new index only, some of them from a preset.
    Files get names that distinguish them from those of ``queries``.
    """
    handle = getattr(against, "_handle", None)
    if isinstance(handle, PassageHandle):
        _check_no_scheme(scheme)
        return handle
    folder = index_named(against)
    if folder is not None and index_kind(folder) == "passages":
        _check_no_scheme({name: value for name, value in scheme.items() if name != "tokenizer"})
        return PassageHandle(folder, scheme.get("tokenizer"))
    is_input = against is None
    sources = queries if is_input else name_apart(resolve(against), queries)
    columns = columns_of(options) if is_input else other_columns_of(options)
    usual = usual_of(options)
    least = usual.min_tokens if options.min_tokens is None else options.min_tokens
    # In few documents, nearly every word is in all.
    idf: InverseFrequency | None = None
    if usual.scheme.get("idf") == "standard" and scheme.get("idf") is None:
        idf = "smooth"
    read = DocumentReading(columns, options.skip_bad)
    of_index = {**usual.scheme, "num_perm": 0, **scheme}
    return NewDocuments(sources, read, least, of_index, idf, is_input)


@contextmanager
def open_other(
    engine: Engine, other: Other
) -> Iterator[tuple[SharedIndex[OpenPassages], Sequence[SkippedRow]]]:
    """Open an index, or temporarily index the documents."""
    if isinstance(other, PassageHandle):
        yield other.share(other.view(engine.runner)), ()
        return
    scheme = other.window_scheme
    with engine.workspace.temporary_folder() as folder:
        with engine.stage("read") as note:
            index, addition = _index_in_folder(engine, other, scheme, folder)
            note(documents=addition.n_documents, tokens=addition.n_tokens)
        skipped = addition.skipped
        # It holds all ids.
        del addition
        with engine.share(folder) as shared:
            yield SharedIndex(other.weighed(index), shared), skipped


def _index_in_folder(
    engine: Engine, other: NewDocuments, scheme: PassageScheme, folder: Path
) -> tuple[OpenPassages, Addition]:
    read = partial(read_document_block, tokenizer=scheme.tokenizer, options=other.read)
    frequencies = None
    if scheme.weighting.idf != "unary":
        listed = partial(_list_tokens, scheme.tokenizer, other.read)
        frequencies = engine.count("count", [(other.sources, listed)])
    empty = combine(temporary_contents(scheme), scheme, frequencies, [])
    addition = Addition(empty, other.read.columns, scheme.least_shingles)
    records: list[SegmentRecord] = []
    make = partial(_make_segments, scheme, frequencies)
    (folder / SEGMENTS).mkdir()
    for record, file, rows in engine.stream("read", other.sources, read, make):
        addition.take(*rows)
        addition.check_repeats()
        if record is not None:
            records.append(replace(record, name=f"s{len(records)}"))
            file.move(folder / SEGMENTS / records[-1].name)
    contents = temporary_contents(scheme, records)
    return open_segments(folder, contents, scheme, frequencies, engine.runner), addition


def _list_tokens(
    tokenizer: Tokenizer, read: DocumentReading, source: Source, block: RowBlock
) -> TokenLists:
    return read_document_block(source, block, tokenizer, read).tokens


class _SegmentFile:
    """File of a segment, pickled with its bytes between processes."""

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self._path, self._data = path, data

    def __reduce__(self) -> tuple[Any, ...]:
        return _SegmentFile, (self._path, self._path.read_bytes() if self._path.exists() else b"")

    def move(self, path: Path) -> None:
        if self._data is None:
            self._path.rename(path)
        else:
            path.write_bytes(self._data)


# The record of a segment, None if all rows were skipped, its file, and the rows for ``Addition``.
_Made = tuple[SegmentRecord | None, _SegmentFile, tuple[Any, ...]]


def _make_segments(
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    blocks: Iterator[DocumentBlock],
    task: TaskResources,
) -> Iterator[_Made]:
    """Make segments of documents, as large as the memory allows."""
    with task.workspace.temporary_folder() as folder:
        for number, block in enumerate(gather(blocks, segment_tokens_within(task.workspace))):
            name, record = f"s{number}", None
            if len(block):
                record = write_segment(folder, name, block, scheme, frequencies, task.runner)
            rows = block.ids, block.places, np.diff(block.tokens.offsets), block.skipped
            yield record, _SegmentFile(folder / SEGMENTS / name), rows
            del block


def _check_no_scheme(chosen: Mapping[str, Any]) -> None:
    for name in chosen:
        message = f"{name} has no effect with an index, which has its own; leave it out"
        raise InvalidParameterError(message, name)


# Defaults for contained passages: any long passage contains the frequent words of a shorter one, so
# words of all documents must weigh next to nothing.
_CONTAINED = PassagePreset("0.65", recall="0.95", min_tokens=40, scheme={"idf": "standard"})


def plan_alignment(options: AlignOptions, scheme: PassageScheme) -> AlignmentPlan:
    """Plan an alignment for the scheme of an index."""
    usual, times = usual_of(options), options.most_times
    threshold = exact_fraction(
        "threshold", usual.threshold if options.threshold is None else options.threshold
    )
    least = scheme.min_tokens if options.min_tokens is None else options.min_tokens
    n_shingles, length = scheme.count_shingles(least), scheme.least_shingles
    recall = usual.recall if options.recall is None else options.recall
    of_windows = threshold
    if recall is None and usual.window_threshold is not None:
        of_windows = min(exact_fraction("threshold", usual.window_threshold), threshold)
    if recall is not None:
        of_windows = choose_seed_threshold(
            n_shingles,
            jaccard_of_share(threshold) if times else threshold,
            length,
            step_of(length),
            exact_fraction("recall", recall),
        )
        of_windows = share_of_jaccard(of_windows) if times else of_windows
    search = make_search_plan(scheme, of_windows, Fraction(1), times)
    # The shingles between two parts include shingles that share tokens with a part.
    gap = None if usual.gap is None else scheme.count_tokens(usual.gap)
    plan = make_alignment_plan(search, n_shingles, gap, threshold)
    return replace(plan, misses_few=recall is not None, is_once=usual.is_once)


def describe_choices(options: AlignOptions, scheme: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preset's choices, without a scheme for an index."""
    usual = passages_for(options.preset)
    row: dict[str, Any] = {"threshold": usual.threshold, "recall": usual.recall}
    # Options not given are taken from the preset.
    own = {name: value for name, value in row.items() if getattr(options, name) is None}
    row["gap"] = own["gap"] = usual.gap
    if scheme:
        row |= {"min_tokens": usual.min_tokens, **usual.scheme}
        own |= {"min_tokens": options.min_tokens, **scheme}
    return describe_preset(options.preset, row, own)


def recall_of(plan: AlignmentPlan) -> float:
    """Return the predicted recall of a shortest passage at the threshold."""
    search, similarities = plan.search, (plan.threshold, plan.search.threshold)
    if search.times:
        similarities = (jaccard_of_share(plan.threshold), jaccard_of_share(search.threshold))
    return passage_recall(plan.min_tokens, similarities[0], plan.length, plan.step, similarities[1])


def usual_of(options: AlignOptions) -> PassagePreset:
    """Return the defaults of options that are not given."""
    if options.preset is None and options.measure != "jaccard":
        return _CONTAINED
    return passages_for(options.preset)


def _find_windows(
    plan: AlignmentPlan,
    options: AlignOptions,
    is_one: bool,
    index: OpenPassages,
    task: TaskResources,
) -> Find:
    aligner = Aligner(index, plan, task.workspace, task.runner)

    def find(block: DocumentBlock) -> tuple[PassageMatches, WindowCounts]:
        limits = None
        if is_one:
            own, within = index.documents_of_ids(block.ids), options.within
            # Containment is not symmetric, so both directions are searched.
            is_both = options.most_times > 0
            firsts = own if within or is_both else own + 1
            limits = DocumentLimits(firsts, np.full(len(own), within), finds_before=is_both)
        return aligner.align(block.tokens, task.report, limits), aligner.take_counts()

    return find


def read_templates(
    templates: Sequence[Source],
    other: Other,
    read: DocumentReading,
    min_tokens: int | None,
    runner: Runner,
) -> IgnoredRuns:
    """Read the texts of templates in this process, without ids."""
    if isinstance(other, NewDocuments):
        scheme = other.window_scheme
    else:
        scheme = other.view(runner).scheme
    length = least_run(scheme.min_tokens if min_tokens is None else min_tokens)
    read = replace(read, columns=read.columns.only_text())
    with runner.stage("ignore") as note:
        reading = ReadingPass("ignore", templates, runner)
        blocks = read_documents(templates, scheme.tokenizer, read, reading)
        runs = runs_of((block.tokens for block in blocks), scheme.count_shingles(length))
        note(runs=sum(len(hashes) for _, hashes in runs.hashes))
    return runs


class AlignJob:
    """Alignment by checked options, with resolved inputs."""

    def __init__(
        self,
        given: AlignOptions,
        resolve: Callable[[Any, AlignOptions], Inputs],
        data: Any,
        against: Any = None,
        ignore: Any = None,
        *,
        named: Any = None,
        names: tuple[str, str] = ("data", "against"),
    ) -> None:
        self.options, has_other = given, against is not None
        self.options.check_other(names[1], is_given=has_other)
        if self.options.within and has_other:
            raise no_effect("within", f"with {names[1]}", f"align {names[0]} alone", names[1])
        # Options of a new index. Not by ==, because 0 == False.
        chosen = {
            name: getattr(given, name)
            for name, option in PassageTokenOptions.known.items()
            if getattr(given, name) is not option.default
        }
        self.sources = rows_where(resolve(data, given), self.options.where)
        self.templates: Sequence[Source] = () if ignore is None else resolve(ignore, given)

        def resolve_named(named: Any) -> Inputs:
            return resolve_other(named, lambda _: resolve(against, given), given.tokenizer)

        named = against if named is None else named
        self.other = choose_other(named, resolve_named, self.options, chosen, self.sources)

    @property
    def folder(self) -> Path | None:
        """Folder of the index, None for documents."""
        return self.other.folder if isinstance(self.other, PassageHandle) else None

    def key(self, runner: Runner) -> dict[str, Any] | None:
        """Return the inputs that identify the passages, None if unidentifiable."""
        files = {"inputs": self.sources, "ignore": self.templates}
        other = self.other
        if isinstance(other, PassageHandle):
            return key_with_index("align", self.options, other.view(runner), other.folder, **files)
        scheme = other.window_scheme.describe() | {"idf_of_few": other.idf_of_few}
        against = [] if other.is_input else other.sources
        return key_of("align", self.options, scheme, **files, against=against)

    def run(self, engine: Engine) -> PassageResult:
        """Find all shared passages.

        In one collection, each pair of documents comes once, with the earlier as query; contained
        passages are searched in both directions. Template text is removed, except from an index.
        """
        start, sources = time.perf_counter(), self.sources
        options, other, read, hints = self._prepare(engine)
        new = other if isinstance(other, NewDocuments) else None
        is_one = new is not None and new.is_input
        with open_other(engine, other) as (shared, skipped), engine.stage("align") as note:
            index = shared.opened
            n_documents, most = len(index.document_sizes()), options.max_documents
            if isinstance(most, str):
                most = max(int(percent_of(most) * n_documents), 2)
            plan = replace(plan_alignment(options, index.scheme), max_documents=most)
            find, least = partial(_find_windows, plan, options, is_one), plan.min_tokens
            found = query_passages(engine, "align", shared, sources, read, find, options, least)
            counts, table = found.counts, found.table
            # A collection that is read twice lists each bad row once.
            counts.skipped = [*(() if is_one else skipped), *counts.skipped]
            note(documents=counts.n_queries, windows=found.windows.windows, passages=len(table))
            pairs = found.pairs[:, 0] * n_documents + found.pairs[:, 1]
            summary = _summarise(index, plan, found, pairs, is_one=is_one)
            summary["seconds"] = round(time.perf_counter() - start, 3)
        summary["gap"] = usual_of(options).gap
        summary["hints"] = hints
        summary |= describe_filtered(sources) | engine.describe()
        summary["passed_over"] = passed_over(sources, new.sources if new and not is_one else ())
        summary |= describe_choices(options, new.scheme if new else {})
        of_other = new.read.columns if new and not is_one else NO_COLUMNS
        summary |= describe_ids(read.columns, of_other)
        if options.place_marker is not None:
            summary["marked_places"] = count_marked(table)
        document_pairs = None
        if options.summary is not None:
            document_pairs = pair_table(table, pairs, found.extents)
        return PassageResult(table, summary, document_pairs)

    def _prepare(self, engine: Engine) -> tuple[AlignOptions, Other, DocumentReading, list[Any]]:
        """Check all options, and return them with both sides of the search, and hints."""
        options, other = self.options, self.other
        if isinstance(other, NewDocuments) and other.is_input:
            keep_extracted(engine.workspace, self.sources)
        # Raises for an invalid marker.
        Placer(options.place_marker)
        hints: list[dict[str, str]] = []
        read = DocumentReading(columns_of(options), options.skip_bad).for_sources(self.sources)
        if isinstance(other, NewDocuments):
            options = options.but(min_tokens=other.min_tokens)
            other = replace(other, read=other.read.for_sources(other.sources))
            scheme = other.window_scheme
            # Raises for invalid options.
            plan_alignment(options, scheme)
            if not has_token_options(options) and not {"tokenizer", "ngram"} & other.scheme.keys():
                hints = hints_of_letters(scheme.shingles, self.sources, read.columns, is_early=True)
        else:
            options.check_no_other("with an index", "align with documents")
        if self.templates:
            ignored = read_templates(self.templates, other, read, options.min_tokens, engine.runner)
            read = replace(read, ignored=ignored)
            # An index keeps its text.
            if isinstance(other, NewDocuments):
                other = replace(other, read=replace(other.read, ignored=ignored))
        return options, other, read, hints


def _summarise(
    index: OpenPassages, plan: AlignmentPlan, found: FoundForQueries, pairs: Int64s, *, is_one: bool
) -> dict[str, Any]:
    """Count documents and passages, given the pair of documents of each passage as a number."""
    counts, scheme, sizes = found.counts, index.scheme, index.document_sizes()
    n_sides = 1 if is_one else 2
    n_short = int(((sizes > 0) & (sizes < plan.min_tokens)).sum())
    return {
        "documents": [counts.n_queries, len(sizes)][:n_sides],
        "empty_documents": [counts.n_empty, int((sizes == 0).sum())][:n_sides],
        "short_documents": [counts.n_short, n_short][:n_sides],
        "threshold": float(plan.threshold),
        "min_tokens": scheme.count_tokens(plan.min_tokens),
        "ignored_tokens": found.n_ignored,
        "aligned_documents": len(np.unique(found.pairs if is_one else found.pairs[:, 0])),
        "passages": len(found.table),
        "document_pairs": len(np.unique(pairs)),
        "max_documents": plan.max_documents,
        **vars(found.windows),
        "window_tokens": scheme.count_tokens(plan.length),
        "window_threshold": float(plan.search.threshold),
        "certain_tokens": scheme.count_tokens(certain_length(plan)),
        "predicted_recall": recall_of(plan),
        **describe_skipped(counts.skipped),
    }


def align(
    data: Data,
    against: DataOrIndex | None = None,
    *,
    threshold: Number | None = None,
    measure: PassageMeasure = "jaccard",
    min_tokens: int | None = None,
    preset: PassagePresetName | None = None,
    max_documents: int | str | None = None,
    within: bool = False,
    summary: AlignmentSummary | None = None,
    ignore: Data | None = None,
    recall: Number | None = None,
    places: bool = False,
    place_marker: str | None = None,
    with_text: bool = False,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> PassageResult:
    """Find all shared passages of two collections, or of one.

    Parameters
    ----------
    data
        Documents, in any form that ``deduplicate`` takes: the queries.
    against
        Other documents, or an index of passages; documents are indexed in memory or in temporary
        files. None: pairs of documents of ``data``, each once; the earlier one is the query.
    threshold
        Least similarity of passages, in (0, 1], an exact decimal. None: 0.5, 0.65 by containment.
    measure
        ``jaccard``; or ``containment``, the share of the query's passage that the document's has,
        so that this may be longer. ``threshold`` and ``min_tokens`` apply to the query's passage.
    min_tokens
        Tokens of the shortest passage, in either text. Passages of this length (one and a half
        times ``min_tokens`` of an existing index) contain a window that is looked up. None: 50, 40
        by containment, or the value of the index.
    preset
        ``ocr``, ``code``, ``editions``, ``quotations`` or ``rewording``: defaults for such texts.
        An index has its own except for threshold and recall.
    max_documents
        Ignore windows that more documents of ``against``, or else of ``data``, share, such as
        licences; ``"10%"`` is a share of the documents, two at least.
    within
        Without ``against``: also find non-overlapping repeats within one document.
    summary
        ``"documents"``: report also the shared amount per pair of documents, as ``document_pairs``.
    ignore
        Documents, in any form, whose text is ignored, such as the template of a form: their runs of
        tokens are removed from ``data``, and passages continue after them. A run has a tenth of the
        tokens of the shortest passage, four at least.
    recall
        Least probability of finding a passage of ``min_tokens`` at the threshold, if its words were
        changed independently; it determines the threshold of windows. None: windows are looked up
        at the threshold, by containment with 0.95, by a preset with its own.
    places
        Add ``query_place`` and ``doc_place``, line and column of the passages' beginnings.
    place_marker
        Cite passages by the last match of this regular expression (RE2) at or before them, or its
        first group; ``^`` is the beginning of a line.
    with_text
        Add the columns ``query_text`` and ``doc_text``.
    text, read, run
        Tokens and shingles, input, and threads, memory or Spark.

    Returns
    -------
    ``passages`` and a ``summary`` with the counts, the skipped rows and the predicted recall.
    Passages are ``query_id, query_start, query_end, doc_id, doc_start, doc_end, similarity``:
    places in characters of the original texts, ends exclusive; in the order of the documents of
    ``data`` and of places in them. The similarity is that of the two whole passages, and the true
    one; copies of a token count in it, with tf ``binary`` too.
    Rows of ``document_pairs`` are ``query_id, doc_id, passages, longest, query_shared, doc_shared,
    query_share, doc_share``: the number of passages, the tokens of the longest, the tokens of
    either text that are in one, and which part of it that is, without ignored ones; the pairs of
    which one has the greatest part from the other come first.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.

    Notes
    -----
    The passages do not depend on ``memory``; they take about 150 bytes each in addition to it, and
    their texts. Indexed documents take 2.3 bytes of files per byte of text.

    Examples
    --------
    >>> import neardup
    >>> old = "It was the best of times, it was the worst of times, it was the age of wisdom"
    >>> new = "He wrote: it was the best of days, it was the worst of days, it was the age of fools"
    >>> found = neardup.align([new], [old], min_tokens=10)
    >>> found.passages.select(["query_start", "query_end", "doc_start", "doc_end"]).to_pylist()
    [{'query_start': 10, 'query_end': 78, 'doc_start': 0, 'doc_end': 70}]
    """
    given = merge(AlignOptions, locals())
    job = AlignJob(given, resolve_inputs, data, against, ignore)
    with open_engine(run, job.sources) as engine:
        result = job.run(engine)
    return with_warning(result)
