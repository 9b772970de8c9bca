"""Who may ask: the address served, the host that was meant, the page that sends, the token."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping

from neardup.errors import InvalidParameterError
from neardup.service.problems import Problem
from neardup.service.tokens import Tokens

SESSION_COOKIE = "neardup-session"
_SAFE_METHODS = ("GET", "HEAD")
# Answered to anybody: they name an index only when something is the matter with it.
_OPEN_TO_ALL = ("/health", "/ready")
_WITHOUT_TOKEN = (*_OPEN_TO_ALL, "/sign-in", "/page.css", "/page.js")
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(host: str, tokens: Tokens) -> None:
    """Refuse to serve others without a token.

    Raises
    ------
    InvalidParameterError
        If other machines could reach the service, and need no token.
    """
    if not tokens and not is_loopback(host):
        message = (
            f"host {host} can be reached from other machines, so a token is needed: name a file "
            "of tokens with token_file, or leave host at 127.0.0.1"
        )
        raise InvalidParameterError(message, "host", "token_file")


class Access:
    """Decides about each request by its headers alone.

    Parameters
    ----------
    tokens
        Those that open the service; without any it is open.
    hosts
        Names under which the service may be asked; None for any. On loopback these are names of
        this machine, so that a page elsewhere cannot reach the service by a name of its own that
        it lets point here.
    """

    def __init__(self, tokens: Tokens, hosts: Iterable[str] | None) -> None:
        self.tokens = tokens
        self._hosts = None if hosts is None else {host.lower() for host in hosts}

    def check(self, method: str, path: str, headers: Mapping[bytes, bytes]) -> bool:
        """Make sure that a request may be answered.

        Returns
        -------
        Whether it comes from somebody with a token; where none is needed, from anybody who asks for
        what would need one.

        Raises
        ------
        Problem
            421 for a host that is not ours, 403 for a page of somebody else, 401 without the token.
        """
        if path in _OPEN_TO_ALL:
            return False
        host = headers.get(b"host", b"").decode("latin-1")
        if self._hosts is not None and _without_port(host) not in self._hosts:
            message = (
                "the service does not answer under this name; ask for 127.0.0.1 or localhost, or "
                "name the host with --allowed-host of `neardup serve`"
            )
            raise Problem(421, message)
        if method not in _SAFE_METHODS:
            _check_origin(host, headers)
        if self.tokens and path not in _WITHOUT_TOKEN and not self._is_known(path, headers):
            message = "a token is needed: send the header `Authorization: Bearer TOKEN`"
            raise Problem(401, message, headers={"www-authenticate": 'Bearer realm="neardup"'})
        return path not in _WITHOUT_TOKEN

    def _is_known(self, path: str, headers: Mapping[bytes, bytes]) -> bool:
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer":
            return self.tokens.are_right(given.strip())
        # Browsers send cookies by themselves, so they open the page for people and nothing else.
        session = _cookie(headers) if not path.startswith("/v1") else None
        return session is not None and self.tokens.is_session(session)


def allowed_hosts(host: str, others: Iterable[str]) -> list[str] | None:
    """Return the names under which a service at an address may be asked; None for any."""
    others = list(others)
    if not is_loopback(host):
        return others or None
    own = f"[{host}]" if ":" in host else host
    return [*_LOCAL_NAMES, own, *others]


def _check_origin(host: str, headers: Mapping[bytes, bytes]) -> None:
    """Refuse what a page of another site makes a browser send."""
    site = headers.get(b"sec-fetch-site", b"none")
    origin = headers.get(b"origin")
    is_ours = origin is None or origin.decode("latin-1").partition("://")[2] == host
    if site not in (b"none", b"same-origin") or not is_ours:
        message = "a page of another site may not send this; use the service's own page"
        raise Problem(403, message)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


def _cookie(headers: Mapping[bytes, bytes]) -> str | None:
    # Ours has nothing in it that would have to be quoted.
    cookies = headers.get(b"cookie", b"").decode("latin-1").split(";")
    return dict(cookie.strip().partition("=")[::2] for cookie in cookies).get(SESSION_COOKIE)
