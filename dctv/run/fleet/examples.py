"""Mount traces of a fleet to look at what names mean in them, and keep them mounted while many names are looked up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from dctv.run.context import ExecutionContext
from dctv.run.fleet.members import FleetMember
from dctv.run.fleet.metadata import MountSettings, mounted


class Examples:
    """Traces of a fleet that are mounted alone, at most one of each format for long."""

    def __init__(self) -> None:
        self._stack: ExitStack | None = None
        """Unmounts those that are kept, while some are."""
        self._kept: dict[str, ExecutionContext] = {}
        """By name of a member."""

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep what is mounted until the end: its views are bound once, though many of them read each other."""
        with ExitStack() as stack:
            self._stack = stack
            try:
                yield
            finally:
                self._stack = None
                self._kept.clear()

    @contextmanager
    def mounted(
        self, member: FleetMember, settings: MountSettings, context: ExecutionContext
    ) -> Iterator[ExecutionContext]:
        """Mount a trace alone, unless it is mounted already.

        Raises:
            TraceError: it cannot be read.
        """
        if self._stack is None:
            with mounted(member, settings, context) as (alone, _):
                yield alone
            return
        if member.name not in self._kept:
            self._kept[member.name], _ = self._stack.enter_context(mounted(member, settings, context))
        yield self._kept[member.name]
