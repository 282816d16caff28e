"""Streams of Arrow batches that are opened again for each of their readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from dctv.plan.nodes import ArrowStream


class SchemaCapsules(Protocol):
    """Anything that has an Arrow schema."""

    def __arrow_c_schema__(self) -> object:
        """Return an `arrow_schema` capsule."""
        ...


class OpenedStream:
    """A stream whose schema is known before it is opened; every opening starts a new one."""

    def __init__(self, open_: Callable[[], ArrowStream], schema: Callable[[], object]) -> None:
        self._open = open_
        self._schema = schema

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._open().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._schema()


def reopened(open_: Callable[[], Any], schema: Callable[[Any], SchemaCapsules]) -> OpenedStream:
    """Return a stream for several readers, of streams that can be read once each.

    The first is opened now, so that its errors are raised rather than handed to the engine as texts.
    """
    first = open_()
    waiting = [first]

    def opened() -> ArrowStream:
        try:
            made: ArrowStream = waiting.pop()
        except IndexError:
            made = open_()
        return made

    return OpenedStream(opened, schema(first).__arrow_c_schema__)
