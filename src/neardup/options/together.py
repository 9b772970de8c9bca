"""Groups of options that functions take as one value, beside the flat names.

Only functions load this: signatures and docstrings, which it makes, are of no use to commands.
"""

from neardup.options.choices import Occurrences
from neardup.options.groups import (
    OccurrenceOptions,
    ReadingOptions,
    TokenOptions,
    WhereOptions,
    WorkerOptions,
    WorkspaceOptions,
)
from neardup.options.option import Group, Options, together


class TextOptions(Group, TokenOptions, OccurrenceOptions):
    """How texts become sets of shingles: options of functions as one value.

    Only what is given counts; of the rest a function has its own defaults.

    Raises
    ------
    InvalidParameterError
        For an option out of range, when the value is made.

    Examples
    --------
    >>> import neardup
    >>> names = neardup.TextOptions(tokenizer="characters", ngram=2, strip_accents=True)
    >>> neardup.find_pairs(["Müller", "Muller"], text=names).pairs["similarity"].to_pylist()
    [1.0]
    >>> neardup.similarity("Müller", "Muller", text=names)
    1.0
    >>> names.but(strip_accents=False).ngram
    2
    """

    occurrences: Occurrences = "set"


class ReadOptions(Group, WhereOptions, ReadingOptions):
    """What files hold, and which rows and columns of them count: options as one value.

    Only what is given counts; of the rest a function has its own defaults.

    Raises
    ------
    InvalidParameterError
        For an option out of range, when the value is made.

    Examples
    --------
    >>> import neardup
    >>> pages = neardup.ReadOptions(text_column="body", where="lang = 'en'", on_error="skip")
    >>> rows = [{"body": "the cat", "lang": "en"}, {"body": "le chat", "lang": "fr"}]
    >>> len(neardup.sketch(rows, read=pages))
    1
    """


class RunOptions(Group, WorkspaceOptions, WorkerOptions):
    """How a job runs, whatever it does: options as one value. The result does not depend on them.

    Only what is given counts; of the rest a function has its own defaults. ``memory`` and ``work``
    are for jobs that put into files what does not fit: others take ``workers`` and ``progress``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, when the value is made.

    Examples
    --------
    >>> import neardup
    >>> small = neardup.RunOptions(workers=1, memory="1GB")
    >>> len(neardup.deduplicate(["a dog", "A dog!"], run=small).removed)
    1
    """


class TextArgument(Options):
    """The argument of functions that cut texts."""

    text: TextOptions | None = together(TextOptions, default=None)


class ReadArgument(Options):
    """The argument of functions that read documents."""

    read: ReadOptions | None = together(ReadOptions, default=None)


class RunArgument(Options):
    """The argument of functions that take a while."""

    run: RunOptions | None = together(RunOptions, default=None)


class GroupArguments(TextArgument, ReadArgument, RunArgument):
    """The arguments of functions that do all of this."""
