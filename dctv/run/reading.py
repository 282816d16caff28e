"""One run of a plan, from the first row to the last one that is wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from dctv.plan.nodes import Plan, Scan
from dctv.plan.source import PlanRun, PreparedSource, RunCost, TableSource
from dctv.rewrite.graph import readers_first
from dctv.run.context import ExecutionContext
from dctv.run.metering import Metering
from dctv.run.sharing import sharing
from dctv.run.stream import Runner


class Reading:
    """A run of a plan, which begins when `stream` is opened."""

    def __init__(self, plan: Plan, context: ExecutionContext, metering: Metering | None = None) -> None:
        self._context = context
        self._sources = tuple(_sources(plan))
        shared = sharing(plan, context.engine.functions)
        self._cancel = context.running.cancel()
        run = PlanRun(self._sources, context.engine.spill_folder(), self._cancel)
        self._runner = Runner(context.engine, shared, run, metering, ahead=context.threads > 1)
        self._metering = metering
        self.spent: RunCost | None = None
        """Its cost, once it is over, if it was metered."""
        self._begun = threading.Event()
        """Not where an interrupt came first: others that are being read would be taken for ended."""
        self._when_over: list[Callable[[], None]] = []
        self.stream: Any = self._runner.stream(plan)
        """Of Arrow batches: an object with `__arrow_c_stream__`."""

    def begin(self) -> None:
        """Prepare the sources of the rows, before the stream is opened."""
        self._context.running.begin()
        self._begun.set()
        for source in self._sources:
            if isinstance(source, PreparedSource):
                source.prepare(self._runner.run)

    def when_over(self, callback: Callable[[], None]) -> None:
        """Call this once the rows have been read, or no more are wanted."""
        self._when_over.append(callback)

    def interrupt(self) -> None:
        """Interrupt the work for these rows, and no other."""
        self._runner.interrupt()

    def finish(self) -> None:
        """End running work: the rows have been read, or no more are wanted."""
        self._runner.finish()
        self._context.running.drop(self._cancel)
        if self._metering is not None:
            self.spent = self._metering.spent(self._runner.run.beside)
        self._runner.warn(self._context.log)
        if self._begun.is_set():
            self._context.running.finish()
        for callback in self._when_over:
            callback()


def _sources(plan: Plan) -> Iterator[TableSource]:
    """Yield where the stored tables of a plan are."""
    return (node.source for node in readers_first(plan) if isinstance(node, Scan))
