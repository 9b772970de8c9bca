"""Messages of the operations, for OpenAPI and request checks."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from neardup.options.kinds import TokenizerName

_LARGEST = 2**63 - 1
_MOST_ROWS = 100_000
_TOKENIZER = rf"^({'|'.join(TokenizerName.names)}|code:[\w+#.-]+)$"

Id = str | Annotated[int, Meta(ge=-_LARGEST - 1, le=_LARGEST)]
Text = Annotated[str, Meta(description="A text, not a path: the service reads no files.")]
Threshold = Annotated[
    str | float | int,
    Meta(
        description="Least similarity in (0, 1] as an exact decimal, of up to 40 characters: 0.8 "
        "or '0.8'."
    ),
]
Count = Annotated[int, Meta(ge=0, le=_LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=_LARGEST)]
Matched = Annotated[int, Meta(ge=1, le=_MOST_ROWS)]
Rows = Annotated[int, Meta(ge=1, le=_LARGEST, description="Most rows of the answer.")]
Size = Annotated[int, Meta(ge=1, le=65536)]
WithColumns = Annotated[bool, Meta(description="Add the columns that the index keeps.")]
Kind = Literal["documents", "passages"]


class Request(Struct, forbid_unknown_fields=True, kw_only=True):
    """Base of requests that refuses unknown fields."""


class Query(Request):
    """One text to look up among documents."""

    text: Text
    threshold: Threshold | None = None
    limit: Matched | None = None


class SimilarDocument(Struct):
    """A similar document with its similarity."""

    id: Id
    similarity: float


class SimilarDocuments(Struct):
    """Similar documents, the most similar first.

    ``n_matches`` counts all of them, also beyond the limit of the answer.
    """

    matches: list[SimilarDocument]
    n_matches: int


class NamedText(Request):
    """A text with an id that the answer repeats."""

    id: Id
    text: Text


class Search(Request):
    """Whole texts to look up, numbered from 0 without ids."""

    queries: list[Text | NamedText]
    threshold: Threshold | None = None
    recall: Threshold | None = None
    with_text: bool = False
    with_columns: WithColumns = False
    limit: Rows | None = None


class Alignment(Request):
    """Texts with passages to look up, at any position."""

    documents: list[Text | NamedText]
    threshold: Threshold | None = None
    min_tokens: Positive | None = None
    with_text: bool = False
    limit: Rows | None = None


class FoundRows(Struct):
    """Result of a search or an alignment.

    ``rows`` has the columns of ``neardup search`` or ``neardup align``, at most ``limit`` of
    ``n_rows`` rows. ``summary`` has the counts of the run.
    """

    n_rows: int
    rows: list[dict[str, Any]]
    summary: dict[str, Any]


class Comparison(Request):
    """Two texts to compare, with options of ``neardup compare``."""

    a: Text
    b: Text
    threshold: Threshold | None = None
    min_tokens: Size | None = None
    ngram: Size | None = None
    tokenizer: Annotated[str, Meta(pattern=_TOKENIZER)] | None = None
    casefold: bool | None = None
    unicode_form: Literal["NFC", "NFKC"] | None = None
    strip_accents: bool = False
    stem: Annotated[str, Meta(max_length=40)] | None = None


class Compared(Struct):
    """Comparison of two texts, as ``neardup compare --json`` prints it."""

    names: list[str]
    sizes: dict[str, Any]
    measures: dict[str, float | None]
    passages: list[dict[str, Any]]
    differences: dict[str, Any]
    options: dict[str, Any]


class IndexEntry(Struct):
    """An index of the service."""

    name: str
    kind: Kind
    documents: int
    writable: bool


class IndexList(Struct):
    """Version of neardup, and the indexes."""

    neardup: str
    indexes: list[IndexEntry]


class One(Request):
    """Id of a document."""

    id: str


class Page(Request):
    """Documents in order of addition, from a number."""

    start: Count = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class DocumentPage(Struct):
    """Documents, and the start of the next page, null at the end.

    A page is shorter than ``limit`` where its texts are long.
    """

    documents: list[dict[str, Any]]
    next: int | None


class NewDocument(Request):
    """A document with text and values of kept columns."""

    id: Id
    text: Text
    columns: dict[str, Any] = {}


class NewIfNew(NewDocument):
    """A document to insert unless a similar document exists."""

    threshold: Threshold | None = None


class Inserted(Struct):
    """Number of inserted documents."""

    inserted: int


class InsertedIfNew(Struct):
    """Whether the document was inserted, or a similar document's id."""

    inserted: bool
    similar_to: Id | None


class DocumentsToAdd(Request):
    """Documents to add, all or none."""

    documents: list[NewDocument]


class Added(Struct):
    """Numbers of added documents and of denied documents."""

    inserted: int
    denied: int


class Ids(Request):
    """Documents to remove, all or none, and optionally deny."""

    ids: list[Id]
    deny: bool = False


class Removed(Struct):
    """Number of removed, remaining and denied documents.

    ``orphans`` are documents that were not inserted because of a removed document.
    """

    removed: int
    documents: int
    denied: int
    orphans: list[dict[str, Any]]


class Nothing(Request):
    """An empty JSON object."""


class Compacted(Struct):
    """Segments, documents and freed bytes of a compacted index."""

    segments: int
    documents: int
    freed_bytes: int


class Health(Struct):
    """State of the service."""

    status: Literal["ok"]


class ProblemDetails(Struct):
    """Problem details (RFC 9457), with a Python class as ``error``."""

    title: str
    status: int
    detail: str
    error: str


# Fields that are data; a wrong value of any other is a wrong parameter.
_DATA = re.compile(r"`\$\.(id|ids|text|queries|documents|columns|a|b)\b")


def error_of_misfit(misfit: str) -> str:
    """Return the error name of a body that does not fit."""
    return "InvalidInputError" if _DATA.search(misfit) else "InvalidParameterError"
