"""The server of the viewer: where it can be, and to whom it tells the scene."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator

import pytest
import viser
from websockets.asyncio import server as websockets_server
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.viewer import Viewer
from gdalembert.viewer import server as ours

pytestmark = pytest.mark.extras


@pytest.mark.parametrize(
    ("host", "error", "message"),
    [
        ("no.such.host.invalid", ArgumentError, "host 'no.such.host.invalid' is not found: .*; give 'localhost', or"),
        ("", ArgumentError, "host '' is not found: "),
        ("a" * 5000, ArgumentError, r"host 'a{80}… \(5000 characters\)' is not found: "),
        ("192.0.2.1", ArgumentError, "host '192.0.2.1' cannot be served: .*; give 'localhost', or another"),
        (None, ArgumentTypeError, "host: expected a name or an address, got None"),
    ],
)
def test_a_host_that_cannot_be_served_is_refused_at_once(host: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^Viewer: {message}"):
        Viewer("cart_pendulum", host=host, port=0)


def test_a_port_in_use_is_replaced_by_the_next_one() -> None:
    with Viewer("cart_pendulum", port=0) as first:
        port = first.server.get_port()
        with Viewer("cart_pendulum", port=port) as second:
            assert second.server.get_port() > port


def test_without_a_free_port_there_is_no_viewer() -> None:
    with socket.socket() as taken:
        taken.bind(("localhost", 65535))
        taken.listen()
        message = "^Viewer: no port from 65535 to 65535 can be served at 'localhost': .*; give port=0 for any free one$"
        with pytest.raises(ArgumentError, match=message):
            Viewer("cart_pendulum", port=65535)


def test_ports_that_the_user_may_not_have_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    denied = PermissionError(errno.EACCES, "Permission denied")
    monkeypatch.setattr(ours, "_refusal", lambda _, port: denied if 0 < port < 1024 else None)
    with pytest.raises(ArgumentError, match=r"^Viewer: no port from 1 to 1000 .*: Permission denied; give port=0"):
        Viewer("cart_pendulum", port=1)


# Pages


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with Viewer("cart_pendulum", port=0) as shown:
        yield shown.server.get_port()


def is_accepted(port: int, origin: str | None, host: str | None = None) -> bool:
    """Whether a page gets the scene."""
    with socket.create_connection(("localhost", port)) as line:
        uri = f"ws://{host or f'localhost:{port}'}"
        version = f"viser-v{viser.__version__}"
        try:
            with connect(uri, sock=line, origin=origin, subprotocols=[version], compression=None) as page:
                return bool(page.recv(timeout=10))
        except InvalidStatus as refused:
            if refused.response.status_code == 403:
                return False
            raise


@pytest.mark.parametrize("origin", ["http://localhost:{}", None])
def test_its_own_page_and_programs_get_the_scene(port: int, origin: str | None) -> None:
    assert is_accepted(port, origin and origin.format(port))


def test_its_own_page_may_come_through_a_tunnel(port: int) -> None:
    assert is_accepted(port, "http://127.0.0.1:9999", "127.0.0.1:9999")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://evil.example", None),
        ("http://localhost:1", None),
        ("null", None),
        ("http://evil.example:{}", "evil.example:{}"),  # a name that its owner has given the address of this machine
    ],
)
def test_pages_of_other_sites_do_not_get_the_scene(port: int, origin: str, host: str | None) -> None:
    assert not is_accepted(port, origin.format(port), host and host.format(port))


def test_other_servers_are_as_before() -> None:
    before = websockets_server.serve
    with Viewer("cart_pendulum", port=0):
        assert websockets_server.serve is before


def test_a_server_for_the_network_goes_by_any_name() -> None:
    assert ours.is_own_page(["http://lab-pc:8080"], ["lab-pc:8080"], None)
    assert not ours.is_own_page(["http://evil.example"], ["lab-pc:8080"], None)
    assert not ours.is_own_page(["http://lab-pc:8080"], ["lab-pc:8080"], frozenset({"localhost"}))
    assert not ours.is_own_page(["http://a", "http://a"], ["a"], None)
    assert not ours.is_own_page(["null"], [""], None)
