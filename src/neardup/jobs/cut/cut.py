"""``cut``: what the texts of a collection repeat, taken out of them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.files.resolve import resolve_inputs
from neardup.jobs.cut.other import resolve_against
from neardup.jobs.cut.plan import CutOptions, plan_cut
from neardup.jobs.cut.result import CutResult
from neardup.jobs.cut.run import cut_as_named, cut_sources
from neardup.jobs.workspaces import open_workspace
from neardup.options.choices import CutUnit, OnError, Side, TextFormat, UnicodeForm
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


def cut(
    data: Any,
    *,
    against: Any = None,
    against_text_column: str | Sequence[str] | None = None,
    against_id_column: str | None = None,
    named_in: Any = None,
    side: Side | None = None,
    trust: bool = False,
    unit: CutUnit | None = None,
    exact: bool = False,
    threshold: str | float | Decimal | Fraction | None = None,
    min_tokens: int | None = None,
    min_documents: int | None = None,
    keep: str = "first",
    replacement: str = "",
    recall: str | float | Decimal | Fraction | None = None,
    num_perm: int | None = None,
    seed: int | None = None,
    tokenizer: str | Path | TokenFunction = "words",
    ngram: int | None = None,
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    input_format: TextFormat = "auto",
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
) -> CutResult:
    """Take repeated passages, paragraphs or lines out of the texts of a collection.

    Documents are taken in the order of ``keep``. What one has stays; what a later one, or the same
    one further on, has of it goes there, if it is verified similar to what stays, or equal.

    Parameters
    ----------
    data
        Documents, in any form that ``deduplicate`` takes.
    against
        Other documents, or an index of documents or passages, whose texts are all read. They stay,
        and nothing goes but what one of them has.
    against_text_column, against_id_column
        Columns of ``against``; None: those of ``data``.
    named_in
        A table that says what goes: the result of ``align``, ``search`` or ``cut``, any Arrow
        table, or the path of one. Only ``side``, ``trust``, ``keep`` and ``replacement`` go with
        it, and how documents are read. Of two documents of ``data`` the later in keep order loses
        its passage, unless what it is like goes, too.
    side
        Which passages of that table go: ``query`` or ``doc``. None: those of the side whose ids
        ``data`` has, and if it has both, one of each pair.
    trust
        Take that table as it is, if it is in an output folder whose ``summary.json`` has another
        digest of it.
    unit
        ``passages``, any stretches of tokens; ``paragraphs``, parted by blank lines; or ``lines``.
        None is ``passages``.
    exact
        Only what is equal token by token goes: each passage of ``min_tokens`` tokens that is there
        twice is found, and no other. Without it passages are found by alignment, paragraphs and
        lines by MinHash, with the ``recall``.
    threshold
        Least similarity of what goes to what stays for it, in (0, 1], as the exact decimal; None is
        0.8. Of passages it is that of the multisets of their tokens, of paragraphs and lines the
        Jaccard similarity of their shingles.
    min_tokens
        Tokens of the shortest thing that goes; None is 50, of paragraphs and lines 5.
    min_documents
        Only what so many documents have goes from all but the first; None: also what one has twice.
        Equal passages are counted by their windows of ``min_tokens`` tokens, similar ones as the
        one that stays and those like it, or like most of it.
    keep
        Whose copy stays: as for ``deduplicate``.
    replacement
        What is put in the place of what goes.
    recall
        Least probability with which something similar at the threshold is found; None is 0.99.
    num_perm, seed
        Hash functions; None is 64, of paragraphs and lines 128, and 42.
    tokenizer, casefold, unicode_form, strip_accents, fold_digits
        What a text is cut into; as for ``deduplicate``.
    ngram
        Tokens in a shingle; None is 1, of paragraphs and lines 5.
    text_column, id_column, input_format, encoding, delimiter, lines
        As for ``deduplicate``.
    main_text, alternative_texts, on_error
        As for ``deduplicate``. Of several text columns places count in the joined text, and what
        goes is cut out of each.
    memory
        Most memory to use for the tokens; what does not fit goes to a file.
    work
        Folder for files; None is where the system has temporary files.
    workers, progress
        As for ``deduplicate``.

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
    options = CutOptions(
        unit=unit,
        exact=exact,
        threshold=threshold,
        min_tokens=min_tokens,
        min_documents=min_documents,
        keep=keep,
        replacement=replacement,
        recall=recall,
        num_perm=num_perm,
        seed=seed,
        tokenizer=tokenizer,
        ngram=ngram,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        trust=trust,
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
    plan = plan_cut(
        options, has_other=against is not None, is_named=named_in is not None, side=side
    )
    with Runner(workers, progress) as runner:
        sources = resolve_inputs(data, options)
        workspace = open_workspace(memory, work)
        if named_in is not None:
            return cut_as_named(sources, named_in, side, plan, runner, workspace)
        others = None
        if against is not None:
            resolve = partial(resolve_inputs, options=options)
            others = resolve_against(against, resolve, options, options.tokenizer)
        return cut_sources(sources, others, plan, runner, workspace)
