"""Work on traces of a fleet, in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dctv.opening import open_context
from dctv.progress import Progress
from dctv.run.context import ExecutionContext
from dctv.run.crew import Crew
from dctv.run.limits import Limits
from dctv.run.recursion import deep_recursion

_opened: dict[Limits, ExecutionContext] = {}
"""The context of this process, by the limits that it was opened with; only the last one."""


def call(limits: Limits, work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with this process's context."""
    if limits not in _opened:
        for context in _opened.values():
            context.close()
        _opened.clear()
        _opened[limits] = open_context(limits, Progress(None), Crew(call, 1), ())
    with deep_recursion():
        return work(_opened[limits], *arguments)
