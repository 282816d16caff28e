"""The interface of an SQL engine: types of a query before it runs, and streams of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from dctv.errors import BindError, DctvError
from dctv.plan.node import Query
from dctv.plan.nodes import ArrowStream
from dctv.record import record

ZERO_DIVISION = "DCTV_ZERO_DIVISION"
"""An engine function that is called for each row whose divisor is zero; it returns NULL and counts."""
ZERO_DIVISION_IN_KEY = f"{ZERO_DIVISION}_IN_KEY"
"""The same for keys of windows, where the engine refuses functions with effects; it reports zeros, but not how many."""
EFFECTS = frozenset({"error", "unnest", "generate_subscripts", ZERO_DIVISION.lower()})
"""Functions, in lower case, that check, multiply or count rows."""
VOLATILE = frozenset({"random", "uuid", "uuidv4", "uuidv7", "gen_random_uuid", "nextval", "setval", "setseed"})
"""Functions that may return another value each time."""
ORDER_FREE = frozenset(
    {"count", "count_star", "countif", "count_if", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor"}
    | {"approx_count_distinct", "quantile", "quantile_cont", "quantile_disc", "median"}
)
"""Aggregates that give the same value in whatever order they meet the rows."""
EXACT_ON_INTEGERS = frozenset({"sum", "avg", "mean"})
"""Aggregates of which that is true for integers."""


@record
class Profile:
    """The cost of one run of a query."""

    seconds: float
    """The time of all its operators in all threads, including reads of its sources."""
    peak: int
    """Bytes of rows in the engine's buffers, at most."""
    spilled: int
    """Bytes that were on disk, at most."""
    read: int
    """Bytes that it read from files."""


class EngineQuery(ArrowStream, Protocol):
    """A query of the engine; every opening runs it anew."""

    def interrupt(self) -> None:
        """End its runs soon."""
        ...

    def close(self) -> None:
        """Release its runs and sources."""
        ...

    def profiles(self) -> list[Profile]:
        """Return the costs of its runs, if they were metered; they must have ended."""
        ...


class Engine(Protocol):
    """An engine that runs relational regions; it opens nothing before it is needed, and opens anew after a `close`."""

    @property
    def failures(self) -> tuple[type[BaseException], ...]:
        """Exceptions of running queries: the engine's errors, and those of Arrow and the kernels."""

    def failure(self, error: BaseException, noted: Sequence[DctvError] = ()) -> DctvError:
        """Return our error for one that came out of a running query; one of `noted` if that went through it as text."""
        ...

    def write(self, query: Query) -> str:
        """Write a query as the engine's text."""
        ...

    def describe(self, query: Query, sources: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
        """Return names and types of the columns of a query over some sources; raises EngineError."""
        ...

    def compute(self, query: Query) -> None:
        """Run a query that reads nothing, to see whether it can be run; raises EngineError."""
        ...

    def functions(self) -> Mapping[str, str]:
        """Return the kind (`scalar`, `aggregate`, `window`) of functions that texts may call, by lower-case name."""
        ...

    def table_functions(self) -> frozenset[str]:
        """Return the lower-case names of functions that texts may call in FROM."""
        ...

    def reads_files(self) -> bool:
        """Return whether texts may name files to read."""
        ...

    def refusal(self, name: str) -> BindError | None:
        """Return the error for texts that call a forbidden function, None if there is no function of that name."""
        ...

    def refused_file(self, path: str) -> BindError:
        """Return the error for texts that read a forbidden file."""
        ...

    def may_name(self, path: Path) -> bool:
        """Return whether texts may name this file, wherever its links lead."""
        ...

    def refused_target(self, path: str) -> BindError:
        """Return the error for texts that write a forbidden file."""
        ...

    def stream(self, query: Query, sources: Mapping[str, Any], *, serial: bool, profiled: bool = False) -> EngineQuery:
        """Return a stream that runs the query when opened.

        A source is a pyarrow Table or Dataset, or an ArrowStream, or a function without arguments that gives one.
        `serial` asks for one thread, for results that depend on the order of rows.
        """
        ...

    def memory_limit(self) -> int:
        """Return the memory limit of its queries in bytes."""
        ...

    def spill_folder(self) -> Path:
        """Return the folder for rows that do not fit into memory; it may not exist yet."""
        ...

    def interrupt(self) -> None:
        """End every running query soon; they raise Interrupted."""
        ...

    def finish(self) -> None:
        """Release queries that have ended; called when none is being read."""
        ...

    def settings(self) -> tuple[str, ...]:
        """Return the names of the settings that can be changed."""
        ...

    def configure(self, name: str, value: object) -> None:
        """Change a setting of the engine."""
        ...

    def close(self) -> None:
        """Free everything."""
        ...
