"""The protocol of a warm session: JSON prefixed by its length, in one message with open files."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct("<I")
_MOST = 64 << 20
"""The maximum size of a message; environments and command lines are much smaller."""


def send(connection: socket.socket, message: Any, files: Sequence[int] = ()) -> None:
    """Send a message, and file descriptors with it."""
    raw = json.dumps(message).encode()
    head = _LENGTH.pack(len(raw))
    if files:
        socket.send_fds(connection, [head], list(files))
    else:
        connection.sendall(head)
    connection.sendall(raw)


def receive(connection: socket.socket, files: int = 0) -> tuple[Any, list[int]]:
    """Return the next message, with up to this many file descriptors; None at the end.

    Raises:
        ValueError: it is not a message.
    """
    head, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, files) if files else (b"", [], 0, None)
    head += _read(connection, _LENGTH.size - len(head)) if head or not files else b""
    if len(head) < _LENGTH.size:
        return None, list(descriptors)
    (length,) = _LENGTH.unpack(head)
    if length > _MOST:
        raise ValueError(length)
    raw = _read(connection, length)
    return (json.loads(raw) if len(raw) == length else None), list(descriptors)


def _read(connection: socket.socket, length: int) -> bytes:
    """Read this many bytes, fewer at the end."""
    raw = bytearray()
    while len(raw) < length and (piece := connection.recv(length - len(raw))):
        raw += piece
    return bytes(raw)
