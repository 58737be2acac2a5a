"""The server of the page: at an address that can be bound, and for its own page alone."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from gdalembert.errors import ArgumentError, ArgumentTypeError, quoted, shown

_STARTING = threading.Lock()
_PORTS = 1000
"""Number of ports that are tried."""

Address: TypeAlias = tuple[int, str]
"""An address of a network interface, after its family."""


def serve(viser: Any, host: str, port: int, label: str) -> Any:
    """The server of viser at the first free port from a given one on, with the title ``label``; 0 takes any.

    It tells the scene to its own page alone, not to pages of other sites in the same browser; viser itself accepts a
    WebSocket from every page, and waits for ever if it cannot bind its address.
    """
    addresses = _addresses(host)
    port = _free_port(host, addresses, port)
    local = all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for _, address in addresses)
    with _STARTING, _own_page_only(_LOCAL | {host.lower()} if local else None):
        return viser.ViserServer(host=host, port=port, label=label, verbose=False)


_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def is_own_page(origins: Sequence[str], hosts: Sequence[str], names: frozenset[str] | None) -> bool:
    """True if a request comes from a page of this server, or from a program that is no browser.

    The header Origin, which browsers always send, says where the page is from that asks; Host, under which of the
    ``names`` the browser has found this server (``None``: any): a foreign site can give its own name our address.
    """
    if not origins:
        return True
    page = urlsplit(origins[0])
    is_same_origin = len(origins) == len(hosts) == 1 and page.netloc.lower() == hosts[0].lower() != ""
    return is_same_origin and (names is None or page.hostname in names)


@contextlib.contextmanager
def _own_page_only(names: frozenset[str] | None) -> Iterator[None]:
    """Let servers that are started meanwhile refuse WebSockets of foreign pages, for which viser has no option."""
    from websockets.asyncio import server

    serve: Any = server.serve

    def guarded(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
        def checked(connection: Any, request: Any) -> Any:
            origins, hosts = (request.headers.get_all(name) for name in ("Origin", "Host"))
            if not is_own_page(origins, hosts, names):
                return connection.respond(HTTPStatus.FORBIDDEN, "This page is from another site.\n")
            return None if process_request is None else process_request(connection, request)

        return serve(*arguments, process_request=checked, **options)

    setattr(server, "serve", guarded)  # noqa: B010  # mypy would compare the types
    try:
        yield
    finally:
        setattr(server, "serve", serve)  # noqa: B010  # the same


def _addresses(host: str) -> list[Address]:
    if not isinstance(host, str):
        raise ArgumentTypeError(f"Viewer: host: expected a name or an address, got {shown(host)}")
    hint = "give 'localhost', or another name or address of this machine"
    try:
        resolved = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, ValueError) as error:  # not in the DNS, or not a name at all
        why = error.strerror if isinstance(error, OSError) else error
        raise ArgumentError(f"Viewer: host {quoted(host)} is not found: {why}; {hint}") from None
    addresses: list[Address] = [(family, str(address[0])) for family, _, _, _, address in resolved]
    reasons = [reason for address in addresses if (reason := _refusal(address, 0)) is not None]
    if len(reasons) == len(addresses):
        raise ArgumentError(f"Viewer: host {quoted(host)} cannot be served: {reasons[0].strerror}; {hint}")
    return addresses


def _free_port(host: str, addresses: Sequence[Address], port: int) -> int:
    """The first port that is free at every address that this machine has."""
    last = min(port + _PORTS - 1, 65535)
    for candidate in range(port, last + 1):
        reasons = [_refusal(address, candidate) for address in addresses]
        if all(reason is None or reason.errno == errno.EADDRNOTAVAIL for reason in reasons):
            return candidate
    reason = next(reason for reason in reasons if reason is not None)
    ports = f"no port from {port} to {last} can be served at {host!r}"
    raise ArgumentError(f"Viewer: {ports}: {reason.strerror}; give port=0 for any free one")


def _refusal(address: Address, port: int) -> OSError | None:
    """The reason why an address cannot be bound to a port; ``None`` if it can."""
    family, name = address
    try:
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            if os.name == "posix":  # as asyncio does
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            tried.bind((name, port))
    except OSError as error:
        return error
    return None
