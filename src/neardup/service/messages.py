"""What requests and answers hold; OpenAPI is made of it, and requests are checked by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

LARGEST = 2**63 - 1

Id = str | Annotated[int, Meta(ge=-LARGEST - 1, le=LARGEST)]
Name = Annotated[str, Meta(description="Name of the index, as GET /v1 lists it.")]
Text = Annotated[str, Meta(description="A text, not a path: the service reads no files.")]
Token = str | Annotated[int, Meta(ge=-LARGEST - 1, le=LARGEST)]
Tokens = Annotated[
    list[Token] | dict[str, Annotated[float, Meta(gt=0)]],
    Meta(
        description="Tokens in order; or, where the index counts or weighs tokens and ngram is 1, "
        "tokens with how often they occur: {'a': 2, 'b': 1} is ['a', 'a', 'b']."
    ),
]
Threshold = Annotated[
    str | float | int,
    Meta(description="Least similarity in (0, 1], taken as the exact decimal: 0.8 or '0.8'."),
]
LeastSimilarity = Annotated[
    str | float | int,
    Meta(
        description="Least similarity in (0, 1], taken as the exact decimal: 0.8 or '0.8'; 'index' "
        "is that of the index, and null, which needs a limit, none: the most similar."
    ),
]
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Rows = Annotated[int, Meta(ge=1, le=100_000, description="Rows to return at most.")]
Nearest = Annotated[
    int,
    Meta(
        ge=1,
        le=100_000,
        description="Documents: only so many of each text, the most similar of all that can be "
        "found, also below the threshold of the index.",
    ),
]
Where = Annotated[
    str,
    Meta(
        max_length=2000,
        description="Only documents of the index that meet this condition in SQL on id, text and "
        "the columns that it keeps, such as lang in ('en', 'de'); limit and top count these.",
    ),
]
WithColumns = Annotated[bool, Meta(description="With the columns that the index keeps.")]
Cursor = Annotated[str, Meta(max_length=10_000, description="Go on behind the answer that has it.")]
Kind = Literal["documents", "passages"]


class Request(Struct, forbid_unknown_fields=True, kw_only=True):
    """Base of what is sent: a field that is not known is an error."""


class Query(Request):
    """One text, or its tokens, to look up among documents."""

    text: Text | None = None
    tokens: Tokens | None = None
    threshold: LeastSimilarity | None = "index"
    limit: Rows | None = None
    top: Nearest | None = None
    cursor: Cursor | None = None
    where: Where | None = None
    with_columns: WithColumns = False


class Match(Struct, omit_defaults=True):
    """A document that is similar to the text; its columns, if they were asked for."""

    id: Id
    similarity: float
    columns: dict[str, Any] | None = None


class Matches(Struct):
    """The documents that are similar, the most similar first.

    ``n_matches`` are as many as there are; without a limit up to 100,000 of them come. ``cursor``
    leads on behind the last one, and is None at the end.
    """

    matches: list[Match]
    n_matches: int
    cursor: str | None


class NamedText(Request):
    """A text with an id, by which the answer names it."""

    id: Id
    text: Text


class Search(Request):
    """Texts to look up, each as a whole; without an id they are numbered from 0."""

    queries: list[Text | NamedText]
    threshold: Threshold | None = None
    recall: Threshold | None = None
    hits: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None
    with_text: bool = False
    top: Nearest | None = None
    doc_where: Where | None = None
    with_columns: WithColumns = False
    limit: Rows = 10_000
    cursor: Cursor | None = None


class Alignment(Request):
    """Documents whose passages are looked for, wherever these are in them."""

    documents: list[Text | NamedText]
    threshold: Threshold | None = None
    min_tokens: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None
    with_text: bool = False
    limit: Rows = 10_000
    cursor: Cursor | None = None


class DocumentRow(Struct, omit_defaults=True):
    """A query, and a document that is similar to it; its columns, if they were asked for."""

    query_id: Id
    doc_id: Id
    similarity: float
    columns: dict[str, Any] | None = None


class PassageRow(Struct, omit_defaults=True):
    """A passage of a query and the similar one of a document: places in characters."""

    query_id: Id
    query_start: int
    query_end: int
    doc_id: Id
    doc_start: int
    doc_end: int
    similarity: float
    query_text: str | None = None
    doc_text: str | None = None


class Found(Struct):
    """What was found for all queries; of an index of documents, or of passages.

    ``n_rows`` were found, from the cursor on; ``documents`` or ``passages`` has up to ``limit`` of
    them, and ``cursor`` leads on behind these: it is None at the end, and goes with the same texts.
    ``columns`` names those that come with documents.
    """

    kind: Kind
    n_rows: int
    documents: list[DocumentRow]
    passages: list[PassageRow]
    summary: Mapping[str, Any]
    columns: list[str] = []
    cursor: str | None = None


class Comparison(Request):
    """Two texts to compare, and how."""

    a: Text
    b: Text
    threshold: Threshold = "0.5"
    min_tokens: Annotated[int, Meta(ge=1, le=65536)] | None = None
    ngram: Annotated[int, Meta(ge=1, le=65536)] | None = None
    tokenizer: Literal["words", "whitespace", "characters", "lines", "bytes", "code"] | None = None
    language: str | None = None
    casefold: bool | None = None
    unicode_form: Literal["NFC", "NFKC"] | None = None
    strip_accents: bool = False


class Compared(Struct):
    """All that was found out about two texts, as ``neardup compare --json`` prints it."""

    names: list[str]
    sizes: dict[str, Any]
    measures: list[dict[str, Any]]
    passages: list[dict[str, Any]]
    differences: dict[str, Any]
    options: dict[str, Any]


class IndexEntry(Struct):
    """An index that is served."""

    name: str
    kind: Kind
    documents: int
    writable: bool


class Contents(Struct):
    """What is here."""

    neardup: str
    indexes: list[IndexEntry]


class One(Request):
    """Which document."""

    id: str


class Page(Request):
    """Which documents, in the order in which they were added.

    ``start`` passes over so many of the index, ``cursor`` over those of the pages before.
    """

    start: Count = 0
    cursor: Cursor | None = None
    where: Where | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class Documents(Struct):
    """Some documents, and the ``cursor`` behind them, None at the end.

    A page is shorter than was asked for where its texts are long, and may be empty with a
    condition. ``next`` is where to go on in the whole index as it is, for a page from a ``start``.
    """

    documents: list[dict[str, Any]]
    next: int | None
    cursor: str | None


class Replacement(Request):
    """A document in the place of the one with its id: a text or its tokens, and columns."""

    id: Id
    text: Text | None = None
    tokens: Tokens | None = None
    columns: dict[str, Any] = {}


class NewDocument(Replacement):
    """A document to insert: a text or its tokens, and the columns that the index keeps."""

    durable: Annotated[
        bool, Meta(description="Answer once it is durable; those who wait share a commit.")
    ] = False


class NewIfNew(NewDocument):
    """A document to insert unless a similar one is there."""

    threshold: Threshold | None = None


class Inserted(Struct):
    """How many documents were inserted; durable after a commit, or if that was asked for."""

    inserted: int


class Added(Struct):
    """How many documents were added, and how many left out because the index denies them."""

    inserted: int
    denied: int


class InsertedIfNew(Struct):
    """Whether the document was inserted; if not, the id of the one that it is similar to."""

    inserted: bool
    similar_to: Id | None


class Documented(Request):
    """A document with a text, and the columns that the index keeps."""

    id: Id
    text: Text
    columns: dict[str, Any] = {}


class Addition(Request):
    """Documents to add, all of them or none; they are durable when the answer comes."""

    documents: list[Documented]


class Change(NewIfNew):
    """A line of many: a document and what to do with it; all is durable when it is answered."""

    op: Literal["insert", "insert-if-new", "replace", "remove"] = "insert"


class Named(Struct):
    """What has an id, whatever else it has."""

    id: Id


class Changed(Struct, omit_defaults=True):
    """What became of a line, the number of which is its ``row``; errors as of other requests."""

    row: int
    id: Id | None
    done: bool
    similar_to: Id | None = None
    error: str | None = None
    detail: str | None = None


class Ids(Request):
    """The documents to remove, all of them or none; ``deny``: they are not to come back."""

    ids: list[Id]
    deny: bool = False


class Removed(Struct):
    """What was removed and is left; ``orphans`` had gone for a document that was removed.

    ``denied`` documents of both are left out from now on.
    """

    removed: int
    documents: int
    denied: int
    orphans: list[dict[str, Any]]


class Replaced(Struct):
    """Whether there was one, how many documents there are, and what had gone for the old one."""

    replaced: bool
    documents: int
    orphans: list[dict[str, Any]]


class Nothing(Request):
    """An empty object."""


class Committed(Struct):
    """How many documents were made durable."""

    committed: int


class Compacted(Struct):
    """What an index is that was written anew: segments, documents, and bytes that it takes less."""

    segments: int
    documents: int
    freed_bytes: int


class Health(Struct):
    """Whether the service runs, or is ready."""

    status: Literal["ok", "starting", "stopping"]


class ProblemDetails(Struct):
    """Why a request was not answered (RFC 9457); ``error`` is the class in Python."""

    title: str
    status: int
    detail: str
    error: str


_WITH_COLUMNS = (Replacement, Addition)
_OF_CHOICES = re.compile(r"Invalid enum value .* - at `\$\.(\w+)`", re.DOTALL)


def misfit_of(error: Exception, asked: Any) -> str:
    """Say why something that was sent is no ``asked``, with what a field may be."""
    words = str(error)
    if (found := _OF_CHOICES.fullmatch(words)) is not None:
        described: Any = msgspec.inspect.type_info(asked)
        kind = next(field.type for field in described.fields if field.encode_name == found[1])
        kinds = getattr(kind, "types", (kind,))
        values = [value for one in kinds for value in getattr(one, "values", ())]
        return f"{words}, which must be one of {', '.join(map(repr, values))}"
    if words.startswith("Object contains unknown field") and issubclass(asked, _WITH_COLUMNS):
        return f"{words}; what the index keeps of columns goes in one object, `columns`"
    return words
