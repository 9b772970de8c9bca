"""``deduplicate``: near-duplicate documents of any collection, decided and proved."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.documents.other import index_among
from neardup.files.resolve import resolve_inputs
from neardup.jobs.dedup.other import open_index
from neardup.jobs.dedup.plan import DedupOptions, plan_deduplication
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.jobs.dedup.run import deduplicate_against, deduplicate_sources
from neardup.jobs.workspaces import open_workspace
from neardup.options.choices import (
    Clusters,
    DocumentMeasure,
    Fingerprint,
    InputFormat,
    InverseFrequency,
    Method,
    Occurrences,
    OnError,
    TermFrequency,
    UnicodeForm,
)
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


def deduplicate(
    data: Any,
    *,
    against: Any = None,
    against_text_column: str | Sequence[str] | None = None,
    against_id_column: str | None = None,
    add: bool = False,
    measure: DocumentMeasure | None = None,
    threshold: str | float | Decimal | Fraction | None = None,
    recall: str | float | Decimal | Fraction | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
    ngram: int | None = None,
    occurrences: Occurrences | None = None,
    fingerprint: Fingerprint | None = None,
    fingerprint_bits: int | None = None,
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    num_perm: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    seed: int | None = None,
    keep: str = "first",
    clusters: Clusters = "survivors",
    method: Method = "minhash",
    audit: int | None = None,
    by: str | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    idf_from: Any = None,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    input_format: InputFormat = "auto",
    encoding: str | None = None,
    delimiter: str | None = None,
    lines: bool = False,
    main_text: bool = False,
    alternative_texts: bool = False,
    on_error: OnError = "raise",
    memory: int | str | None = None,
    work: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> DeduplicationResult:
    """Find near-duplicate documents and decide which of them stay.

    Documents are taken in the order of ``keep``. Each one stays unless it is verified similar, at
    or above ``threshold``, to one that already stays; then it is removed in favour of the most
    similar such document. Candidates for the comparison come from MinHash bands, every comparison
    is exact.

    Parameters
    ----------
    data
        A path, glob or URL as a string; a list of ``pathlib.Path``; a list of strings (texts) or
        of dictionaries; or anything with ``__arrow_c_stream__``: pandas, Polars, DuckDB, Arrow,
        Hugging Face datasets; a ``pyarrow.dataset.Dataset`` is read bit by bit.
    against
        More documents, as for ``data``, or an index of documents: a ``DocumentIndex``, of which
        what was inserted is committed first, or the path of its folder. They all stay; what is
        similar to one of them goes. Their ids get ``against/`` in front where ``data`` has the
        same ids. In an index what is similar is looked up, in memory that does not grow with it;
        only method ``exact`` or ``auto``, clusters ``components`` and an audit read all its texts.
        It decides what texts are cut into and compared by: options that are unlike it are refused.
    against_text_column, against_id_column
        Columns of ``against``; None: those of ``data``.
    add
        Add what stays to the index, at the very end, all of it or nothing; texts that went are
        noted with what they went for. With ``keep`` first, batches that are added one after the
        other give the documents that stay and go, keepers and similarities of one run over all of
        them, at the bands of the index. Ids are those of one collection: none gets ``against/`` in
        front, and what stays must have new ones.
    measure
        Of an index its own, else Jaccard similarity where it is None:
        ``jaccard``, ``cosine``, ``dice``, ``containment`` (how much of the document that would go
        is in the one that stays), ``max-containment`` or ``weighted-jaccard`` (with weights by
        ``tf`` and ``idf``).
    threshold
        Least similarity, in (0, 1], taken as the exact decimal; equal counts as similar. None is
        0.8, or that of an index, which can be asked for this or a higher one.
    recall
        Least probability, in (0, 1], that a pair at the threshold is found; 1 only with a
        threshold of 1. None is 0.99.
    tokenizer
        ``words``, ``whitespace``, ``characters``, ``lines``, ``bytes``, the path of a
        ``tokenizer.json`` or a function from a text to its tokens. None is ``words``, or ``bytes``
        where these are read.
    ngram
        Tokens in a shingle; 5, for ``weighted-jaccard`` 1.
    occurrences
        ``set``, or ``numbered`` for measures of multisets; None is ``set``, or as an index has it.
    fingerprint
        How shingles are hashed: ``mixer``, or ``rabin`` for Rabin fingerprints, whose collisions
        are bounded whatever the texts are; ``seed`` selects their polynomial. None is ``mixer``, or
        as an index has it.
    fingerprint_bits
        32, 40 or 64: so many bits tell shingles apart. Of n different ones two are taken for the
        same with a probability of about n^2 / 2^(bits + 1). None is 64, or as an index has it.
    casefold, unicode_form, strip_accents, fold_digits
        Differences that do not count; see ``Normalisation``. ``casefold`` is on for words.
    num_perm
        Hash functions that may be used for bands; None is 128.
    bands, rows
        Use these instead of choosing them for ``recall``.
    seed
        Selects the hash functions; None is 42. Method ``exact`` has no use for it, nor for
        ``recall``, ``num_perm``, ``bands``, ``rows`` and ``audit``, and takes none of them.
    keep
        ``first``, ``longest``, ``shortest``, ``max:COLUMN``, ``min:COLUMN`` or
        ``priority:COLUMN=A,B,C``; ties by input order.
    clusters
        ``survivors``, or ``components``: only the first document of every connected component of
        similar documents stays.
    method
        ``minhash``, ``exact``, which misses no similar document, or ``auto``: exact where that is
        not much more work than sketches, by what is counted on a sample of the texts.
    audit
        Compare so many distinct texts, drawn by the seed, with all others exactly, and report
        what share of the similar pairs the sketches have found.
    by
        Column of ``data`` by whose values documents are counted, too; the summary has the counts,
        and ``removed`` the values.
    tf, idf, idf_from
        What a shingle weighs, for ``weighted-jaccard``: a term frequency (``raw``, ``binary``,
        ``log``, ``squared`` or ``saturating``) times an inverse document frequency (``smooth``,
        ``unary``, ``standard`` or ``probabilistic``) over all documents, those of ``against``
        included, or over those of ``idf_from``, in any form that ``data`` may have; see
        ``text.weighting.Weighting``. The first of each is the default.
    text_column
        Name of the column of the text, or several: their texts are joined with newlines in that
        order, a null counting as an empty text; where all are null the row is bad.
    id_column
        Name of the column of the ids; None: ``id``, if all inputs have one. Otherwise, and where
        it is empty, an id is ``<file name>:<row number>``.
    input_format
        ``text``, ``jsonl``, ``json``, ``csv``, ``tsv``, ``parquet``, ``arrow``, ``html``, ``warc``,
        ``docx``, ``odt``, ``epub`` or ``pdf``: what all files are read as, whatever their endings.
        ``auto``: by ending; a file that is named and has another one is text, those of a folder are
        passed over and counted in the summary. ``html``: texts are web pages, in the columns of
        tables too, and data in memory; a file without the ending of a table is one page.
        ``bytes``: each file is one document, whatever it holds, and its bytes are tokens.
    encoding
        Encoding of text, CSV, JSON and web pages, by its name in Python, such as ``latin-1``; None
        is what a page says of itself, else UTF-8.
    delimiter
        What separates the fields of CSV and TSV; None is a comma, or a tab for TSV.
    lines
        Text files hold one document a line.
    main_text
        Of web pages the main text counts, without menus and the like, not all that is visible.
    alternative_texts
        Visible text of web pages includes the alternative texts of images.
    on_error
        ``raise`` on a bad row, or ``skip`` it: it is left out, counted and named, and written to
        ``skipped/``.
    memory
        Most memory to use, in bytes or as a size such as ``4GB``, beyond what the interpreter and
        the libraries take; None is 60 % of what is free. What does not fit goes to files.
    work
        Folder for these files, which go with the result; None is where the system has temporary
        files.
    workers
        Threads; None is one a core. The result does not depend on it.
    progress
        True shows it on standard error: bars on a terminal and in a notebook, else a line a minute.
        A function is called with a stage's name, the work done so far, and its amount, None if that
        is not known: bytes of the files while these are read, else documents, pairs or the like.

    Returns
    -------
    The result: ``kept``, ``removed``, ``clusters`` (Arrow tables), ``summary`` and ``write()``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or unlike the index.
    InvalidInputError
        For a bad row or a repeated id, or one that is to be added and that the index has.
    ReadError, IndexFormatError
        For a file that cannot be read, or an index that is damaged.
    IndexLockedError, WriteError
        If another writer is at work on the index, or it cannot be written.

    Notes
    -----
    Time linear in the text plus the comparisons. Memory 8 bytes a shingle of the documents that
    share a bucket, and about ``12 * bands + 20 * workers + 120`` bytes a document; method ``exact``
    and an audit take 30 bytes a shingle of all documents, 48 a weighted one. The files are read
    twice, and once more for writing.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat today", "a dog", "The cat sat on the mat today!"]
    >>> result = neardup.deduplicate(texts)
    >>> result.removed.select(["id", "kept_id", "similarity"]).to_pylist()
    [{'id': '2', 'kept_id': '0', 'similarity': 1.0}]
    """
    options = DedupOptions(
        add=add,
        measure=measure,
        threshold=threshold,
        recall=recall,
        tokenizer=tokenizer,
        ngram=ngram,
        occurrences=occurrences,
        fingerprint=fingerprint,
        fingerprint_bits=fingerprint_bits,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        num_perm=num_perm,
        bands=bands,
        rows=rows,
        seed=seed,
        keep=keep,
        clusters=clusters,
        method=method,
        audit=audit,
        by=by,
        tf=tf,
        idf=idf,
        idf_from=idf_from,
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
    )
    handle = None if against is None else index_among(against, options.tokenizer)
    if handle is not None:
        with Runner(workers, progress) as runner:
            sources = resolve_inputs(data, options)
            with open_index(handle, sources, options, runner) as other:
                workspace = open_workspace(memory, work)
                return deduplicate_against(sources, other, runner, workspace)
    plan = plan_deduplication(options, has_other=against is not None)
    with Runner(workers, progress) as runner:
        sources = resolve_inputs(data, options)
        others = resolve_inputs(against, options) if against is not None else []
        counted = None if idf_from is None else resolve_inputs(idf_from, options)
        workspace = open_workspace(memory, work)
        return deduplicate_sources(sources, others, plan, runner, workspace, counted=counted)
