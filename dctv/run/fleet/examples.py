"""Mount traces of a fleet to look at what names mean in them, and keep them mounted while many names are looked up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext

from dctv.record import field, record
from dctv.run.context import ExecutionContext
from dctv.run.fleet.members import FleetMember
from dctv.run.fleet.metadata import MountSettings, mounted


@record(eq=False)
class Examples:
    """Traces of a fleet that are mounted alone, at most one of each format for long."""

    _stacks: list[ExitStack] = field(default_factory=list)
    _kept: dict[str, ExecutionContext] = field(default_factory=dict)
    """By name of a member."""

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep what is mounted until the end: its views are bound once, though many of them read each other."""
        if self._stacks:
            yield
            return
        try:
            with ExitStack() as stack:
                self._stacks.append(stack)
                yield
        finally:
            self._stacks.clear()
            self._kept.clear()

    @contextmanager
    def mounted(
        self, member: FleetMember, settings: MountSettings, context: ExecutionContext
    ) -> Iterator[ExecutionContext]:
        """Mount a trace alone, unless it is mounted already.

        Raises:
            TraceError: it cannot be read.
        """
        if member.name in self._kept:
            yield self._kept[member.name]
            return
        with ExitStack() if not self._stacks else nullcontext(self._stacks[0]) as stack:
            alone, _ = stack.enter_context(mounted(member, settings, context))
            if self._stacks:
                self._kept[member.name] = alone
            yield alone
