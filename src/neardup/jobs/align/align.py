"""``align``: the passages that two collections share, or the documents of one."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from neardup.documents.other import resolve_other
from neardup.files.resolve import resolve_inputs
from neardup.jobs.align.other import Other, choose_other, no_other
from neardup.jobs.align.plan import choose_options
from neardup.jobs.align.run import align_collections
from neardup.jobs.passages.result import PassageResult
from neardup.options.choices import (
    AlignmentSummary,
    InverseFrequency,
    OnError,
    PresetName,
    TermFrequency,
    TextFormat,
    UnicodeForm,
)
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner
from neardup.text.tokenizers import TokenFunction


def align(
    a: Any,
    b: Any = None,
    *,
    against_text_column: str | Sequence[str] | None = None,
    against_id_column: str | None = None,
    within: bool = False,
    preset: PresetName | None = None,
    threshold: str | float | Decimal | Fraction | None = None,
    min_tokens: int | None = None,
    recall: str | float | Decimal | Fraction | None = None,
    hits: int | None = None,
    gap: int | None = None,
    max_documents: int | str | None = None,
    ignore: Any = None,
    num_perm: int | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    seed: int | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
    ngram: int | None = None,
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    summary: AlignmentSummary | None = None,
    with_text: bool = False,
    excerpt: int | None = None,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    input_format: TextFormat = "auto",
    encoding: str | None = None,
    delimiter: str | None = None,
    lines: bool = False,
    main_text: bool = False,
    alternative_texts: bool = False,
    on_error: OnError = "raise",
    workers: int | None = None,
    progress: Progress | None = None,
) -> PassageResult:
    """Find all passages that documents of two collections share, or of one.

    Parameters
    ----------
    a
        Documents, in any form that ``deduplicate`` takes.
    b
        Other documents, or a ``PassageIndex`` or the path of one; documents, also those of a
        ``DocumentIndex``, are indexed in a temporary folder. None: the documents of ``a`` are
        compared with each other, each pair once; the earlier one is the query.
    against_text_column, against_id_column
        Columns of ``b``; None: those of ``a``. An index has none.
    within
        Without ``b``: find also passages that one document has twice; the earlier place is the
        query's, and the two do not overlap.
    preset
        What passages are looked for: ``editions``, long texts that were revised; ``quotations``,
        a line or two each; ``rewording``, sentences in other words. It chooses ``threshold``,
        ``min_tokens``, ``gap`` and ``idf`` where these are not given; an index has its own
        ``min_tokens`` and ``idf``.
    threshold
        Least similarity of two passages, in (0, 1], taken as the exact decimal. None: 0.5.
    min_tokens
        Tokens of the shortest passage to report; of either text, because one may have lost some.
        Passages of so many (with an index: of one and a half times its ``min_tokens``) are sure to
        hold a window that is looked up. None: 50, or the index's.
    recall
        Least probability with which a window at the threshold is found; a longer passage holds
        several. None is 0.99.
    hits
        Least number of min-hashes that a window has in common with a passage, instead of choosing
        it for the recall.
    gap
        Tokens of either text that may lie between two parts of a passage: that one text lacks, or
        has otherwise. More keep editions in one piece, fewer keep quotations apart. None: as many
        as the parts carry, five for each token shared on the lesser side.
    max_documents
        Leave out what more than so many documents of ``b``, or else of ``a``, have, such as
        licences and headers; ``"10%"`` is a share of them, of two at least.
    ignore
        Documents, in any form that ``a`` may have, whose text counts nowhere, such as a prompt or
        the template of a form: runs of tokens that they have, too, are taken for not written, and
        passages go on behind them. A run has a tenth of the tokens of the shortest passage, four at
        least; a shorter document is a run as a whole. An index keeps what it has, to which nothing
        is similar then.
    num_perm, tf, idf, seed, tokenizer, ngram, casefold, unicode_form, strip_accents, fold_digits
        As for ``PassageIndex.create``; an index has its own. ``tokenizer`` may be a function, too.
    summary
        ``"documents"``: report also how much each pair of documents shares, as ``document_pairs``
        of the result, which is then its table.
    with_text
        Add the columns query_text and doc_text.
    excerpt
        Add them, each in so many characters at most and in one line.
    text_column, id_column, input_format, encoding, delimiter, lines
        As for ``deduplicate``.
    main_text, alternative_texts, on_error, workers, progress
        As for ``deduplicate``. Of several text columns places count in the joined text.

    Returns
    -------
    ``passages`` and a ``summary`` with the counts, the skipped rows and the predicted recall.
    Passages are ``query_id, query_start, query_end, doc_id, doc_start, doc_end, similarity``:
    places in characters of the original texts, ends exclusive; in the order of the documents of
    ``a`` and of places in them. The similarity is that of the two whole passages, and the true one;
    copies of a token count in it, with tf ``binary`` too.
    Rows of ``document_pairs`` are ``query_id, doc_id, passages, longest, query_shared, doc_shared,
    query_share, doc_share``: the number of passages, the characters of the longest, the characters
    of either text that are in one, and which part of it that is, from its first token to its last;
    the pairs of which one has the greatest part from the other come first.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.

    Examples
    --------
    >>> import neardup
    >>> old = "It was the best of times, it was the worst of times, it was the age of wisdom"
    >>> new = "He wrote: it was the best of days, it was the worst of days, it was the age of fools"
    >>> found = neardup.align([new], [old], min_tokens=10)
    >>> found.passages.select(["query_start", "query_end", "doc_start", "doc_end"]).to_pylist()
    [{'query_start': 10, 'query_end': 78, 'doc_start': 0, 'doc_end': 70}]
    """
    options, chosen = choose_options(
        ("a", "b"),
        has_other=b is not None,
        num_perm=num_perm,
        tf=tf,
        idf=idf,
        seed=seed,
        tokenizer=tokenizer,
        ngram=ngram,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        preset=preset,
        threshold=threshold,
        recall=recall,
        hits=hits,
        min_tokens=min_tokens,
        gap=gap,
        max_documents=max_documents,
        within=within,
        summary=summary,
        with_text=with_text,
        excerpt=excerpt,
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
    resolve = partial(
        resolve_other, resolve=partial(resolve_inputs, options=options), tokenizer=tokenizer
    )
    with Runner(workers, progress) as runner:
        sources = resolve_inputs(a, options)
        templates = () if ignore is None else resolve_inputs(ignore, options)
        if b is None:
            other: Other = no_other(sources, options.read, min_tokens, chosen, options.usual)
        else:
            other = choose_other(b, resolve, options.read_other, min_tokens, chosen, options.usual)
        return align_collections(sources, other, options, runner, templates)
