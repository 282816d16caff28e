"""DuckDB as the engine of relational regions: types at bind time, Arrow streams at run time."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakSet

import duckdb

from dctv.contracts.engine import ZERO_DIVISION, ZERO_DIVISION_IN_KEY, Profile
from dctv.engines.allowed import ALLOWING, COPYING, KINDS, OF_FILES, TABLES
from dctv.engines.culprits import culprit
from dctv.engines.failures import failure, is_fault, message_of, text_of
from dctv.engines.intervals import checked
from dctv.engines.sql.duckdb import place_of, write
from dctv.errors import BindError, DctvError, Place, UsageError
from dctv.patterns import pattern
from dctv.plan.node import Query
from dctv.sandbox import sandboxed
from dctv.temporary import SpillFolder

_SETTINGS = {"memory_limit": "max_memory", "threads": "threads"}
_BYTES = {"bytes": 1, **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGTPE", 1)}}

_CAST = pattern(r"^(?!').*(?:::|\bCAST\s*\()", re.IGNORECASE | re.DOTALL)
"""A cast that is written as one, of anything but a string."""

_LEAST = 7 * 1024**2
"""Bytes; below this even small queries fail."""

_PAUSE, _PATIENCE = 0.01, 500
"""The wait for the end of an interrupted query: seconds of each pause, and the most pauses."""


def _bytes(size: str) -> int:
    number, unit = size.split()
    return int(float(number) * _BYTES[unit])


def _limit_of(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many bytes a database may use."""
    ((limit,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    return _bytes(limit)


def _share_memory(limited: duckdb.DuckDBPyConnection, *others: duckdb.DuckDBPyConnection) -> None:
    """Divide the limit of one database among several, so that together they keep to it."""
    if not others:
        return
    part = max(_limit_of(limited) // (1 + len(others)), _LEAST)
    for one in (limited, *others):
        # One that uses more at the moment, or that a fault has ended, keeps its limit.
        with suppress(duckdb.OutOfMemoryException, duckdb.FatalException):
            one.execute(f"SET memory_limit = '{part}B'")


def _check_limit(connection: duckdb.DuckDBPyConnection) -> None:
    """Raise the engine's error if its memory limit is too small for any query."""
    if _limit_of(connection) < _LEAST:
        raise duckdb.OutOfMemoryException


def _unfit_limit(limit: object, error: duckdb.Error) -> UsageError:
    """Return the error for a limit that the engine rejects."""
    message = message_of(error)
    return _not_a_size(limit) if "unit for memory" in message else UsageError(message)


def _not_a_size(limit: object) -> UsageError:
    return UsageError(f"the limit of memory is a size such as 4GB, found `{limit}`")


def _refuse_negative(limit: object) -> None:
    """Raise an error for a limit below 0, which the engine would take for its default."""
    if str(limit).lstrip().startswith("-"):
        raise _not_a_size(limit)


def _too_small(limit: object) -> UsageError:
    return UsageError(f"a memory limit of `{limit}` is too small, expected at least 8MB")


def _runs_queries(connection: duckdb.DuckDBPyConnection) -> bool:
    try:
        connection.execute("SELECT 1")
    except duckdb.Error:
        return False
    return True


class DuckDB:
    """Two in-memory databases: one parallel, one with a single thread for results that depend on the order of rows.

    With one thread in all there is only one, as opening another takes time and half of the memory. They access only the
    files of `stored`, which dctv writes itself, files that statements may name, and spill files. They are opened on
    demand, and reopened after `close`. `on_zero_division` gets the number of rows that divided by zero, None where that
    was in a key of a window.
    """

    failures: tuple[type[BaseException], ...] = (duckdb.Error, ValueError, OSError, RuntimeError, MemoryError)

    def __init__(
        self,
        *,
        threads: int | None,
        memory_limit: str | None,
        on_zero_division: Callable[[int | None], None],
        spill: Path | None = None,
        stored: Path | None = None,
        named: Sequence[Path] = (),
    ) -> None:
        self._stored = stored
        self._named = named
        self._spill_root = spill
        self._memory_limit = memory_limit
        self._threads: int | str | None = threads
        self._on_zero_division = on_zero_division
        self._lock = threading.RLock()
        """Held while connections are created or used; a connection serves one thread at a time."""
        self._open: list[duckdb.DuckDBPyConnection] = []
        self._counting: set[int] = set()
        self._streams: WeakSet[EngineStream] = WeakSet()
        """Streams that are not closed, to find the places of their errors."""

    @cached_property
    def _spill(self) -> SpillFolder:
        return SpillFolder(self._spill_root)

    def _connect(self, threads: int | str | None) -> duckdb.DuckDBPyConnection:
        config: dict[str, Any] = {
            "temp_directory": str(self._spill.path),
            "error_on_division_by_zero": "false",
            "ieee_floating_point_ops": "false",
            # With the part of the query that they are about.
            "errors_as_json": "true",
        }
        if self._memory_limit is not None:
            _refuse_negative(self._memory_limit)
            config["memory_limit"] = self._memory_limit
        if threads is not None:
            config["threads"] = threads
        folders = [*([] if self._stored is None else [self._stored]), *(path for path in self._named if path.is_dir())]
        try:
            connection = sandboxed(config, folders, [path for path in self._named if not path.is_dir()])
            _check_limit(connection)
        except duckdb.OutOfMemoryException:
            raise _too_small(config.get("memory_limit")) from None
        except duckdb.Error as error:
            raise _unfit_limit(self._memory_limit, error) from None
        return connection

    @cached_property
    def _parallel(self) -> duckdb.DuckDBPyConnection:
        return self._beside_others(self._connect(self._threads))

    @cached_property
    def _serial(self) -> duckdb.DuckDBPyConnection:
        return self._beside_others(self._connect(1))

    def _is_serial(self) -> bool:
        """Whether one database serves both: the parallel one has a single thread, too."""
        return str(self._threads) == "1" and "_serial" not in self.__dict__

    def _opened(self) -> list[duckdb.DuckDBPyConnection]:
        return [self.__dict__[name] for name in ("_parallel", "_serial") if name in self.__dict__]

    def _beside_others(self, made: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
        """Let a new database share the memory limit with those that are open."""
        _share_memory(made, *self._opened())
        return made

    @cached_property
    def _describer(self) -> duckdb.DuckDBPyConnection:
        return self._parallel.cursor()

    @cached_property
    def _installed(self) -> frozenset[str]:
        """The lower-case names of all functions, including those that statements may not call."""
        with self._lock:
            rows = self._describer.execute("SELECT DISTINCT lower(function_name) FROM duckdb_functions()").fetchall()
        return frozenset(name for (name,) in rows)

    def functions(self) -> Mapping[str, str]:
        """Return the kind (`scalar`, `aggregate`, `window`) of callable functions, by lower-case name."""
        return KINDS

    def table_functions(self) -> frozenset[str]:
        """Return the lower-case names of functions that statements may call in FROM."""
        return TABLES | OF_FILES if self._named else TABLES

    def reads_files(self) -> bool:
        """Return whether statements may read files by name."""
        return bool(self._named)

    def refused_file(self, path: str) -> BindError:
        """Return the error for a statement that reads a file."""
        return BindError(f"a query may not read the file `{path}` by its name", hint=ALLOWING)

    def may_name(self, path: Path) -> bool:
        """Return whether statements may name this file, after resolving links."""
        whole = Path(os.path.realpath(path))
        named = [Path(os.path.realpath(one)) for one in self._named]
        return any(whole == one or (one in whole.parents and one.is_dir()) for one in named)

    def refused_target(self, path: str) -> BindError:
        """Return the error for a statement that writes a file."""
        if not self._named:
            return BindError(f"a query may not write the file `{path}`", hint=COPYING)
        return BindError(f"a query may not write the file `{path}`: the session does not allow it")

    def refusal(self, name: str) -> BindError | None:
        """Return the error for calling an existing function that is not allowed, None if there is none of that name."""
        if name in OF_FILES and not self._named:
            return BindError(f"`{name}` reads files, which a query may not", hint=ALLOWING)
        if name not in self._installed:
            return None
        if name in TABLES | OF_FILES:
            return BindError(f"`{name}` is allowed only in FROM")
        if name in KINDS:
            return BindError(f"`{name}` is not a table-valued function")
        return BindError(f"`{name}` is a function of the engine that dctv does not offer")

    def write(self, query: Query) -> str:
        """Write a query as DuckDB's SQL."""
        return write(query)

    def describe(self, query: Query, sources: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
        """Return names and types of the columns of a query over given sources."""
        sql = write(query)
        with self._lock:
            self._prepare(sql, self._parallel)
            try:
                for name, source in (sources or {}).items():
                    self._describer.register(name, source)
                rows = self._describer.execute("DESCRIBE " + sql).fetchall()
            except duckdb.Error as error:
                raise failure(error) from None
            finally:
                for name in sources or {}:
                    self._describer.unregister(name)
        return [(row[0], row[1]) for row in rows]

    def compute(self, query: Query) -> None:
        """Run a query without sources, to check that it succeeds."""
        with self._lock:
            try:
                self._describer.execute(write(query)).fetchall()
            except duckdb.Error as error:
                raise failure(error) from None
            except OverflowError:
                # The query has succeeded; Python's timedelta only cannot hold such a long interval.
                return

    def _prepare(self, sql: str, connection: duckdb.DuckDBPyConnection) -> None:
        """Define the counting functions if a query calls one: once in each database."""
        if ZERO_DIVISION not in sql or id(connection) in self._counting:
            return
        self._counting.add(id(connection))

        def zero_division(divisors: Any) -> Any:
            self._on_zero_division(len(divisors))
            return _nulls(len(divisors))

        def zero_division_in_key(divisors: Any) -> Any:
            # The engine computes keys several times.
            self._on_zero_division(None)
            return _nulls(len(divisors))

        functions = ((ZERO_DIVISION, zero_division, True), (ZERO_DIVISION_IN_KEY, zero_division_in_key, False))
        # The engine accepts these by name, its type stubs only as members of an enumeration.
        create: Any = connection.create_function
        for name, function, effects in functions:
            create(name, function, ["DOUBLE"], "DOUBLE", type="arrow", side_effects=effects, null_handling="special")

    def stream(self, query: Query, sources: Mapping[str, Any], *, serial: bool, profiled: bool = False) -> EngineStream:
        """Return a stream that runs the query whenever it is opened."""
        made = EngineStream(self, query, sources, serial=serial, profiled=profiled)
        with self._lock:
            self._streams.add(made)
        return made

    def forget(self, stream: EngineStream) -> None:
        """Forget a stream that is closed."""
        with self._lock:
            self._streams.discard(stream)

    def cursor(self, sql: str, *, serial: bool) -> duckdb.DuckDBPyConnection:
        """Return a connection on which a query can run."""
        with self._lock:
            connection = self._serial if serial and not self._is_serial() else self._parallel
            self._prepare(sql, connection)
            cursor = connection.cursor()
            self._open.append(cursor)
        return cursor

    def release(self, cursors: Sequence[duckdb.DuckDBPyConnection]) -> None:
        """Close the cursors of a query that has ended."""
        with self._lock:
            done = {id(one) for one in cursors}
            self._open = [one for one in self._open if id(one) not in done]
        for cursor in cursors:
            cursor.close()

    def memory_limit(self) -> int:
        """Return how many bytes queries may use."""
        with self._lock:
            return sum(map(_limit_of, self._opened() or [self._parallel]))

    def spill_folder(self) -> Path:
        """Return the folder for rows that do not fit into memory; it may not exist yet."""
        return self._spill.path

    def failure(self, error: BaseException, noted: Sequence[DctvError] = ()) -> DctvError:
        """Return dctv's error for an exception of a running query, with its place if the engine says it.

        A fault of the engine ends its database: later queries run in a new one.
        """
        text, location = text_of(error)
        if is_fault(text):
            self._leave_ended()
        known = next((one for one in noted if one.message in text), None)
        if known is not None:
            return known
        made = failure(error)
        if made.place is None:
            with self._lock:
                streams = list(self._streams)
            made.place = _place_of_cast(streams, location) or culprit(made.message, [one.query for one in streams])
            # A string of the query is to be corrected, and a cast that the query does not show is no help.
            if made.place is not None and _CAST.search(made.place.text) is not None and made.hint is None:
                made.hint = "TRY_CAST(value AS type) makes such values NULL"
        return made

    def _leave_ended(self) -> None:
        """Forget databases that run no more queries."""
        with self._lock:
            for name in ("_parallel", "_serial"):
                connection = self.__dict__.get(name)
                if connection is None or _runs_queries(connection):
                    continue
                self._counting.discard(id(connection))
                for kept in (name, "_describer") if name == "_parallel" else (name,):
                    self.__dict__.pop(kept, None)

    def finish(self) -> None:
        """Close the cursors of queries that have ended."""
        with self._lock:
            done, self._open = self._open, []
        for cursor in done:
            _close(cursor)

    def interrupt(self) -> None:
        """Interrupt every running query."""
        with self._lock:
            for cursor in self._open:
                cursor.interrupt()

    def settings(self) -> tuple[str, ...]:
        """Return the names of the settings that can be changed."""
        return tuple(_SETTINGS)

    def configure(self, name: str, value: object) -> None:
        """Change a setting."""
        if name == "memory_limit":
            self._try_limit(value)
        with self._lock:
            text = str(value).replace("'", "''")
            if name == "threads" and self._is_serial() and "_parallel" in self.__dict__:
                # Queries that depend on the order of rows may be running there.
                self.__dict__["_serial"] = self._parallel
                del self.__dict__["_parallel"]
                self.__dict__.pop("_describer", None)
            try:
                self._parallel.execute(f"SET {_SETTINGS[name]} = '{text}'")
            except duckdb.Error as error:
                message = message_of(error)
                if "Could not convert" in message:
                    message = f"`{name}` is a number, found `{value}`"
                raise UsageError(message) from None
            if name == "memory_limit":
                _share_memory(*self._opened())
        # Databases that are opened later have it, too.
        if name == "memory_limit":
            self._memory_limit = str(value)
        else:
            self._threads = str(value)

    def _try_limit(self, limit: object) -> None:
        """Try a memory limit on another database: a limit that is too small could not be raised again."""
        _refuse_negative(limit)
        try:
            with duckdb.connect(":memory:", config={"memory_limit": str(limit), "threads": 1}) as tried:
                _check_limit(tried)
        except duckdb.OutOfMemoryException:
            raise _too_small(limit) from None
        except duckdb.Error as error:
            raise _unfit_limit(limit, error) from None

    def close(self) -> None:
        """Release all resources."""
        self.finish()
        for name in ("_describer", "_parallel", "_serial"):
            connection = self.__dict__.pop(name, None)
            if connection is not None:
                _close(connection)
        self._counting.clear()
        spill: SpillFolder | None = self.__dict__.pop("_spill", None)
        if spill is not None:
            spill.close()


def _close(connection: duckdb.DuckDBPyConnection) -> None:
    """Close a connection; a query that another thread reads is interrupted first."""
    for _ in range(_PATIENCE):
        try:
            connection.close()
        except duckdb.ResourceInUseException:
            connection.interrupt()
            time.sleep(_PAUSE)
        else:
            return
    connection.close()


def _place_of_cast(streams: Sequence[EngineStream], location: tuple[int, int] | None) -> Place | None:
    """Return where a cast is written that is at some bytes of a query.

    The engine does not say which query failed: several may have a cast there.
    """
    found = [] if location is None else [stream.place(location) for stream in streams]
    places = {place for place in found if place is not None}
    return places.pop() if len(places) == 1 else None


def _nulls(count: int) -> Any:
    import pyarrow as pa

    return pa.nulls(count, pa.float64())


class EngineStream:
    """A query of the engine; each opening runs it again."""

    def __init__(
        self, engine: DuckDB, query: Query, sources: Mapping[str, Any], *, serial: bool, profiled: bool = False
    ) -> None:
        self._engine = engine
        self.query = query
        self._sql = write(query)
        self._sources = sources
        self._serial = serial
        self._profiled = profiled
        self._cursors: list[duckdb.DuckDBPyConnection] = []

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        cursor = self._engine.cursor(self._sql, serial=self._serial)
        self._cursors.append(cursor)
        if self._profiled:
            cursor.execute("PRAGMA enable_profiling = 'no_output'")
        for name, source in self._sources.items():
            cursor.register(name, source() if callable(source) else source)
        return checked(cursor.sql(self._sql)).__arrow_c_stream__()

    def place(self, location: tuple[int, int]) -> Place | None:
        """Return where the expression is written that these bytes of the SQL stand for, None if it is not known."""
        return place_of(self.query, self._sql, *location)

    def interrupt(self) -> None:
        """Interrupt its runs."""
        for cursor in list(self._cursors):
            cursor.interrupt()

    def close(self) -> None:
        """Release its runs and sources, which refer to each other through the engine."""
        self._engine.forget(self)
        self._engine.release(self._cursors)
        self._cursors.clear()
        self._sources = {}

    def profiles(self) -> list[Profile]:
        """Return the costs of its runs."""
        return [made for cursor in self._cursors if (made := _profile(cursor)) is not None]


def _profile(cursor: duckdb.DuckDBPyConnection) -> Profile | None:
    """Return the cost of a cursor's last query; None if it was not read to its end."""
    try:
        found = json.loads(cursor.get_profiling_information("json"))
    except (duckdb.Error, ValueError):
        return None
    if "system" not in found:
        return None
    system = found["system"]
    return Profile(
        found["query"]["cpu_time"],
        system["peak_buffer_memory"],
        system["peak_temp_dir_size"],
        found["io"]["total_bytes_read"],
    )
