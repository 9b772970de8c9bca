"""``choose``: which documents stay, decided by pairs that were found before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neardup.engine.workspaces import open_workspace
from neardup.errors import InvalidParameterError
from neardup.files.inputs import check_effect
from neardup.files.passes import keep_extracted
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.matching.keep import KeepPolicy, parse_keep
from neardup.options.choices import Data
from neardup.options.documents import ChooseOptions
from neardup.options.groups import ReadingOptions, WorkerOptions, WorkspaceOptions
from neardup.options.option import argument, no_effect, takes
from neardup.options.together import ReadArgument, RunArgument
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import list_documents
from neardup.reading.where import rows_where
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.stages.by_pairs import (
    PairTable,
    agree_on_terms,
    check_same_documents,
    decide_by_pairs,
    open_pair_table,
)
from neardup.stages.options import columns_of, describe_inputs, describe_reading


class _Arguments(
    ChooseOptions, WorkspaceOptions, WorkerOptions, ReadArgument, RunArgument, kw_only=False
):
    pairs: Data = argument(
        "A result of ``find_pairs``, a file that `neardup pairs` has written, or "
        "anything with ``__arrow_c_stream__`` and the columns ``id_a``, ``id_b`` and "
        "``similarity``. For ``containment`` only a may go for b."
    )
    data: Data | None = argument(
        "The documents among which the pairs were found, in any form that "
        "``deduplicate`` takes. None: those that the pairs name, first all of ``id_a``, then "
        "the others of ``id_b``, each in the order of the table; their ids are all that is "
        "known of them, neither lengths nor columns. The text is looked at only for its "
        "length, where ``keep`` depends on it, and copied where the result is written.",
        default=None,
    )


@takes(_Arguments)
def choose(given: _Arguments) -> DeduplicationResult:
    """Decide by pairs that were found before which documents stay; no text is compared.

    Documents are taken in the order of ``keep``. Each one stays unless it is a pair, at or above
    ``threshold``, with one that already stays; then it is removed in favour of the most similar
    such document, the earlier one on a tie.

    Returns
    -------
    A result as that of ``deduplicate``. Nothing says which documents are exact copies; and of
    components a similarity is known only where the two are a pair.

    Raises
    ------
    InvalidParameterError
        For an option out of range, a threshold below that of the pairs, another measure.
    InvalidInputError
        If pairs name a document that is not there, if they were limited by their number, or are of
        two collections; for a bad row, or a repeated id.
    ReadError
        For a file that cannot be read.

    Notes
    -----
    The documents that stay are those of ``deduplicate`` with the same options over the same data,
    if pairs were found by the same method; and so is what others go for, but for exact copies of a
    document that goes: each of them may go for a document that is more similar and comes later.
    Similarities are compared as 64-bit floats. Time linear in pairs and documents; memory about 70
    bytes a pair, 44 a document, and all ids.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "the cat sat on a mat", "the cat sat on a hat"]
    >>> pairs = neardup.find_pairs(texts, ngram=1, threshold="0.5")
    >>> neardup.choose(pairs, texts).kept.to_pylist()
    [{'text': 'the cat sat on the mat'}]
    >>> neardup.choose(pairs, texts, threshold="0.8").removed.select(["id", "kept_id"]).to_pylist()
    [{'id': '1', 'kept_id': '0'}]
    """
    options = given.part(ChooseOptions)
    workspace = open_workspace(given.memory, given.work)
    policy = parse_keep(options.keep)
    if given.data is None:
        _check_no_data(given, policy)
    with Runner(given.workers, given.progress, "choose") as runner:
        table = open_pair_table(given.pairs)
        sources = None
        if given.data is not None:
            sources = rows_where(resolve_inputs(given.data, options), options.where)
        return choose_documents(sources, table, options, runner, workspace)


def choose_documents(
    sources: Sequence[Source] | None,
    table: PairTable,
    options: ChooseOptions,
    runner: Runner,
    workspace: Workspace = IN_MEMORY,
) -> DeduplicationResult:
    """Decide by a table of pairs which documents of some sources stay; None: those that it names.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``choose``.
    """
    runner.memory = workspace.memory or None
    terms = agree_on_terms(table, options.measure, options.threshold)
    policy = parse_keep(options.keep)
    with runner.stage("read") as note:
        if sources is None:
            documents = Catalogue.of_ids(table.ids(runner))
        else:
            check_effect(options, sources)
            keep_extracted(workspace, sources)
            documents = list_documents(
                sources,
                replace(columns_of(options), order=policy.columns),
                workspace,
                runner,
                skip_bad=options.skip_bad,
                with_lengths=policy.by_length,
            )
            check_same_documents(table, int(documents.is_document.sum()))
        note(documents=len(documents))
    assignment, summary = decide_by_pairs(
        documents, table, terms, runner, keep=options.keep, clusters=options.clusters
    )
    summary |= describe_inputs(sources or (), ()) | describe_reading(options, documents)
    return DeduplicationResult(documents, Catalogue.of_none(), assignment, summary)


def _check_no_data(given: _Arguments, policy: KeepPolicy) -> None:
    """Raise for an option that only says how documents are read, where none are."""
    if policy.rule != "first":
        message = f"keep {given.keep} looks at the documents; give data, or keep first"
        raise InvalidParameterError(message, "keep")
    for name in ("where", "memory", "work", *ReadingOptions.known):
        if getattr(given, name) != given.known[name].default:
            raise no_effect(name, "without data", "give data")
