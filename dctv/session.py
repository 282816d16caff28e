"""The door: mount traces, run statements, get results."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from dctv import readers
from dctv.bind.binder import Binder
from dctv.bind.library import library_function
from dctv.bind.parameters import Params, numbered, option_of, stated_option
from dctv.catalog import filtering
from dctv.catalog.alignment import aligned
from dctv.catalog.expected import RAW
from dctv.catalog.files import check_options, find_traces, list_files
from dctv.catalog.given import scan_of, stored
from dctv.catalog.listing import MountInfo, TableInfo
from dctv.catalog.mount import Mount, attach, check_name
from dctv.catalog.namespace import Catalog, StoredTable
from dctv.catalog.stdlib import library
from dctv.contracts.faults import guarded
from dctv.contracts.function_rule import FunctionRule
from dctv.contracts.reader import LoadContext, Reader
from dctv.contracts.shelf import Shelf, scan
from dctv.contracts.span_operator import SpanOperator
from dctv.contracts.table_function import TableFunction
from dctv.draw.drawn import drawn
from dctv.engines.allowed import AllowedFiles, named_files
from dctv.engines.duckdb import FAILURES, DuckDB, failure
from dctv.errors import AssertionFailed, DctvError, Interrupted, Source, TraceError, UsageError, WarningLog
from dctv.functions import aggregate, scalar, span, table
from dctv.functions.table.generate_sequential_spans import quantize
from dctv.index.database import Index
from dctv.index.histories import HistoryShelf
from dctv.index.mounting import AUTO_BYTES, Narrator, Policy, When, find_by_paths, mount_of, with_index
from dctv.index.sources import Stored
from dctv.index.trace import Trace
from dctv.plan.nodes import Scan
from dctv.processors import usable_processors
from dctv.record import replace
from dctv.rewrite.graph import readers_first
from dctv.rewrite.settings import Settings
from dctv.run import mounted_states, timelines
from dctv.run.execute import Executor, Hooks, Shelves
from dctv.run.recursion import deep_recursion
from dctv.run.result import Asserted, Control, Done, Outcome, Result
from dctv.run.state_systems import Provided, options_of, provide, system_of
from dctv.run.tracks import timeline_at
from dctv.run.turn import in_turn
from dctv.syntax import ast
from dctv.syntax.parse import parse, parse_select
from dctv.types.schema import Kind, Schema

if TYPE_CHECKING:
    from dctv.index.order import Order
    from dctv.index.order import Outcome as IndexOutcome
    from dctv.provenance.database import Written
    from dctv.provenance.groups import Order as Reorganization
    from dctv.run.histories import Provider
    from dctv.run.matches import Matches
    from dctv.state import StateSystem
    from dctv.timeline.timeline import Timeline
    from dctv.web.serving import Serving

Progress = Callable[[str, int, int], None]


class Session:
    """Traces, views and settings of one sitting; close it, or use it in a `with` statement.

    `index` tells whether traces are read by their indexes: True builds those that are missing, `"auto"` those of large
    traces, False looks for none; large are those of `large` bytes of text. They are in `index_dir`, in the folder that
    DCTV_INDEX_DIR names, or in the cache.

    Queries read files by MOUNT TRACE only. `allow_files` lets them name files in FROM as well: all, or some files and
    folders. `temp_directory` is where rows go that do not fit into memory, the cache unless told.

    Several threads may use one session: calls wait for each other, results are read side by side. `interrupt` ends what
    runs in all of them, and `warnings` tells those of the last call of any.
    """

    def __init__(
        self,
        *,
        threads: int | None = None,
        memory_limit: str | None = None,
        progress: Progress | None = None,
        index: When = "auto",
        index_dir: str | Path | None = None,
        large: int = AUTO_BYTES,
        allow_files: AllowedFiles = False,
        temp_directory: str | Path | None = None,
    ) -> None:
        self._threads = threads or usable_processors()
        self._memory_limit = memory_limit
        self._progress = progress
        folder = index_dir or os.environ.get("DCTV_INDEX_DIR") or None
        self._policy = Policy(index, None if folder is None else Path(folder), large)
        self._allowed = named_files(allow_files)
        self._spill = None if temp_directory is None else Path(temp_directory)
        self._catalog = Catalog()
        self._settings = Settings()
        self._mounts: dict[tuple[str, ...], Mount] = {}
        self._log = WarningLog()
        self._cancels: list[Any] = []
        self._alone: list[Any] = []
        """What ends kernels that run without a query."""
        self._interrupted = False
        self.turn = threading.RLock()
        """Held by the thread that is in the session."""
        self._reading = 0
        """How many results are being read."""
        self._counting = threading.Lock()
        self._base: Path | None = None
        self._catalog.fill("dctv", _functions)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def _engine(self) -> DuckDB:
        engine = DuckDB(
            threads=self._threads,
            memory_limit=self._memory_limit,
            on_zero_division=self._log_zero_division(),
            spill=self._spill,
            stored=self._policy.folder(),
            named=self._allowed,
        )
        # A session that was not closed is closed at exit: the engine complains when it outlives the interpreter.
        weakref.finalize(self, engine.close)
        return engine

    @cached_property
    def _readers(self) -> Mapping[str, Reader]:
        return Shelf(readers, record=Reader, taken=guarded)

    @cached_property
    def _shelves(self) -> Shelves:
        return Shelves(Shelf(scalar, aggregate, record=FunctionRule), Shelf(span, record=SpanOperator))

    def _log_zero_division(self) -> Callable[[int], None]:
        log = self._log
        return lambda rows: log.add("division by zero gave NULL", rows)

    def _executor(self, params: Params | None = None) -> Executor:
        control = Control(
            FAILURES, self._failure, self.interrupt, lambda: self._interrupted, self._begin, self._finish, drawn
        )
        hooks = Hooks(
            self._mount_statement,
            self._unmount,
            self._new_cancel,
            self._mounts,
            self._report,
            lambda: self._base,
            deep_recursion,
            control,
        )
        return Executor(self._catalog, self._engine, self._shelves, hooks, self._settings, numbered(params), self._log)

    def _new_cancel(self) -> object:
        from dctv import _kernels  # compiled; only wanted when a query runs

        cancel = _kernels.Cancel()
        self._cancels.append(cancel)
        return cancel

    def _failure(self, error: BaseException) -> DctvError:
        return Interrupted("interrupted") if self._interrupted else failure(error)

    def _begin(self) -> None:
        with self._counting:
            self._reading += 1

    def _finish(self) -> None:
        with self._counting:
            self._reading -= 1
            if self._reading == 0:
                self._cancels.clear()
                if "_engine" in self.__dict__:
                    self._engine.finish()

    @in_turn
    def mount(self, path: str | Path | Sequence[str | Path], name: str, /, **options: object) -> None:
        """Mount a trace: a file, a folder or a pattern, or several of them as one, under a dotted name.

        Of the options, `align` and `time` are in ns, or a `timedelta`.

        Raises:
            TraceError: it cannot be read.
            BindError: the name is taken.
        """
        self._log.entries.clear()
        paths = [path] if isinstance(path, str | Path) else list(path)
        for one in paths:
            if not isinstance(one, str | Path):
                raise UsageError(f"expected a path, found {type(one).__name__}")
        given = {key: option_of(value) for key, value in options.items()}
        self._mount([str(one) for one in paths], _path(name), None, given)

    @in_turn
    def add_table(
        self,
        name: str,
        data: object,
        *,
        kind: str = "regular",
        partitions: Sequence[str] = (),
        units: Mapping[str, str] | None = None,
    ) -> None:
        """Give data of the program a name in SQL.

        `data` is a pyarrow Table or Dataset, a pandas or polars frame, or a dict of columns; `kind` is `regular`,
        `event` (with a column `_ts`) or `span` (with `_ts` and `_duration`); units come from `units` or the Arrow
        fields' metadata, times are in ns. Events and spans are checked and sorted once, here, and copied.

        Raises:
            UsageError: `data` is no table, or `kind` no kind.
            BindError: the name is taken, or a column is missing.
            EngineError: the spans overlap, or a time is impossible.
        """
        parts = check_name(self._catalog, _path(name))
        scan = scan_of(name, data, units or {}, self._engine)
        if kind != Kind.REGULAR.value:
            from dctv.functions.table.as_spans import AS_EVENTS, AS_SPANS

            function = {"span": AS_SPANS, "event": AS_EVENTS}.get(kind)
            if function is None:
                raise UsageError(f"the kind of a table is regular, event or span, found `{kind}`")
            plan = self._executor().called(function, scan, partition=list(partitions))
            scan = stored(name, plan.schema, self._executor().result(plan).arrow())
        self._catalog.add(parts, StoredTable(lambda: scan, "a table of the program"))

    def _mount_statement(self, statement: ast.MountTrace) -> str:
        options = {name.text: self._option(name.text, value) for name, value in statement.options}
        try:
            return self._mount(statement.file.text, statement.path, self._base, options)
        except TraceError as error:
            raise TraceError(error.message, error.place or statement.file.place, hint=error.hint) from None

    def _option(self, name: str, value: ast.Argument) -> object:
        from dctv.bind.arguments import bind_argument

        return stated_option(name, bind_argument(Binder(self._executor().environment()), value))

    def _mount(
        self, given: str | Sequence[str], name: ast.Path, base: Path | None, options: Mapping[str, object]
    ) -> str:
        parts = check_name(self._catalog, name)
        self._log.entries.clear()
        paths = [given] if isinstance(given, str) else list(given)
        self._interrupted = False
        align = options.get("align")
        filters = filtering.arguments({k: v for k, v in options.items() if k in filtering.FILTERS})
        own = {k: v for k, v in options.items() if k != "align" and k not in filtering.FILTERS}
        trace, index = self._found(paths, base, name.text, own)
        path, reader = ", ".join(paths), trace.reader.name
        shelf = HistoryShelf(trace, self._policy.index_dir) if self._policy.when else None
        narrator = Narrator(name.text, self._report, self._log.add)
        mount = replace(mount_of(parts, path, trace, with_index(trace, index, self._policy, narrator)), shelf=shelf)
        if align is not None:
            mount = aligned(mount, align, self._mounts, self._log.add)
        attach(self._catalog, mount, library(), [quantize(mount.trace.last_ts)], library_function)
        if not trace.reader.general and not any(table.startswith(RAW) for table in mount.trace.tables):
            self._log.add(f"found no event in `{path}`, which was read as {reader}")
        if filters:
            filtering.filter_views(self._catalog, parts, mount.reader, library(), filters)
        for one in (mounted_states, timelines):
            one.offer(self._catalog, mount, lambda: self._executor().means())
        self._mounts[parts] = mount
        return f"mounted {path} as {name.text} ({reader}, {len(mount.trace.tables)} tables)"

    def _found(
        self, paths: Sequence[str], base: Path | None, label: str, options: Mapping[str, object]
    ) -> tuple[Trace, Index | None]:
        """Return the trace that some paths mean, and its index if that told the format."""
        context = LoadContext(options, self._threads, lambda done, total: self._report(label, done, total))
        listed = list_files(paths, self._readers, base)
        known = find_by_paths(listed, self._readers, options, self._policy)
        if known is not None:
            return Trace(listed, known[0], context), known[1]
        files = find_traces(paths, self._readers, base)
        check_options(files.reader, options)
        return Trace(files.paths, files.reader, context), None

    @in_turn
    def index(self, path: str | Path, order: Order | None = None, **options: object) -> IndexOutcome:
        """Build the index and the column store of a trace, or what they lack.

        Raises:
            IndexFailed: they cannot be written, or the trace cannot be indexed.
            TraceError: it cannot be read.
        """
        from dctv.index.order import fulfil

        return fulfil(*self._ordered(str(path), order, options), str(path), self._report)

    @in_turn
    def check_index(self, path: str | Path, order: Order | None = None, **options: object) -> list[str]:
        """Compare the index of a trace with the trace; return in words what differs.

        Raises:
            IndexUnusable: there is no index that could be compared.
        """
        from dctv.index.order import differences

        return differences(*self._ordered(str(path), order, options), str(path), self._report)

    def _ordered(self, path: str, order: Order | None, options: Mapping[str, object]) -> tuple[Trace, Order]:
        from dctv.index.order import Order

        wanted = order or Order()
        self._interrupted = False
        files = find_traces([path], self._readers, None)
        check_options(files.reader, options)
        context = LoadContext(options, self._threads, lambda _done, _total: None)
        folder = wanted.index_dir or self._policy.index_dir
        return Trace(files.paths, files.reader, context), replace(wanted, index_dir=folder)

    @in_turn
    def reorganize(self, paths: Sequence[str], order: Reorganization) -> tuple[list[Written], list[tuple[str, int]]]:
        """Write the events of a trace to a file for each group; return the files and warnings.

        Raises:
            TraceError: the trace cannot be read, or its format has no chunks.
            QueryError: a predicate does not follow its grammar, or does not fit the trace.
            UsageError: the target is not empty, or a name cannot be the name of a file.
        """
        from dctv.provenance.groups import carried_out  # SQLite and more; only wanted here

        files = find_traces(paths, self._readers, None)
        self._interrupted = False
        context = LoadContext({}, self._threads, lambda done, total: self._report("reorganizing", done, total))
        written, log = carried_out(order, files, context, self._engine)
        return written, list(log.entries.items())

    def _report(self, label: str, done: int, total: int) -> None:
        if self._interrupted:
            raise Interrupted("interrupted")
        if self._progress is not None:
            self._progress(label, done, total)

    def _unmount(self, parts: tuple[str, ...]) -> None:
        for mounted in [m for m in self._mounts if m[: len(parts)] == parts]:
            del self._mounts[mounted]

    def execute(
        self, text: str, params: Params | None = None, *, source_name: str = "<query>", base: Path | None = None
    ) -> Iterator[Outcome]:
        """Run the statements of a text one after another; each runs when its outcome is asked for.

        `base` is the folder that relative paths of MOUNT TRACE start from.
        """
        with self.turn, deep_recursion():
            self._interrupted = False
            executor = self._executor(params)
            statements = parse(Source(source_name, text))
        for statement in statements:
            if self._interrupted:
                raise Interrupted("interrupted")
            with self.turn, deep_recursion():
                self._log.entries.clear()
                self._base = base
                outcome = executor.run(statement)
            yield outcome

    @in_turn
    def sql(self, text: str, params: Params | None = None) -> Result:
        """Run a text and return the result of its last statement.

        Raises:
            AssertionFailed: an ASSERT does not hold.
        """
        last: Outcome | None = None
        for outcome in self.execute(text, params):
            if isinstance(outcome, Asserted) and not outcome.passed:
                raise AssertionFailed(f"assertion failed: {outcome.message}", outcome.place)
            last = outcome
        if isinstance(last, Result):
            return last
        message = last.message if isinstance(last, Done | Asserted) else "nothing to run"
        return self._executor().rows({"status": "VARCHAR"}, [[message]])

    @in_turn
    def check(self, text: str) -> list[DctvError]:
        """Return what is wrong with a text, without running it."""
        with deep_recursion():
            try:
                return list(self._executor().faults(parse(Source("<query>", text))))
            except DctvError as error:
                return [error]

    @in_turn
    def create_state_system(
        self,
        name: str,
        provider: Provider,
        select: str,
        *,
        version: str | None = None,
        replace: bool = False,
        **options: Any,
    ) -> StateSystem:
        """Make a state system of the changes that a function makes of a select's rows; SQL knows it by its name.

        `provider(batches, states)` is called once, with pyarrow record batches and the state system that it is to
        change. With a version, that of a trace's own namespace which reads nothing but that trace is kept beside the
        trace's index, and reused as long as version, select and trace are the same. Options are `backend` (`full`,
        `memory` or `none`), `start` and `end`, in ns.

        Raises:
            BindError: the name is taken, or the select cannot be bound.
            StateError: a change cannot be made.
        """
        self._interrupted = False
        self._log.entries.clear()
        source = Source("<select>", select)
        with deep_recursion():
            provided = Provided(provider, parse_select(source), version)
            return provide(_path(name), provided, options_of(options), self._executor().means(), replaces=replace)

    @in_turn
    def state_system(self, name: str) -> StateSystem:
        """Return a state system by its name, such as `t.state`; it is made if it is not there.

        Raises:
            BindError: there is none of this name.
        """
        self._interrupted = False
        self._log.entries.clear()
        return system_of(_path(name), self._catalog)

    @in_turn
    def timeline(self, name: str) -> Timeline:
        """Return the timeline of a mounted trace or a state system; it is made if it is not there.

        Raises:
            UsageError: no trace is mounted and no state system made by this name.
        """
        self._interrupted = False
        self._log.entries.clear()
        return timeline_at(name, self._catalog)

    @in_turn
    def matches(self, name: str, where: str | None = None, *, source_name: str = "<filter>") -> Matches:
        """Return the events of a mounted trace that match a filter such as `cat == "POSIX" and dur > 1ms`.

        Raises:
            QueryError: the filter does not follow its grammar, or does not fit the trace.
        """
        from dctv.run.matches import Matches, find_matches
        from dctv.syntax.filter import parse_filter

        self._interrupted = False
        self._log.entries.clear()
        mount = self._mounts.get(tuple(name.split(".")))
        if mount is None:
            raise UsageError(f"no trace is mounted as `{name}`")
        with deep_recursion():
            tree = None if where is None else parse_filter(Source(source_name, where))
            found = find_matches(self._catalog, mount, self._readers[mount.reader], tree, self._log)
        return Matches(*found, self._executor().result)

    def interrupt(self) -> None:
        """End what runs, from another thread; it raises Interrupted and the session stays usable."""
        self._interrupted = True
        for cancel in [*self._cancels, *self._alone]:
            cancel.set()
        if "_engine" in self.__dict__:
            self._engine.interrupt()

    @in_turn
    def tables(self, prefix: str = "") -> list[TableInfo]:
        """Return everything that can stand in FROM below a dotted prefix."""
        return [TableInfo(*row) for row in self._executor().listing(prefix)]

    @in_turn
    def columns(self, name: str) -> Schema | None:
        """Return the schema of a table by its dotted name, or None."""
        try:
            return Binder(self._executor().environment()).table(ast.TableName(_path(name))).schema
        except DctvError:
            return None

    def stored_tables(self, name: str) -> set[str]:
        """Return the full names of the stored tables that a table or view is made of, by its dotted name.

        Raises:
            BindError: there is no such table.
        """
        plan = Binder(self._executor().environment()).table(ast.TableName(_path(name)))
        return {one.name for one in readers_first(plan) if isinstance(one, Scan)}

    def mounts(self) -> list[MountInfo]:
        """Return the mounted traces in the order in which they were mounted."""
        return [MountInfo(".".join(one.parts), one.path, one.reader) for one in self._mounts.values()]

    def properties(self, name: str) -> Mapping[str, str]:
        """Return the facts about a mounted trace as a whole, without running a query."""
        return self._mounts[tuple(name.split("."))].trace.properties

    def stored_file(self, name: str, table: str) -> Path | None:
        """Return the file of the column store that holds a table of a mounted trace, None if there is no such file.

        Raises:
            IndexUnusable: the file is missing or damaged.
        """
        source = self._mounts[tuple(name.split("."))].sources.get(table)
        return source.whole() if isinstance(source, Stored) else None

    @contextmanager
    def kernel(self) -> Iterator[Any]:
        """Give a kernel that is run without a query what `interrupt` sets, and make errors of its failures."""
        self._interrupted = False
        from dctv import _kernels  # compiled; only wanted when a trace is read

        cancel = _kernels.Cancel()
        self._alone.append(cancel)
        try:
            yield cancel
        except ValueError as error:
            raise self._failure(error) from None
        finally:
            self._alone.remove(cancel)

    @in_turn
    def functions(self) -> list[str]:
        """Return the names of scalar, aggregate and window functions."""
        named = [n for n in self._engine.functions() if n[0].isalpha()]
        return sorted({*named, *self._shelves.rules})

    @property
    def spill_folder(self) -> Path:
        """The folder for rows that do not fit into memory; it is made when it is needed."""
        return self._engine.spill_folder()

    @property
    def changes(self) -> int:
        """How often tables and views have changed; until they do, a query gives the same rows."""
        return self._catalog.changes

    def incomplete(self) -> list[str]:
        """Return what kept mounted traces from being read whole."""
        return [f"{'.'.join(m.parts)}: {reason}" for m in self._mounts.values() for reason in m.incomplete]

    def warnings(self) -> list[str]:
        """Return what the last mount, statement or filter was warned of."""
        return list(self._log.entries)

    def serve(self, *, port: int = 0) -> Serving:
        """Serve this session's page on the loopback interface, on a free port unless one is told; return at once.

        Raises:
            UsageError: the port is taken, or `dctv[ui]` is not installed.
        """
        from dctv.web.serving import serve  # an extra

        serving = serve(self, port=port)
        self._progress = serving.also_told(self._progress)
        return serving

    @in_turn
    def close(self) -> None:
        """Free everything."""
        if "_engine" in self.__dict__:
            self._engine.close()
            del self.__dict__["_engine"]
        self._catalog = Catalog()
        for mount in self._mounts.values():
            mount.close()
        self._mounts.clear()


def _functions() -> Mapping[str, TableFunction]:
    found = scan(table, TableFunction).values()
    return {name: function for function in found for name in (function.name, *function.aliases)}


def _path(name: str) -> ast.Path:
    return ast.Path(tuple(ast.Name(part) for part in name.split(".")))
