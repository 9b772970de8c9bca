"""An index of documents in memory, with the methods of the real one, and slow where asked to be."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.results import Match, Matches
from neardup.runs.progress import may_go_on


class Page(NamedTuple):
    documents: list[dict[str, Any]]
    cursor: str | None


@dataclass
class Answer:
    table: pa.Table = None
    summary: dict[str, Any] = field(default_factory=dict)
    n_documents: int = 0
    denied: list[Any] = field(default_factory=list)


def words(text: str | None, tokens: Iterable[Any] | None) -> set[Any]:
    return set(tokens) if text is None else set(text.casefold().split())


class FakeDocumentIndex:
    """Jaccard similarity of words; compares with all documents."""

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self.rows: dict[str | int, dict[str, Any]] = {}
        self.n_commits = self.n_refreshes = self.n_removals = 0
        # What a commit or a refresh fails with, for as long as it is there.
        self.failure: Exception | None = None
        # A look-up of the word "slow" waits for it.
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)

    def query(
        self,
        text=None,
        *,
        tokens=None,
        threshold="index",
        limit=None,
        top=None,
        cursor=None,
        where=None,
        with_columns=False,
    ) -> Matches[Match]:
        least = self.threshold if threshold in ("index", None) else float(threshold)
        if not self.threshold <= least <= 1:
            message = f"threshold must be at least {self.threshold}, got {threshold}"
            raise InvalidParameterError(message)
        asked = words(text, tokens)
        if "slow" in asked:
            self.begun.release()
            self.gate.wait()
        while "endless" in asked:
            may_go_on()
            time.sleep(0.01)
        found = []
        for key, row in self.rows.items():
            known = words(row["text"], row["tokens"])
            similarity = len(asked & known) / (len(asked | known) or 1)
            if similarity >= least:
                found.append(Match(key, similarity))
        ranked = sorted(found, key=lambda match: -match.similarity)
        return Matches(ranked[:limit], cursor=None, n_matches=len(ranked))

    def search(
        self,
        queries,
        threshold=None,
        *,
        id_column,
        workers,
        progress,
        top=None,
        doc_where=None,
        with_columns=False,
    ) -> Answer:
        found = []
        for done, row in enumerate(queries):
            progress("search", done, len(queries))
            if row["text"] == "heavy":
                time.sleep(0.02)
            found += [(row[id_column], *match) for match in self.query(row["text"])]
        columns = zip(*found, strict=True) if found else ([], [], [])
        table = pa.table(dict(zip(("query_id", "doc_id", "similarity"), columns, strict=True)))
        return Answer(table, {"queries": len(queries)})

    def insert(
        self,
        id,  # noqa: A002
        text=None,
        *,
        tokens=None,
        **columns,
    ) -> None:
        if id in self.rows:
            message = f"id {id!r} is in the index already"
            raise InvalidInputError(message)
        if text == "long":
            time.sleep(0.5)
            may_go_on()
        self.rows[id] = {"text": text, "tokens": tokens, **columns}

    def insert_if_new(
        self,
        id,  # noqa: A002
        text=None,
        *,
        tokens=None,
        threshold=None,
        **columns,
    ):
        found = self.query(text, tokens=tokens, threshold=threshold, limit=1)
        if found:
            return found[0].id
        self.insert(id, text, tokens=tokens, **columns)
        return None

    def add(self, rows, *, id_column, workers, progress) -> Answer:
        for row in rows:
            self.insert(**row)
        self.commit()
        return Answer(n_documents=len(rows))

    def remove(self, ids, *, deny) -> Answer:
        self.n_removals += 1
        if missing := [key for key in ids if key not in self.rows]:
            message = f"the index has no document {missing[0]!r}; nothing was removed"
            raise InvalidInputError(message)
        for key in ids:
            del self.rows[key]
        return Answer(summary={"removed": len(ids), "documents": len(self.rows)})

    def get(self, id) -> dict[str, Any] | None:  # noqa: A002
        row = self.rows.get(id)
        return None if row is None else {"id": id, "text": row["text"]}

    def documents(self, start=0, limit=50) -> list[dict[str, Any]]:
        return [
            {"id": key, "text": row["text"]}
            for key, row in list(self.rows.items())[start : start + limit]
        ]

    def page(self, limit, *, start, cursor, where, most_characters) -> Page:
        found, n_characters = [], 0
        for row in self.documents(start, limit):
            n_characters += len(row["text"] or "")
            if found and n_characters > most_characters:
                break
            found.append(row)
        at_end = start + len(found) >= len(self.rows)
        return Page(found, None if at_end else "a cursor")

    def info(self) -> dict[str, Any]:
        return {"folder": "/secret/place", "documents": len(self.rows)}

    def commit(self) -> int:
        self.n_commits += 1
        if self.failure is not None:
            raise self.failure
        return 1

    def refresh(self) -> None:
        self.n_refreshes += 1
        if self.failure is not None:
            raise self.failure

    def __contains__(self, id) -> bool:  # noqa: A002
        return id in self.rows

    def __len__(self) -> int:
        return len(self.rows)
