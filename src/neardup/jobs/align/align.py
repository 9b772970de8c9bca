"""``align``: the passages that two collections share, or the documents of one."""

from __future__ import annotations

from functools import partial

from neardup.documents.other import resolve_other
from neardup.files.resolve import resolve_inputs
from neardup.jobs.align.other import Other, choose_other, no_other
from neardup.jobs.align.plan import choose_options
from neardup.jobs.align.run import align_collections
from neardup.options.choices import Data
from neardup.options.groups import DOCUMENTS, RunOptions
from neardup.options.option import argument, takes
from neardup.options.passages import AlignSchemeOptions, IgnoreOptions
from neardup.runs.runner import Runner
from neardup.stages.found import PassageResult


class _Arguments(AlignSchemeOptions, IgnoreOptions, RunOptions, kw_only=False):
    a: Data = argument(DOCUMENTS)
    b: Data = argument(
        "Other documents, or a ``PassageIndex`` or the path of one; documents, also those of a "
        "``DocumentIndex``, are indexed in a temporary folder. None: the documents of ``a`` "
        "are compared with each other, each pair once; the earlier one is the query.",
        default=None,
    )


@takes(_Arguments)
def align(given: _Arguments) -> PassageResult:
    """Find all passages that documents of two collections share, or of one.

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
    b = given.b
    options, chosen = choose_options(given, ("a", "b"), has_other=b is not None)
    resolve = partial(
        resolve_other, resolve=partial(resolve_inputs, options=options), tokenizer=given.tokenizer
    )
    with Runner(given.workers, given.progress) as runner:
        sources = resolve_inputs(given.a, options)
        templates = () if given.ignore is None else resolve_inputs(given.ignore, options)
        if b is None:
            other: Other = no_other(sources, options, chosen)
        else:
            other = choose_other(b, resolve, options, chosen)
        return align_collections(sources, other, options, runner, templates)
