"""``cut``: what the texts of a collection repeat, taken out of them."""

from __future__ import annotations

from functools import partial

from neardup.documents.other import resolve_against
from neardup.files.resolve import resolve_inputs
from neardup.jobs.cut.cut_result import CutResult
from neardup.jobs.cut.plan import plan_cut
from neardup.jobs.cut.run import cut_sources
from neardup.options.choices import Data
from neardup.options.groups import (
    DOCUMENTS,
    AgainstDataOptions,
    NamedOptions,
    RunOptions,
    WorkspaceOptions,
)
from neardup.options.option import argument, but, takes
from neardup.options.passages import CutOptions
from neardup.runs.runner import Runner
from neardup.stages.workspaces import open_workspace


class _Arguments(
    CutOptions, AgainstDataOptions, NamedOptions, WorkspaceOptions, RunOptions, kw_only=False
):
    data: Data = argument(DOCUMENTS)
    differs = but(
        against={
            "python": "Other documents, or an index of documents or passages, whose texts are all "
            "read. They stay, and nothing goes but what one of them has."
        },
        text_column={
            "python": "Name of the column of the text, or several: their texts are joined with "
            "newlines in that order. Places count in the joined text, and what goes is cut out of "
            "each."
        },
        memory={
            "python": "Most memory to use for the tokens, in bytes or as a size such as ``4GB``; "
            "None is 60 % of what is free. What does not fit goes to a file."
        },
    )


@takes(_Arguments)
def cut(given: _Arguments) -> CutResult:
    """Take repeated passages, paragraphs or lines out of the texts of a collection.

    Documents are taken in the order of ``keep``. What one has stays; what a later one, or the same
    one further on, has of it goes there, if it is verified similar to what stays, or equal.

    Returns
    -------
    The result: ``kept``, all rows with shorter texts, ``removed``, a row for each span that went,
    ``summary`` and ``write()``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or one that does not go with another.
    InvalidInputError
        For a bad row or a repeated id, or a table that names what is not there.
    ReadError, WriteError, IndexFormatError
        If a file cannot be read, the work folder not be written, or an index is damaged.

    Notes
    -----
    What was cut once as a rule stays as it is when it is cut again with the same options, ``keep``
    first and no replacement: always where equal passages went, but for ``min_documents`` of 3 or
    more, and where similar ones went unless texts have few different words. Where a tokenizer is a
    file, what was apart may become one token at a joint.
    Equal passages take time linear in the text, and memory 8 bytes a token; similar ones are looked
    up in an index in a temporary folder, of some 110 bytes a token while it is made. The files are
    read twice, and once more for writing.

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
    options, named_in = given.part(CutOptions), given.named_in
    plan = plan_cut(
        options, has_other=given.against is not None, is_named=named_in is not None, side=given.side
    )
    with Runner(given.workers, given.progress) as runner:
        sources = resolve_inputs(given.data, options)
        workspace = open_workspace(given.memory, given.work)
        others = None
        if given.against is not None:
            resolve = partial(resolve_inputs, options=options)
            others = resolve_against(given.against, resolve, options, options.tokenizer)
        return cut_sources(
            sources, others, plan, runner, workspace, named_in=named_in, side=given.side
        )
