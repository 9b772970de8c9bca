"""The client of an index on a service."""

from __future__ import annotations

import json
import numbers
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from neardup import errors
from neardup.errors import InvalidInputError, InvalidParameterError, NeardupError, ServiceError
from neardup.index.open_index import CompactionResult, RemovalResult
from neardup.options.choices import IndexKind
from neardup.options.kinds import Seconds, Whole
from neardup.results import DocumentSearchResult, Match, Matches, PassageResult
from neardup.stages.selection import as_list_of_ids

if TYPE_CHECKING:
    import httpx

Id = str | int
Threshold = str | float | Decimal | Fraction | None
Texts = str | Iterable[str | Mapping[str, Any]]

_JSON, _ARROW = "application/json", "application/vnd.apache.arrow.stream"
_PAGE = 1000


def connect(
    url: str, token: str | None = None, *, index: str | None = None, timeout: float = 60.0
) -> RemoteIndex:
    """Connect to an index that ``neardup serve`` serves.

    Parameters
    ----------
    url
        Of the service, such as ``http://127.0.0.1:8600``.
    token
        A token of the service's token file.
    index
        Name of the index; optional if the service has one index.
    timeout
        Seconds to wait for an answer.

    Raises
    ------
    InvalidParameterError, ServiceError, MissingExtraError
        If there is no such index, the service does not answer, or httpx is not installed.
    """
    if not (token is None or (isinstance(token, str) and token.isascii() and token.isprintable())):
        message = "token must be printable ASCII, as it is in the file of tokens"
        raise InvalidParameterError(message)
    seconds = Seconds(0.001).checked("timeout", timeout)
    with _open(url, token, seconds) as client:
        entries = _send(client, "GET", "/v1", {}).json()["indexes"]
    kinds = {entry["name"]: entry["kind"] for entry in entries}
    name = next(iter(kinds)) if index is None and len(kinds) == 1 else index
    if name is None or name not in kinds:
        message = f"index must be one of {', '.join(map(repr, kinds)) or 'none'}, got {name!r}"
        raise InvalidParameterError(message)
    return RemoteIndex(_open(url, token, seconds), name, kinds[name])


class RemoteAddition(NamedTuple):
    """Numbers of added documents and of denied documents."""

    n_documents: int
    n_denied: int


class RemoteIndex(AbstractContextManager["RemoteIndex"]):
    """An index of a service, used like a local index.

    ``DocumentIndex`` and ``PassageIndex`` describe the methods. Every change is durable when its
    method returns. Any number of threads may use one object.
    """

    def __init__(self, client: httpx.Client, name: str, kind: IndexKind) -> None:
        self._client, self.name, self.kind = client, name, kind
        self.url = str(client.base_url).rstrip("/")
        weakref.finalize(self, client.close)
        self._path = f"/v1/indexes/{quote(name, safe='')}"

    def query(self, text: str, *, threshold: Threshold = None, limit: int | None = None) -> Matches:
        """Find similar documents as ``DocumentIndex.query`` does, at most 100,000."""
        if not isinstance(text, str):
            message = f"text must be a string, got {type(text).__name__}"
            raise InvalidParameterError(message, "text")
        body = _given(text=text, threshold=threshold)
        answer = self._post("query", body | _given(limit=limit))
        matches = (Match(**match) for match in answer["matches"])
        return Matches(matches, n_matches=answer["n_matches"])

    def search(
        self,
        queries: Texts,
        threshold: Threshold = None,
        *,
        recall: Threshold = None,
        with_text: bool = False,
        with_columns: bool = False,
    ) -> DocumentSearchResult | PassageResult:
        """Find documents or passages that are similar to texts.

        ``queries`` is a text, or a list of texts or of dictionaries with ``id`` and ``text``.
        ``recall`` and ``with_text`` are for an index of passages,
        ``with_columns`` for an index of documents.
        """
        body = _given(queries=_texts(queries), threshold=threshold, recall=recall)
        return self._table("search", body | {"with_text": with_text, "with_columns": with_columns})

    def align(
        self,
        documents: Texts,
        *,
        threshold: Threshold = None,
        min_tokens: int | None = None,
        with_text: bool = False,
    ) -> PassageResult:
        """Find passages shared with the index, as ``neardup.align`` does."""
        texts = _texts(documents)
        body = _given(documents=texts, threshold=threshold, min_tokens=min_tokens)
        return cast("PassageResult", self._table("align", body | {"with_text": with_text}))

    def get(self, id: Id) -> dict[str, Any] | None:
        """Return the document of an id, or None."""
        try:
            document: dict[str, Any] = self._get("/document", {"id": id})
        except ServiceError as error:
            if error.status == 404:
                return None
            raise
        return document

    def documents(self, start: int = 0, limit: int = 50) -> list[dict[str, Any]]:
        """Return some documents in the order of their addition."""
        limit = Whole(0, 2**63 - 1).checked("limit", limit)
        return list(islice(self._walk(start, min(limit, _PAGE)), limit))

    def insert(self, id: Id, text: str, **columns: Any) -> None:
        """Insert a document, durably."""
        self._post("insert", _document(id, text, columns))

    def insert_if_new(
        self, id: Id, text: str, *, threshold: Threshold = None, **columns: Any
    ) -> Id | None:
        """Insert a document durably, or return a similar document's id."""
        body = _document(id, text, columns) | _given(threshold=threshold)
        similar_to: Id | None = self._post("insert-if-new", body)["similar_to"]
        return similar_to

    def replace(self, id: Id, text: str, **columns: Any) -> RemovalResult:
        """Replace the document of an id, or insert it."""
        body = _document(id, text, columns)
        return self._removal(self._post("document", body, method="PUT"))

    def add(self, documents: Iterable[Mapping[str, Any]]) -> RemoteAddition:
        """Add dictionaries with ``id``, ``text`` and columns, all or none."""
        rows = list(documents) if isinstance(documents, Iterable) else [documents]
        if not all(isinstance(row, Mapping) for row in rows):
            message = "documents must be a list of dictionaries with id and text"
            raise InvalidParameterError(message)
        columns = [{k: v for k, v in row.items() if k not in ("id", "text")} for row in rows]
        listed = [
            {"id": row.get("id"), "text": row.get("text"), "columns": own}
            for row, own in zip(rows, columns, strict=True)
        ]
        answer = self._post("add", {"documents": listed})
        return RemoteAddition(answer["inserted"], answer["denied"])

    def remove(self, ids: Sequence[Id], *, deny: bool = False) -> RemovalResult:
        """Remove documents, all or none, and optionally deny later additions."""
        return self._removal(self._post("remove", {"ids": as_list_of_ids(ids), "deny": deny}))

    def commit(self) -> int:
        """Return 0: every change is durable already."""
        return 0

    def compact(self) -> CompactionResult:
        """Write the index anew without removed documents."""
        answer = self._post("compact", {})
        return CompactionResult(answer["segments"], answer["documents"], answer["freed_bytes"])

    def info(self) -> dict[str, Any]:
        """Return the contents and the options of the index."""
        info: dict[str, Any] = self._get("", {})
        return info

    def close(self) -> None:
        """Close the connections to the service."""
        self._client.close()

    def __len__(self) -> int:
        entries = _send(self._client, "GET", "/v1", {}).json()["indexes"]
        return sum(entry["documents"] for entry in entries if entry["name"] == self.name)

    def __contains__(self, id: Id) -> bool:
        return self.get(id) is not None

    def __getitem__(self, id: Id) -> dict[str, Any]:
        document = self.get(id)
        if document is None:
            raise KeyError(id)
        return document

    def __iter__(self) -> Iterator[Id]:
        return (document["id"] for document in self._walk())

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteIndex({f'{self.url}/{self.name}'!r}: index of {self.kind})"

    def _walk(self, start: int = 0, limit: int = _PAGE) -> Iterator[dict[str, Any]]:
        following: int | None = start
        while following is not None:
            answer = self._get("/documents", {"start": following, "limit": limit})
            yield from answer["documents"]
            following = answer["next"]

    def _post(self, operation: str, body: dict[str, Any], *, method: str = "POST") -> Any:
        return _send(self._client, method, f"{self._path}/{operation}", body).json()

    def _get(self, operation: str, parameters: dict[str, Any]) -> Any:
        return _send(self._client, "GET", self._path + operation, parameters).json()

    def _table(self, operation: str, body: dict[str, Any]) -> DocumentSearchResult | PassageResult:
        answer = _send(self._client, "POST", f"{self._path}/{operation}", body, _ARROW)
        table = pyarrow.ipc.open_stream(answer.content).read_all()
        summary = json.loads(table.schema.metadata[b"neardup"])["summary"]
        kind = DocumentSearchResult if self.kind == "documents" else PassageResult
        return kind(table.replace_schema_metadata(), summary)

    def _removal(self, answer: dict[str, Any]) -> RemovalResult:
        orphans = None
        if self.kind == "documents":
            names = {"id": pa.large_string(), "kept_id": pa.large_string()}
            schema = pa.schema({**names, "similarity": pa.float64()})
            orphans = pa.Table.from_pylist(answer["orphans"], schema)
        counts = answer["removed"], answer["documents"]
        return RemovalResult(*counts, orphans=orphans, n_denied=answer["denied"])


def _open(url: str, token: str | None, timeout: float) -> httpx.Client:
    try:
        import httpx
    except ImportError:
        raise errors.MissingExtraError("client", "neardup.connect") from None
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    try:
        if httpx.URL(url).scheme in ("http", "https") and httpx.URL(url).host:
            return httpx.Client(base_url=url, headers=headers, timeout=timeout)
    except (httpx.InvalidURL, TypeError):
        pass
    message = f"url must be like http://127.0.0.1:8600, got {url!r}"
    raise InvalidParameterError(message)


def _send(
    client: httpx.Client, method: str, path: str, values: dict[str, Any], media: str = _JSON
) -> httpx.Response:
    """Send a request, and return the answer or raise the error that it names."""
    import httpx

    headers = {"accept": media, "content-type": _JSON}
    content = _json(values)
    asked: dict[str, Any] = {"params": values} if method == "GET" else {"content": content}
    url = str(client.base_url).rstrip("/")
    if client.is_closed:
        raise ServiceError(f"the connection to {url} is closed; call neardup.connect again")
    try:
        answer = client.request(method, path, headers=headers, **asked)
        if answer.is_success and answer.headers.get("content-type") == media:
            return answer
        name, detail = (answer.json()[field] for field in ("error", "detail"))
    except httpx.TransportError as error:
        reason = str(error) or type(error).__name__
        if isinstance(error, httpx.TimeoutException):
            reason = f"no answer within {client.timeout.read:g} s"
        message = f"{url} cannot be reached: {reason}; is `neardup serve` running?"
        raise ServiceError(message) from error
    except (ValueError, LookupError, TypeError):
        status = answer.status_code
        message = f"{url} does not answer as `neardup serve` does (status {status})"
        raise ServiceError(message, status=status) from None
    kind = getattr(errors, str(name), ServiceError)
    if kind in (ServiceError, errors.MissingExtraError) or not issubclass(kind, NeardupError):
        raise ServiceError(detail, status=answer.status_code)
    raise kind(url if kind is errors.IndexLockedError else detail)


def _document(id: Id, text: str, columns: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "columns": columns, "text": text}


def _texts(texts: Texts) -> list[str | Mapping[str, Any]]:
    """Return one text, or several, as a list; iterating a table yields names of columns."""
    if isinstance(texts, Mapping | Set) or hasattr(texts, "columns") or not np.iterable(texts):
        message = f"expected a text, or a list of texts or dictionaries, got {type(texts).__name__}"
        raise InvalidInputError(message)
    return [texts] if isinstance(texts, str) else list(texts)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError, OverflowError) as error:
        message = f"a value cannot be sent as JSON: {error}"
        raise InvalidInputError(message) from None


def _plain(value: object) -> str | float:
    """Return exact numbers as decimals, NumPy numbers as Python's."""
    if isinstance(value, Decimal | Fraction):
        numerator, denominator = value.as_integer_ratio()
        return str(Decimal(numerator) / Decimal(denominator))
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    message = f"a {type(value).__name__} has no form in JSON"
    raise TypeError(message)
