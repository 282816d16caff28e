"""Open the rows of a source again each time that a query reads them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from dctv.plan.nodes import schema_capsule


def readable(open_: Callable[[], Any]) -> Any:
    """Return an object that a query can scan more than once, for a source of which each opening gives all rows.

    Tables and datasets of pyarrow are such objects. A stream can be read once, but a query may name its table twice.
    """
    opened = open_()
    return opened if hasattr(opened, "num_rows") or hasattr(opened, "scanner") else _Reopened(opened, open_)


class _Reopened:
    """Streams of the same rows; the first one is open."""

    def __init__(self, first: Any, open_: Callable[[], Any]) -> None:
        self._schema = first
        self._first: Any = first
        self._open = open_
        self._lock = threading.Lock()

    def __arrow_c_schema__(self) -> object:
        return schema_capsule(self._schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        with self._lock:
            opened, self._first = self._first, None
        if opened is None:
            opened = self._open()
        return opened.__arrow_c_stream__(requested_schema)
