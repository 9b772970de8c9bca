"""``deduplicate``: near-duplicate documents of any collection, decided and proved."""

from __future__ import annotations

from neardup.documents.other import index_and_others
from neardup.files.resolve import resolve_inputs
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.dedup.run import DedupJob
from neardup.options.choices import Data
from neardup.options.documents import DedupOptions
from neardup.options.groups import DATA, AgainstDataOptions, WorkerOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.options.together import GroupArguments
from neardup.runs.runner import Runner
from neardup.stages.hints import with_warning
from neardup.stages.workspaces import open_workspace


class _Arguments(
    DedupOptions, AgainstDataOptions, WorkspaceOptions, WorkerOptions, GroupArguments, kw_only=False
):
    data: Data = argument(DATA)
    differs = but(
        against={
            "python": "More documents, as for ``data``, or an index of documents: a "
            "``DocumentIndex``, of which what was inserted is committed first, or the path of its "
            "folder. They all stay; what is similar to one of them goes. Their ids get "
            "``against/`` in front where ``data`` has the same ids. In an index what is similar is "
            "looked up, in memory that does not grow with it; only method ``exact`` or ``auto``, "
            "clusters ``components`` and an audit read all its texts. It decides what texts are "
            "cut into and compared by: options that are unlike it are refused. A list of an index "
            "and other documents, ``[Path('seen'), Path('takedown.jsonl')]``, is both."
        },
    )


@takes(_Arguments)
def deduplicate(given: _Arguments) -> DeduplicationResult:
    """Find near-duplicate documents and decide which of them stay.

    Documents are taken in the order of ``keep``. Each one stays unless it is verified similar, at
    or above ``threshold``, to one that already stays; then it is removed in favour of the most
    similar such document. Candidates for the comparison come from MinHash bands, every comparison
    is exact.

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
    options = given.part(DedupOptions)
    index, others = None, None
    if given.against is not None:
        index, others = index_and_others(given.against, options.tokenizer, may_be_new=options.add)
    job = DedupJob(options, resolve_inputs, given.data, others, given.idf_from, index=index)
    with Runner(given.workers, given.progress, "dedup") as runner, job.opened(runner) as other:
        result = job.run(other, runner, open_workspace(given.memory, given.work))
    return with_warning(result)
