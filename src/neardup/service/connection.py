"""Connections: how many there may be, whose they are, how long they may say nothing."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from neardup.service.problems import Problem, busy

# Of the scope of a request: the connection that it came over.
CONNECTION = "neardup.connection"
# Connections are cheap, but not free.
N_PLACES = 1000
# One that never sent a valid token is given little.
_STRANGERS_SHARE = 10
STRANGER_SECONDS = 5
# From the first byte of a request, or from the start of the connection, to the end of its head.
HEAD_SECONDS = 10.0
# Of the head of a request, or of what follows its body.
_HEAD_BYTES = 1 << 16


class Places:
    """The connections that there are: of those that sent a valid token, and a tenth of strangers.

    Where all places of strangers are taken, the one goes that has waited for the longest time, so
    that nobody is kept out by others who hold connections and say nothing. Of the others one goes
    that has no request under way; only if all have is somebody turned away.
    """

    def __init__(self, n_places: int = N_PLACES) -> None:
        self.n_strangers_at_most = max(n_places // _STRANGERS_SHARE, 1)
        self.n_known_at_most = n_places - self.n_strangers_at_most
        # In the order in which they were last heard of.
        self._strangers: dict[Connection, None] = {}
        self._known: set[Connection] = set()
        self._silent: dict[Connection, None] = {}
        self.n_closed = 0

    @property
    def n_strangers(self) -> int:
        """Connections that have not sent a valid token."""
        return len(self._strangers)

    @property
    def n_known(self) -> int:
        """Connections that have, or need none."""
        return len(self._known)

    def enter(self, connection: Connection) -> None:
        """Give a new connection a place among strangers."""
        if len(self._strangers) >= self.n_strangers_at_most:
            self._close(next(iter(self._strangers)))
        self._strangers[connection] = None

    def leave(self, connection: Connection) -> None:
        """Take away the place of a connection."""
        self._strangers.pop(connection, None)
        self._known.discard(connection)
        self._silent.pop(connection, None)

    def hear(self, connection: Connection, *, is_silent: bool) -> None:
        """Note that a request has come, or that the last one was answered."""
        if connection in self._known:
            self._silent.pop(connection, None)
            if is_silent:
                self._silent[connection] = None
        elif connection in self._strangers:
            del self._strangers[connection]
            self._strangers[connection] = None

    def recognise(self, connection: Connection) -> None:
        """Give a connection the place of somebody who sent a valid token, or needs none."""
        if connection in self._known:
            return
        if len(self._known) >= self.n_known_at_most:
            if not self._silent:
                problem = busy("all connections that there may be have a request under way")
                problem.headers = {**problem.headers, "connection": "close"}
                raise problem
            self._close(next(iter(self._silent)))
        self._strangers.pop(connection, None)
        self._known.add(connection)

    def is_known(self, connection: Connection) -> bool:
        """Return whether a connection has sent a valid token, or needs none."""
        return connection in self._known

    def _close(self, connection: Connection) -> None:
        self.leave(connection)
        self.n_closed += 1
        connection.abort()


class Connection(HttpToolsProtocol):
    """As uvicorn's, with a place among others, and within bounds until it has sent a request.

    uvicorn waits for the head of a request for ever, and takes it however long it is.
    """

    _timer: asyncio.TimerHandle | None = None
    _n_requests = 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # The gate; it knows the connections, not they it.
        self._gate = cast("Any", self.config.app)
        self._places: Places = self._gate.places
        self._usual_seconds = self.timeout_keep_alive
        # What came since the last piece of a body, or the end of a head.
        self._n_unread = 0
        self._problem = Problem(400, "this is no request of HTTP/1.1")

    def connection_made(self, transport: Any) -> None:
        """Take a place, and begin to wait for the first request."""
        super().connection_made(transport)
        self._places.enter(self)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Take what came, unless it is too much in which there is no body."""
        if self.transport.is_closing():
            return
        self._n_unread += len(data)
        super().data_received(data)
        if self._n_unread > _HEAD_BYTES and not self.transport.is_closing():
            self._refuse_head()
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Wait for the rest of the head."""
        super().on_message_begin()
        self.scope[CONNECTION] = self  # type: ignore[literal-required]
        if self._timer is None:
            self._wait_for_head()

    def on_headers_complete(self) -> None:
        """End the wait."""
        self._end_wait()
        n_bytes = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if n_bytes > _HEAD_BYTES:
            self._refuse_head()
            # The parser hands this on, and the request is answered as one that cannot be read.
            raise ValueError(self._problem.detail)
        self._n_unread = 0
        self._n_requests += 1
        self._places.hear(self, is_silent=False)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._n_unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the request is whole."""
        self._n_unread = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, for strangers not long."""
        # Some may have come before the one that was answered.
        self._n_requests -= 1
        self._places.hear(self, is_silent=not self._n_requests)
        if not self._places.is_known(self):
            self.timeout_keep_alive = min(self._usual_seconds, STRANGER_SECONDS)
        else:
            self.timeout_keep_alive = self._usual_seconds
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, and hang up."""
        self._end_wait()
        self.transport.write(self._gate.refuse(self._problem))
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the wait, and leave the place to others."""
        self._end_wait()
        self._places.leave(self)
        super().connection_lost(exc)

    def abort(self) -> None:
        """Hang up at once, whatever was still to be sent."""
        self._end_wait()
        self.transport.abort()

    def _refuse_head(self) -> None:
        message = f"the head of the request is larger than {_HEAD_BYTES:,} bytes; send less in it"
        self._problem = Problem(431, message, "InvalidInputError")

    def _wait_for_head(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _end_wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
