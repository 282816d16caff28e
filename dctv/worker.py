"""Work on traces of a fleet, in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from dctv.opening import open_context
from dctv.progress import Progress
from dctv.run.context import ExecutionContext
from dctv.run.limits import Limits
from dctv.run.recursion import deep_recursion
from dctv.run.trace_workers import TraceWorkers

_alone = Lock()
"""Held while a function is called: the workers of some engines are threads of one process."""
_opened: dict[Limits, ExecutionContext] = {}
"""The context of this process, by the limits that it was opened with; only the last one."""


def call(limits: Limits, work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with this process's context."""
    with _alone, deep_recursion():
        if limits not in _opened:
            for context in _opened.values():
                context.close()
            _opened.clear()
            _opened[limits] = open_context(limits, Progress(None), TraceWorkers(call, 1), ())
        return work(_opened[limits], *arguments)
