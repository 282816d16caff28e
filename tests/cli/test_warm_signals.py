"""Signals to the process that keeps a session: none is lost, whether a command begins, runs or ends."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from signal import SIGINT, SIGTERM
from typing import Any, cast

import pytest

from dctv.cli.warm.server import Server, _Command, _Stop
from dctv.errors import Terminated


@pytest.fixture
def server() -> Iterator[Server]:
    """A server whose command has not begun."""
    made = Server(cast("Any", None), lambda _words, _warm: 0)
    with socket.socket() as connection:
        made._command = _Command(connection)
        yield made


def heard(server: Server, number: signal.Signals) -> type[BaseException] | None:
    """Hand a signal to a server; return what it raises."""
    try:
        server._on_signal(number, None)
    except (_Stop, Terminated, KeyboardInterrupt) as error:
        return type(error)
    return None


def test_none_runs(server: Server) -> None:
    server._command = None
    assert heard(server, SIGTERM) is _Stop
    assert heard(server, SIGINT) is _Stop


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
@pytest.mark.parametrize("asked", [False, True])
def test_a_command_begins_or_ends(server: Server, number: signal.Signals, *, asked: bool) -> None:
    assert server._command is not None
    server._command.asked = asked
    assert heard(server, number) is None
    # That of the client came late.
    assert server._ending is not asked
    assert heard(server, number) is None
    assert server._ending


@pytest.mark.parametrize(("number", "ends"), [(SIGTERM, True), (SIGINT, False)])
def test_a_command_runs(server: Server, number: signal.Signals, *, ends: bool) -> None:
    assert server._command is not None
    server._command.runs = True
    raised = Terminated if number == SIGTERM else KeyboardInterrupt
    assert heard(server, number) is raised
    assert server._ending is ends


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
def test_a_command_that_its_client_ends(server: Server, number: signal.Signals) -> None:
    assert server._command is not None
    server._command.runs = server._command.asked = True
    assert heard(server, number) is (Terminated if number == SIGTERM else KeyboardInterrupt)
    assert not server._ending
    assert heard(server, SIGTERM) is Terminated
    assert server._ending


def test_a_command_that_has_not_begun_does_not_begin(server: Server) -> None:
    assert heard(server, SIGTERM) is None
    with pytest.raises(Terminated):
        server._begin(["query", "SELECT 1"])
