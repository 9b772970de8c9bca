"""``find_pairs``: all pairs of similar documents, within one collection or between two."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.documents.other import index_among, own_tokenizer, resolve_other
from neardup.files.resolve import resolve_inputs
from neardup.jobs.pairs.options import PairOptions
from neardup.jobs.pairs.plan import check_no_workspace, plan_pairs
from neardup.jobs.pairs.result import PairResult
from neardup.jobs.pairs.run import find_pairs_in_sources
from neardup.jobs.workspaces import open_workspace
from neardup.options.choices import (
    Algorithm,
    Fingerprint,
    InputFormat,
    InverseFrequency,
    MissingValues,
    Occurrences,
    OnError,
    PairMeasure,
    PairMethod,
    TermFrequency,
    UnicodeForm,
)
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner
from neardup.storage.work import IN_MEMORY

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


def find_pairs(
    left: Any,
    right: Any = None,
    *,
    against_text_column: str | Sequence[str] | None = None,
    against_id_column: str | None = None,
    measure: PairMeasure | None = None,
    threshold: str | float | Decimal | Fraction | None = None,
    max_distance: int | None = None,
    method: PairMethod | None = None,
    algorithm: Algorithm | None = None,
    top: int | None = None,
    per_document: bool = False,
    one_to_one: bool = False,
    blocking: str | Sequence[str] | None = None,
    also: str | Sequence[str] | None = None,
    also_missing: MissingValues | None = None,
    with_columns: str | Sequence[str] | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    idf_from: Any = None,
    tokenizer: str | Path | TokenFunction | None = None,
    ngram: int | None = None,
    occurrences: Occurrences = "set",
    fingerprint: Fingerprint | None = None,
    fingerprint_bits: int | None = None,
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    input_format: InputFormat = "auto",
    encoding: str | None = None,
    delimiter: str | None = None,
    lines: bool = False,
    main_text: bool = False,
    alternative_texts: bool = False,
    on_error: OnError = "raise",
    recall: str | float | Decimal | Fraction | None = None,
    num_perm: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    seed: int | None = None,
    limit: int | None = None,
    memory: int | str | None = None,
    work: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> PairResult:
    """Find all pairs of similar documents, none missed, or the most similar.

    Parameters
    ----------
    left
        Documents, in any form that ``deduplicate`` takes.
    right
        A second collection: pairs are of one document of each. None: pairs within ``left``. In a
        ``DocumentIndex``, or the folder of one, documents are looked up, which decides all but the
        threshold; all its texts are read with method ``exact``, and for what needs that.
    against_text_column, against_id_column
        Columns of ``right``; None: those of ``left``.
    measure
        ``jaccard`` (the default), ``cosine``, ``dice``, ``containment`` (how much of a lies in b),
        ``max-containment``, ``overlap`` (the number of common shingles), ``weighted-jaccard`` (with
        weights by ``tf`` and ``idf``), ``hamming`` (the number of shingles that one of the two
        lacks), or ``edit`` (insertions, deletions and substitutions of tokens; the default with
        ``max_distance``).
    threshold
        Least similarity, in (0, 1], taken as the exact decimal; for ``overlap`` a whole number,
        for ``edit`` that of 1 - distance / length of the longer text. None is 0.8, or any
        similarity above 0 with ``top``.
    max_distance
        Most edits, instead of a threshold; the most that ``hamming`` may be.
    method
        ``exact``, the default but for an index: none is missed. ``minhash``: documents that share a
        MinHash band are compared, exactly, so that every pair is right and a pair at the threshold
        is found with the probability ``recall``.
    algorithm
        ``allpairs``, ``ppjoin`` or ``ppjoin+``: different filters of method ``exact``, the same
        pairs; not for ``weighted-jaccard``. ``auto``, the default, chooses by the data.
    top
        Only so many pairs, the most similar ones, or those of least distance where
        ``max_distance`` is given; ties in input order.
    per_document
        Only the ``top`` most similar partners of each document of ``left``. In a self-join a pair
        may so come in both directions.
    one_to_one
        No document is in more than one pair: of all pairs that would be found, the most similar
        first, each stays of which neither document is in one that does; ties in input order.
    blocking
        A column, or several: only documents with equal values in all of them are compared.
        Values are equal that are as text; a document without one is in no pair.
    also
        Only pairs that are also similar in other columns: ``title:jaccard:0.5``, or a list of such,
        by a measure of sets or ``edit``. Values are compared as texts, by single tokens unless
        ``ngram`` was given, exactly; the result has the similarity as ``similarity_title``. Not
        with ``top``.
    also_missing
        ``keep`` (the default): a pair of which a document has no value in such a column, or one
        without tokens, is not judged by it, and its similarity there is null. ``drop``: it is left
        out.
    with_columns
        A column, or several: what the documents of a pair have there is in the result, for a column
        ``title`` as ``title_a`` and ``title_b``. A collection may lack it, but not both.
    tf, idf, idf_from
        As for ``deduplicate``; documents of both collections are counted unless others are given.
    tokenizer, ngram, occurrences, casefold, unicode_form, strip_accents, fold_digits
        How texts become sets of shingles; as for ``deduplicate``. For ``edit`` the tokenizer is
        ``characters`` unless given, and ``ngram`` the size of the q-grams that find candidates,
        which changes the time, not the pairs.
    fingerprint, fingerprint_bits
        How shingles are hashed; as for ``deduplicate``. Not for ``edit``.
    recall, num_perm, bands, rows, seed
        As for ``deduplicate``; with method ``minhash`` only.
    limit
        Raise an error at more pairs than this.
    memory, work
        As for ``deduplicate``; with method minhash only.
    text_column, id_column, input_format, encoding, delimiter, lines
        As for ``deduplicate``.
    main_text, alternative_texts, on_error, workers, progress
        As for ``deduplicate``.

    Returns
    -------
    ``pairs`` (Arrow table: id_a, id_b, similarity, and overlap or distance, but for
    ``weighted-jaccard``), ``counts`` (what the filters did) and ``summary``.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    Exact but for collisions of 64-bit hashes. Memory about 40 bytes a shingle, 50 a weighted one,
    or 50 a character for ``edit``, and some 200 bytes a pair found. Method ``minhash`` keeps within
    ``memory``, but for about 60 bytes a document and ``pairs``, the table.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "a dog", "the cat sat on a mat"]
    >>> neardup.find_pairs(texts, ngram=1, threshold="0.8").pairs.to_pylist()
    [{'id_a': '0', 'id_b': '2', 'similarity': 0.8333333333333334, 'overlap': 5}]
    >>> neardup.find_pairs(["Miller", "Muller", "Moeller"], max_distance=1).pairs.to_pylist()
    [{'id_a': '0', 'id_b': '1', 'similarity': 0.8333333333333334, 'distance': 1}]
    """
    options = PairOptions(
        measure=measure,
        threshold=threshold,
        max_distance=max_distance,
        method=method,
        algorithm=algorithm,
        top=top,
        per_document=per_document,
        one_to_one=one_to_one,
        blocking=blocking,
        also=also,
        also_missing=also_missing,
        with_columns=with_columns,
        tf=tf,
        idf=idf,
        idf_from=idf_from,
        tokenizer=tokenizer,
        ngram=ngram,
        occurrences=occurrences,
        fingerprint=fingerprint,
        fingerprint_bits=fingerprint_bits,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        against_text_column=against_text_column,
        against_id_column=against_id_column,
        text_column=text_column,
        id_column=id_column,
        input_format=input_format,
        encoding=encoding,
        delimiter=delimiter,
        lines=lines,
        main_text=main_text,
        alternative_texts=alternative_texts,
        on_error=on_error,
        recall=recall,
        num_perm=num_perm,
        bands=bands,
        rows=rows,
        seed=seed,
        limit=limit,
    )
    handle = None
    if right is not None and options.may_look_up:
        handle = index_among(right, own_tokenizer(options.tokenizer))
    if handle is not None:
        # Indexes take long to import, and most runs have none.
        from neardup.jobs.pairs.against_index import find_pairs_in_index

        check_no_workspace(memory=memory, work=work)
        with Runner(workers, progress) as runner:
            index = handle.view(runner)
            return find_pairs_in_index(resolve_inputs(left, options), index, options, runner)
    plan = plan_pairs(options, other="right", has_other=right is not None, memory=memory, work=work)
    with Runner(workers, progress) as runner:
        resolve = partial(resolve_inputs, options=options)
        right_sources = None if right is None else resolve_other(right, resolve, options.tokenizer)
        left_sources = resolve(left)
        counted = None if idf_from is None else resolve(idf_from)
        workspace = IN_MEMORY if plan.banding is None else open_workspace(memory, work)
        return find_pairs_in_sources(left_sources, right_sources, plan, runner, workspace, counted)
