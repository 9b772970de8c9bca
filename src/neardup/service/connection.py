"""A connection that has to send the head of a request within a time."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# From the first byte of a request, or from the start of the connection, to the end of its head.
HEAD_SECONDS = 10.0


class Connection(HttpToolsProtocol):
    """As uvicorn's, but closed if the head of a request does not come.

    uvicorn waits for it for ever, so that anybody could hold as many connections as there are.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_head()

    def on_message_begin(self) -> None:
        """Wait for the rest of the head."""
        super().on_message_begin()
        if self._timer is None:
            self._wait_for_head()

    def on_headers_complete(self) -> None:
        """End the wait."""
        self._end_wait()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the wait."""
        self._end_wait()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _end_wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
