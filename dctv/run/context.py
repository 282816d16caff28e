"""The context in which a session runs statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from dctv.bind.context import Environment
from dctv.catalog.mount import Mount
from dctv.catalog.namespace import Catalog
from dctv.contracts.engine import Engine
from dctv.contracts.first_rows import Showing
from dctv.contracts.function_rule import FunctionRule
from dctv.contracts.picture import Picture
from dctv.contracts.reader import Reader
from dctv.contracts.span_operator import SpanOperator
from dctv.contracts.table_function import TableFunction
from dctv.contracts.writer import Writer
from dctv.errors import NotOnThisEngine, UsageError, WarningLog
from dctv.index.mounting import IndexPolicy
from dctv.plan.nodes import Plan
from dctv.progress import Progress
from dctv.record import field, record
from dctv.rewrite.settings import RewriteSettings
from dctv.run.chosen_engine import ChosenEngine
from dctv.run.limits import Limits
from dctv.run.running import Running
from dctv.run.trace_workers import TraceWorkers
from dctv.syntax import ast
from dctv.timeline.timeline import Timeline


@record
class Registries:
    """The registries, as the session found them."""

    readers: Mapping[str, Reader]
    rules: Mapping[str, FunctionRule]
    operators: Mapping[str, SpanOperator]
    functions: Mapping[str, TableFunction]
    of_mount: Callable[[int, int], TableFunction]
    """From the first and last time of a trace to the function that every mount has."""
    drawn: Callable[[Timeline, Mapping[str, Any]], Picture]
    """Draws a timeline, with the options of a picture."""
    showing: Showing
    writers: Mapping[str, Writer]
    """Formats of results."""
    file_table: Callable[[ast.TableFile, Environment, ExecutionContext], Plan]
    """Mounts a file that is named in FROM, and binds its table."""


@record
class MountedFleet:
    """Traces that are mounted as one."""

    pattern: str
    count: int
    """The number of readable ones."""
    incomplete: tuple[str, ...]
    """The reasons why others are unreadable, or read only in part."""
    lacking: Callable[[Sequence[str]], set[str]]
    """Returns those of its views that are empty in every trace."""
    keep_mounted: Callable[[], AbstractContextManager[None]]
    """Keeps traces mounted that are opened to find schemas, until the schemas of many names are found."""


@record
class ExecutionContext:
    """The parts of one session; created once, and passed down."""

    catalog: Catalog
    mounts: dict[tuple[str, ...], Mount]
    """By the parts of their names, in the order in which they were mounted."""
    engine: Engine
    """Keeps the limit of memory, and makes the folder for rows that do not fit into it."""
    registries: Registries
    settings: RewriteSettings
    limits: Limits
    log: WarningLog
    """The warnings of the last call."""
    progress: Progress
    running: Running
    workers: TraceWorkers
    """The workers that read the traces of fleets."""
    chosen_engine: ChosenEngine
    """The engine that plans are carried out on, if it is another one than `engine`."""
    unread: list[str] = field(default_factory=list)
    """The reasons why files named in FROM could not be read whole."""
    fleets: dict[tuple[str, ...], MountedFleet] = field(default_factory=dict)
    """By the parts of their names."""
    of_fleet: bool = False
    """Whether it is that of one trace of a fleet, whose plans are kept for the next ones."""

    @property
    def policy(self) -> IndexPolicy:
        """Whether traces are read by their indexes, and where those and histories are kept."""
        return self.limits.policy

    @property
    def threads(self) -> int:
        """The number of threads it may use."""
        return self.limits.threads

    @property
    def temp_directory(self) -> Path | None:
        """The user's folder for data that does not fit into memory; None for the default."""
        return self.limits.temp_directory

    def choose_engine(self, address: str, *, by_text: bool = False) -> None:
        """Run plans on another engine, or again on the local one; its workers read the traces of fleets, too.

        Raises:
            UsageError: the address is invalid or not allowed in texts, or a package is not installed.
            Unanswered: the server does not answer.
        """
        self.chosen_engine.choose(address, by_text=by_text)
        remote = self.chosen_engine.remote

        def lent() -> Executor | None:
            assert remote is not None
            try:
                return remote.executor()
            except NotOnThisEngine as refusal:
                if self.settings.strict_engine:
                    raise
                self.log.add(f"{refusal.message}; traces are read here")
                return None

        self.workers.borrow(None if remote is None else lent)

    @property
    def is_closed(self) -> bool:
        """Whether it has been closed: then even functions have no names."""
        return not self.catalog.root.spaces

    def mount_of(self, name: str) -> Mount:
        """Return a mounted trace by its dotted name.

        Raises:
            UsageError: no trace is mounted by this name.
        """
        found = self.mounts.get(tuple(name.split(".")))
        if found is None:
            raise UsageError(f"no trace is mounted as `{name}`")
        return found

    def incomplete(self) -> list[str]:
        """Return the reasons why traces, and files that queries name, could not be read whole."""
        mounted = [f"{'.'.join(one.parts)}: {reason}" for one in self.mounts.values() for reason in one.incomplete]
        fleets = [f"{'.'.join(parts)}: {reason}" for parts, one in self.fleets.items() for reason in one.incomplete]
        return [*mounted, *fleets, *self.unread]

    def share(self, workers: int) -> Limits:
        """Return the limits of one of some workers, which share this session's memory limit."""
        return self.limits.share(workers, self.engine.memory_limit())

    def begin(self) -> None:
        """Begin a call: forget warnings and interrupts of the last one."""
        self.progress.begin()
        self.log.clear()

    def close(self) -> None:
        """Free everything; later statements find nothing mounted."""
        # What is being read knows that it was closed before its workers end.
        self.catalog.clear()
        self.workers.borrow(None)
        self.workers.close()
        self.chosen_engine.close()
        self.engine.close()
        self.unmount()

    def unmount(self) -> None:
        """Forget all names, and close the files of mounts."""
        self.catalog.clear()
        for mount in self.mounts.values():
            mount.close()
        self.mounts.clear()
        self.fleets.clear()
