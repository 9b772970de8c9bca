"""The client: an index that is served elsewhere, with the methods of one that is here."""

from __future__ import annotations

import json
import numbers
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, overload

from neardup.errors import (
    InvalidInputError,
    InvalidParameterError,
    OutputExistsError,
    ServiceError,
)
from neardup.options.choices import IndexKind
from neardup.options.kinds import Seconds, exact_fraction
from neardup.runs.disk import translated
from neardup.service.transport import Transport, as_json, path_of

if TYPE_CHECKING:
    from neardup.documents.one_text import Tokens
    from neardup.jobs.compare.compare_result import CompareResult
    from neardup.jobs.index.index import Page
    from neardup.results import (
        DocumentSearchResult,
        Match,
        Matches,
        MatchWithColumns,
        PassageResult,
    )
    from neardup.stages.index_changes import CompactionResult, RemovalResult

Id = str | int
Threshold = str | float | Decimal | Fraction | None
Texts = str | Iterable[str | Mapping[str, Any]]

_NOT_FOUND = 404


def connect(
    url: str,
    token: str | None = None,
    *,
    index: str | None = None,
    timeout: float = 60.0,
    durable: bool = False,
) -> RemoteIndex:
    """Connect to an index that ``neardup serve`` serves.

    Parameters
    ----------
    url
        Of the service, such as ``http://127.0.0.1:8600``.
    token
        One of those in its file of tokens, if it has one.
    index
        Name of the index; may be left out if there is only one.
    timeout
        Seconds to wait for an answer.
    durable
        Each insertion returns once it is durable, as with ``commit_every=1`` of an index that is
        opened here; those of all who wait share a commit.

    Returns
    -------
    An object with the methods of ``DocumentIndex`` or ``PassageIndex``: ``query``, ``search``,
    ``align``, ``get``, ``documents``, ``insert``, ``insert_if_new``, ``add``, ``remove``,
    ``commit``, ``info``, ``len``, ``compare`` and ``snapshot``.

    Raises
    ------
    InvalidParameterError
        If there is no such index, or there are several and none is named.
    ServiceError
        If the service cannot be reached, or refuses the token.
    """
    seconds = Seconds(0.001).checked("timeout", timeout)
    transport = Transport(url, token, seconds)
    entries = {entry["name"]: entry for entry in transport.get("/v1")["indexes"]}
    if index is None and len(entries) == 1:
        index = next(iter(entries))
    if index is None or index not in entries:
        wanted = "name one" if index is None else f"there is no index {index!r}"
        message = f"index must be one of {', '.join(map(repr, entries)) or 'none'}: {wanted}"
        raise InvalidParameterError(message)
    entry = entries[index]
    return RemoteIndex(
        transport, index, entry["kind"], is_writable=entry["writable"], durable=durable
    )


# Documents of a page.
_AT_ONCE = 1000


class RemoteAddition(NamedTuple):
    """What was added to an index that is served: ``n_documents``.

    Another ``n_denied`` were left out because they are, or by estimate are like, what was removed
    from the index and denied.
    """

    n_documents: int
    n_denied: int


class RemoteIndex:
    """An index that is served; see ``DocumentIndex`` and ``PassageIndex`` for the methods.

    Any number of threads may use one object. What an index of its kind lacks is refused by the
    service, with the error that says so.
    """

    def __init__(
        self,
        transport: Transport,
        name: str,
        kind: IndexKind,
        *,
        is_writable: bool,
        durable: bool = False,
    ) -> None:
        self._transport, self.name, self.kind = transport, name, kind
        self._is_writable, self._durable = is_writable, durable or None

    @overload
    def query(
        self,
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        threshold: Threshold = "index",
        limit: int | None = None,
        top: int | None = None,
        cursor: str | None = None,
        where: str | None = None,
        with_columns: Literal[False] = False,
    ) -> Matches[Match]: ...

    @overload
    def query(
        self,
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        threshold: Threshold = "index",
        limit: int | None = None,
        top: int | None = None,
        cursor: str | None = None,
        where: str | None = None,
        with_columns: Literal[True],
    ) -> Matches[MatchWithColumns]: ...

    def query(
        self,
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        threshold: Threshold = "index",
        limit: int | None = None,
        top: int | None = None,
        cursor: str | None = None,
        where: str | None = None,
        with_columns: bool = False,
    ) -> Matches[Match] | Matches[MatchWithColumns]:
        """Find the documents that are similar to a text, the most similar first.

        As ``DocumentIndex.query``, but not by a sketch, which the service does not take.
        """
        from neardup.options.documents import MostOptions
        from neardup.results import Match, Matches, MatchWithColumns

        MostOptions(limit=limit, top=top)
        if not isinstance(text, str | None):
            message = f"text must be a string, got {type(text).__name__}"
            raise InvalidParameterError(message, "text")
        body = _given(text=text, tokens=_sent(tokens), threshold=threshold, limit=limit, top=top)
        body |= _given(where=where, with_columns=with_columns)
        if threshold is None:
            body["threshold"] = None
        matches: list[dict[str, Any]] = []
        while True:
            found = self._post("query", body | _given(cursor=cursor))
            matches += found["matches"]
            cursor = found["cursor"]
            if cursor is None or limit is not None or top is not None:
                break
        n_matches: int = found["n_matches"]
        if with_columns:
            rich = [MatchWithColumns(**match) for match in matches]
            return Matches(rich, cursor=cursor, n_matches=n_matches)
        plain = [Match(**match) for match in matches]
        return Matches(plain, cursor=cursor, n_matches=n_matches)

    def search(
        self, queries: Texts, threshold: Threshold = None, **options: Any
    ) -> DocumentSearchResult | PassageResult:
        """Find what is similar to each of many texts: documents, or passages.

        ``queries`` is a text, or a list of texts or of dictionaries with ``id`` and ``text``;
        ``options`` are ``recall``, ``hits`` and ``with_text`` of an index of passages,
        ``top``, ``doc_where`` and ``with_columns`` of one of documents; and ``limit``, the rows to
        return at most, behind which the ``cursor`` of the summary leads on, None at the end.
        """
        from neardup.options.documents import MostOptions

        MostOptions(top=options.get("top"))
        return self._result("search", queries=_rows(queries), threshold=threshold, **options)

    def align(
        self, documents: Texts, *, threshold: Threshold = None, **options: Any
    ) -> PassageResult:
        """Find the passages that documents share with those of the index, wherever they are.

        ``options`` are ``min_tokens`` and ``with_text``, and ``limit`` and ``cursor`` as for
        ``search``.
        """
        from neardup.results import PassageResult

        found = self._result("align", documents=_rows(documents), threshold=threshold, **options)
        assert isinstance(found, PassageResult)
        return found

    def compare(self, text_a: str, text_b: str, **options: Any) -> CompareResult:
        """Compare two texts, as ``neardup.compare`` does; long ones without edit distance."""
        from neardup.jobs.compare.compare_result import CompareResult

        body = _given(a=text_a, b=text_b, **options)
        values = self._transport.post("/v1/compare", body, may_repeat=True)
        return CompareResult.from_dict(values, (text_a, text_b))

    def get(self, id: Id) -> dict[str, Any] | None:  # noqa: A002
        """Return the document of an id, None if there is none."""
        try:
            found: dict[str, Any] = self._transport.get(self._path("document"), id=id)
        except ServiceError as error:
            if error.status == _NOT_FOUND:
                return None
            raise
        return found

    def page(
        self,
        limit: int = 50,
        *,
        start: int = 0,
        cursor: str | None = None,
        where: str | None = None,
    ) -> Page:
        """Return some documents and a cursor behind them, as ``DocumentIndex.page``.

        A page is shorter where its texts are long.
        """
        from neardup.jobs.index.index import Page

        asked = _given(start=start, cursor=cursor, where=where)
        found = self._transport.get(self._path("documents"), limit=limit, **asked)
        return Page(found["documents"], found["cursor"])

    def documents(self, start: int = 0, limit: int = 50) -> list[dict[str, Any]]:
        """Return some documents, in the order in which they were added."""
        found: list[dict[str, Any]] = []
        place: int | None = start
        while place is not None and len(found) < limit:
            page = self._transport.get(
                self._path("documents"),
                start=place,
                limit=min(limit - len(found), _AT_ONCE),
            )
            found += page["documents"]
            place = page["next"]
        return found

    def insert(
        self,
        id: Id,  # noqa: A002
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        **columns: Any,
    ) -> None:
        """Insert a document, which is found at once; see ``connect`` for when it is durable."""
        body = _given(id=id, text=text, tokens=_sent(tokens), columns=columns or None)
        body |= _given(durable=self._durable)
        self._post("insert", body, may_repeat=False)

    def insert_if_new(
        self,
        id: Id,  # noqa: A002
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        threshold: Threshold = None,
        **columns: Any,
    ) -> Id | None:
        """Insert a document unless a similar one is there; return the id of that one, or None."""
        body = _given(
            id=id, text=text, tokens=_sent(tokens), threshold=threshold, columns=columns or None
        )
        body |= _given(durable=self._durable)
        found: Id | None = self._post("insert-if-new", body, may_repeat=False)["similar_to"]
        return found

    def add(self, documents: Iterable[Mapping[str, Any]]) -> RemoteAddition:
        """Add documents, dictionaries with ``id``, ``text`` and columns; return how many.

        All of them or none, durably; but what is denied is left out, and counted as ``n_denied``.
        """
        listed = [] if isinstance(documents, str | Mapping) else list(documents)
        if isinstance(documents, str | Mapping) or not all(
            isinstance(row, Mapping) for row in listed
        ):
            message = "documents must be a list of dictionaries with id and text"
            raise InvalidParameterError(message)
        rows = [
            {
                "id": row.get("id"),
                "text": row.get("text"),
                "columns": {k: v for k, v in row.items() if k not in ("id", "text")},
            }
            for row in listed
        ]
        found = self._post("add", {"documents": rows}, may_repeat=False)
        return RemoteAddition(found["inserted"], found["denied"])

    def replace(
        self,
        id: Id,  # noqa: A002
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        **columns: Any,
    ) -> RemovalResult:
        """Put a document in the place of the one with its id, as ``replace`` of an index here."""
        body = _given(id=id, text=text, tokens=_sent(tokens), columns=columns or None)
        path = self._path("document")
        # Sent twice it comes to the same.
        found = self._transport.post(path, body, may_repeat=True, method="PUT")
        return self._removal(int(found["replaced"]), found)

    def bulk(self, changes: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Make any number of changes in one request, and yield what became of each.

        Parameters
        ----------
        changes
            Dictionaries with ``id``, ``text`` or ``tokens``, ``columns``, and what to do as ``op``:
            ``"insert"``, which is usual, ``"insert-if-new"``, ``"replace"`` or ``"remove"``. They
            are sent as they come.

        Yields
        ------
        For each, in order, ``row``, which counts from 1, ``id`` and ``done``; ``similar_to`` of one
        that is not new; ``error``, the name of a class, and ``detail`` of one that failed. All
        that is done is durable.
        """
        lines = (as_json(change) + b"\n" for change in changes)
        for line in self._transport.stream(self._path("bulk"), lines, "application/x-ndjson"):
            yield json.loads(line)

    def remove(self, ids: Sequence[Id], *, deny: bool = False) -> RemovalResult:
        """Take documents out, all of them or none; ``deny`` as for ``DocumentIndex.remove``.

        Durable when this returns; removals that wait for each other share a commit.
        """
        from neardup.stages.selection import as_list_of_ids

        body = {"ids": as_list_of_ids(ids), "deny": deny}
        found = self._post("remove", body, may_repeat=False)
        return self._removal(found["removed"], found)

    def commit(self) -> int:
        """Make durable what was inserted; return the number of documents."""
        committed: int = self._post("commit", {}, may_repeat=True)["committed"]
        return committed

    def compact(self) -> CompactionResult:
        """Write the index anew without what was removed."""
        from neardup.stages.index_changes import CompactionResult

        found = self._post("compact", {}, may_repeat=False)
        return CompactionResult(found["segments"], found["documents"], found["freed_bytes"])

    def snapshot(self, path: str | Path) -> int:
        """Write a committed state of the index to a new tar file; return its bytes.

        ``tar -xf`` makes a folder of it that is such an index.
        """
        with translated(Path(path)):
            try:
                file = Path(path).open("xb")  # noqa: SIM115 - closed below
            except FileExistsError:
                message = f"{path} exists; choose another name, or delete it first"
                raise OutputExistsError(message) from None
            with file:
                try:
                    return self._transport.save(self._path("snapshot"), file)
                except BaseException:
                    Path(path).unlink(missing_ok=True)
                    raise

    def info(self) -> dict[str, Any]:
        """Return what the index holds and how it was made."""
        found: dict[str, Any] = self._transport.get(self._path())
        return found

    def close(self) -> None:
        """Commit what was inserted, if the index may be changed, and close the connection."""
        if self._is_writable:
            self.commit()
        self._transport.close()

    def __len__(self) -> int:
        """Count the documents."""
        n_documents: int = self._entry()["documents"]
        return n_documents

    def __bool__(self) -> bool:
        return True

    def __contains__(self, id: Id) -> bool:  # noqa: A002
        """Return whether there is a document of this id."""
        return self.get(id) is not None

    def __getitem__(self, id: Id) -> dict[str, Any]:  # noqa: A002
        """Return the document of an id, as ``get`` does.

        Raises
        ------
        KeyError
            If there is none.
        """
        found = self.get(id)
        if found is None:
            raise KeyError(id)
        return found

    def __iter__(self) -> Iterator[Id]:
        """Yield the ids in the order in which documents were added.

        The index may change meanwhile: then a document may come twice, or not at all.
        """
        start = 0
        while found := self.documents(start, _AT_ONCE):
            yield from (document["id"] for document in found)
            start += len(found)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._transport.close()

    def __repr__(self) -> str:
        """Return the class, the service and the name."""
        return f"RemoteIndex({self._transport.url!r}, {self.name!r}: {self.kind})"

    def _path(self, operation: str = "") -> str:
        """Return the path of an operation on the index."""
        return path_of(self.name, operation)

    def _entry(self) -> dict[str, Any]:
        for entry in self._transport.get("/v1")["indexes"]:
            if entry["name"] == self.name:
                found: dict[str, Any] = entry
                return found
        message = f"{self._transport.url} does not serve {self.name!r} any more"
        raise ServiceError(message)

    def _post(self, operation: str, body: dict[str, Any], *, may_repeat: bool = True) -> Any:
        return self._transport.post(self._path(operation), body, may_repeat=may_repeat)

    def _removal(self, n_removed: int, found: dict[str, Any]) -> RemovalResult:
        import pyarrow as pa

        from neardup.stages.index_changes import DocumentRemovalResult, RemovalResult

        if self.kind == "passages":
            return RemovalResult(n_removed, found["documents"])
        schema = [("id", pa.large_string()), ("kept_id", pa.large_string())]
        orphans = pa.Table.from_pylist(
            [
                {**row, "id": str(row["id"]), "kept_id": str(row["kept_id"])}
                for row in found["orphans"]
            ],
            pa.schema([*schema, ("similarity", pa.float64())]),
        )
        return DocumentRemovalResult(
            n_removed=n_removed,
            n_documents=found["documents"],
            orphans=orphans,
            n_denied=found.get("denied", 0),
        )

    def _result(self, operation: str, **asked: Any) -> DocumentSearchResult | PassageResult:
        import pyarrow as pa

        from neardup.results import DocumentSearchResult, PassageResult

        body = _given(**{"limit": _MOST_ROWS, **asked})
        found = self._post(operation, body)
        rows, summary, cursor = found[found["kind"]], found["summary"], found["cursor"]
        if asked.get("limit") is not None:
            summary["cursor"] = cursor
        else:
            while cursor is not None:
                more = self._post(operation, body | {"cursor": cursor})
                rows += more[found["kind"]]
                cursor = more["cursor"]
        if found["kind"] == "documents":
            names: tuple[str, ...] = ("query_id", "doc_id", "similarity")
            rows = [{**row, **_of_documents(row.get("columns", {}))} for row in rows]
            names += tuple(_of_documents(dict.fromkeys(found["columns"])))
        else:
            names = ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end")
            names += ("similarity", *(name for name in _TEXTS if rows and name in rows[0]))
        texts = asked.get("queries", asked.get("documents", ()))
        if all(isinstance(text, str) for text in texts):
            # Numbers in their order are names, as of any rows without ids.
            rows = [{**row, "query_id": str(row["query_id"])} for row in rows]
        columns = {name: _column(name, [row[name] for row in rows]) for name in names}
        kind = DocumentSearchResult if found["kind"] == "documents" else PassageResult
        return kind(pa.table(columns), summary)


_TEXTS = ("query_text", "doc_text")
# The most that a request may ask for; further requests go on behind it.
_MOST_ROWS = 100_000


def _of_documents(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns of documents by their names in a table."""
    return {f"doc_{name}": value for name, value in columns.items()}


def _column(name: str, values: list[Any]) -> Any:
    import pyarrow as pa

    from neardup.documents.values import as_column

    if name == "similarity":
        return pa.array(values, pa.float64())
    if name.startswith("doc_") and name not in ("doc_id", "doc_start", "doc_end", "doc_text"):
        return as_column(values)
    if name.endswith(("_start", "_end")) or (
        values and all(isinstance(value, int) for value in values)
    ):
        return pa.array(values, pa.int64())
    return pa.array([str(value) for value in values], pa.large_string())


def _given(**values: Any) -> dict[str, Any]:
    """Return the values that are given, a threshold as JSON has it exactly."""
    body = {name: value for name, value in values.items() if value is not None}
    for name in ("threshold", "recall"):
        if isinstance(body.get(name), Decimal | Fraction):
            body[name] = _as_decimal(name, body[name])
    return body


def _as_decimal(name: str, value: Decimal | Fraction) -> str:
    fraction = exact_fraction(name, value)
    decimal = Decimal(fraction.numerator) / Decimal(fraction.denominator)
    if Fraction(decimal) != fraction:
        message = f"{name} must be a finite decimal to be sent, got {value}"
        raise InvalidParameterError(message)
    return format(decimal, "f")


def _sent(tokens: Tokens | None) -> Any:
    """Return tokens as JSON has them, in which the keys of an object are strings."""
    if isinstance(tokens, Mapping):
        for token in tokens:
            if not isinstance(token, str):
                message = (
                    f"a mapping that is sent has strings as tokens, got {token!r}; send a list, in "
                    "which each token stands as often as it occurs"
                )
                raise InvalidParameterError(message, "tokens")
        return {token: _as_number(value) for token, value in tokens.items()}
    return tokens if tokens is None or isinstance(tokens, str) else list(tokens)


def _as_number(value: object) -> object:
    """Return a number of any kind as JSON has it; anything else is refused there, as it is."""
    is_number = isinstance(value, numbers.Real | Decimal) and not isinstance(value, bool)
    try:
        return float(value) if is_number else value  # type: ignore[arg-type]
    except (OverflowError, ValueError):
        return value


def _rows(texts: Texts) -> list[Any]:
    """Return texts as a list; a string is one, unless it is the name of a file here."""
    if not isinstance(texts, str):
        return list(texts)
    # Not Path.exists, which fails on what cannot be a name.
    if os.path.exists(texts):  # noqa: PTH110
        message = (
            f"a service is sent texts, and {texts!r} is the name of a file or folder; read it and "
            f"send its texts, or write [{texts!r}] to look for the text"
        )
        raise InvalidInputError(message)
    return [texts]
