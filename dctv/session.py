"""The door: mount traces, run statements, get results."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from dctv.bind.parameters import Params, check_count, option_of
from dctv.catalog.files import find_traces
from dctv.catalog.listing import MountInfo, TableInfo
from dctv.catalog.namespace import Macro
from dctv.contracts.reader import LoadContext
from dctv.contracts.table_function import TableFunction
from dctv.engines.allowed import AllowedFiles
from dctv.errors import DctvError, SourceText, UsageError
from dctv.home import expanded
from dctv.index.location import configured_folder
from dctv.index.mounting import AUTO_BYTES, IndexPolicy, When
from dctv.index.sources import StoredFileSource
from dctv.opening import open_context
from dctv.plan.nodes import Scan
from dctv.processors import usable_processors
from dctv.progress import Progress, ProgressListener
from dctv.rewrite.graph import readers_first
from dctv.run import execute, indexing, mounting
from dctv.run.exclusive import exclusive
from dctv.run.fleet.mounting import WantedFleet, mount_fleet
from dctv.run.limits import Limits
from dctv.run.listing import in_order, listing
from dctv.run.plans import environment, rows_of, table_of
from dctv.run.program_data import GivenTable, add_table
from dctv.run.python_warnings import issue_warnings
from dctv.run.recursion import deep_recursion
from dctv.run.result import Asserted, Done, Outcome, Result
from dctv.run.shown_lists import functions
from dctv.run.snapshot import Snapshot, restore, snapshot
from dctv.run.state_systems import ProvidedChanges, options_of, provide, system_of
from dctv.run.trace_workers import TraceWorkers
from dctv.run.tracks import timeline_at
from dctv.run.usage import usage
from dctv.syntax import ast
from dctv.syntax.parse import parse, parse_select
from dctv.types.schema import Schema
from dctv.worker import call

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from dctv._kernels import Cancel
    from dctv.index.request import IndexOutcome, IndexRequest
    from dctv.provenance.database import WrittenFile
    from dctv.provenance.groups import ReorganizeRequest
    from dctv.run.histories import Provider
    from dctv.run.matches import Matches
    from dctv.state import StateSystem
    from dctv.timeline.timeline import Timeline
    from dctv.web.serving import Serving


class Session:
    """Traces, views and settings of one sitting; close it, or use it in a `with` statement.

    `index` says whether traces are read by their indexes: True builds those that are missing, `"auto"` those of large
    traces, False looks for none; large are those of `large` bytes of text. They are in `index_dir`, in the folder that
    DCTV_INDEX_DIR names, or in the cache.

    Queries read files by MOUNT TRACE only, and write none. `allow_files` lets them name files in FROM and in COPY as
    well: all, or some files and folders. `temp_directory` is where rows go that do not fit into memory, else the cache.

    `engine` is the address of a Spark Connect server, such as `sc://host:15002`, which then carries queries out as far
    as it can. `SET engine` goes back to the local one, `duckdb`, or this one again; with `allow_engines` to any: data
    from an engine can run code in this process.

    Warnings of `mount`, `sql` and `matches`, and the reasons why a trace could not be read whole, are issued through
    Python's `warnings` as `DctvWarning`, unless `warn` is False; the methods `warnings` and `incomplete` return them.

    Several threads may use one session: calls wait for each other, results are read concurrently. `interrupt` ends all
    running work, and `warnings` returns those of the last call of any thread.
    """

    def __init__(
        self,
        *,
        threads: int | None = None,
        memory_limit: str | None = None,
        progress: ProgressListener | None = None,
        index: When = "auto",
        index_dir: str | Path | None = None,
        large: int = AUTO_BYTES,
        allow_files: AllowedFiles = False,
        temp_directory: str | Path | None = None,
        engine: str | None = None,
        allow_engines: bool = False,
        warn: bool = True,
    ) -> None:
        if threads is not None and not isinstance(threads, int):
            raise UsageError(f"the number of threads is a whole number, found {type(threads).__name__}")
        policy = IndexPolicy(index, configured_folder(index_dir), large)
        spill = None if temp_directory is None else expanded(temp_directory)
        limits = Limits(policy, usable_processors() if threads is None else threads, memory_limit, spill)
        workers = TraceWorkers(call, limits.threads)
        self._context = open_context(limits, Progress(progress), workers, allow_files, allow_engines=allow_engines)
        # A session that was not closed is closed at exit: the engine complains when it outlives the interpreter.
        weakref.finalize(self._context.running, self._context.engine.close)
        self._warn = warn
        self._partial = 0
        """The number of traces already reported as incomplete."""
        self.lock: threading.RLock = threading.RLock()
        """Held by the thread that is in the session."""
        if engine is not None:
            self._context.choose_engine(engine)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @exclusive
    def mount(self, path: str | Path | Sequence[str | Path], name: str, /, **options: object) -> None:
        """Mount a trace: a file, a folder or a pattern, or several of them as one, under a dotted name.

        Of the options, `align` and `time` are in ns, or a `timedelta`; `format` is the name of a format, or an
        ending of its files, to override detection by content.

        Raises:
            TraceError: it cannot be read.
            BindError: the name is taken.
        """
        self._context.begin()
        paths = [path] if isinstance(path, str | Path) else list(path)
        for one in paths:
            if not isinstance(one, str | Path):
                raise UsageError(f"expected a path, found {type(one).__name__}")
        if not isinstance(name, str):
            raise UsageError(
                f"expected a name, found {type(name).__name__}", hint="the path comes first, then the name"
            )
        given = {key: option_of(value) for key, value in options.items()}
        mounting.mount(mounting.Wanted([str(one) for one in paths], ast.Path.of(name), given), self._context)
        self._issue_warnings()

    @exclusive
    def mount_traces(self, pattern: str | Path, name: str, /, **options: object) -> None:
        """Mount the traces that a pattern matches as one, whose tables have the rows of all, each with its `_trace`.

        Each file or folder that matches is a trace of its own. Of the options, `manifest` names a CSV or Parquet file
        with a row for each trace; the others are those of `mount`, but for `align`.

        Raises:
            TraceError: there are none, or none can be read.
            BindError: the name is taken.
        """
        self._context.begin()
        given = {key: option_of(value) for key, value in options.items()}
        mount_fleet(WantedFleet(str(pattern), ast.Path.of(name), given), self._context)
        self._issue_warnings()

    @property
    def executor(self) -> Executor | None:
        """The executor for traces of fleets: one of the program, such as Dask's; None for processes of our own.

        Its workers must be able to import dctv, and see the traces under the same paths.
        """
        return self._context.workers.executor

    @executor.setter
    def executor(self, executor: Executor | None) -> None:
        self._context.workers.executor = executor

    @exclusive
    def add_table(
        self,
        name: str,
        data: object,
        *,
        kind: str = "regular",
        partitions: str | Sequence[str] = (),
        units: Mapping[str, str] | None = None,
    ) -> None:
        """Register data of the program under a name in SQL.

        `data` is a pyarrow Table or Dataset, a pandas or polars frame, a dict of columns, or another source of an Arrow
        stream, such as a result; `kind` is `regular`, `event` (with a column `_ts`) or `span` (with `_ts` and
        `_duration`); units come from `units` or the Arrow fields' metadata, times are in ns. Durations become
        integers with their own unit. Events and spans are checked and sorted once, here, and copied.

        Raises:
            UsageError: `data` is no table, `kind` no kind, or a column has no name or a type that cannot be kept.
            BindError: the name is taken, or a column is missing.
            EngineError: the spans overlap, or a time is impossible.
        """
        named = [partitions] if isinstance(partitions, str) else partitions
        add_table(GivenTable(name, data, kind, named, units or {}), self._context)

    @exclusive
    def index(
        self, path: str | Path, order: IndexRequest | None = None, *, timeline: bool = False, **options: object
    ) -> IndexOutcome:
        """Build the index and the column store of a trace, or their missing parts, and with `timeline` its timeline.

        Raises:
            IndexFailed: they cannot be written, or the trace cannot be indexed.
            TraceError: it cannot be read.
        """
        from dctv.index.request import IndexRequest

        self._context.begin()
        return indexing.index(str(path), order or IndexRequest(), options, self._context, timeline=timeline)

    @exclusive
    def check_index(self, path: str | Path, order: IndexRequest | None = None, **options: object) -> list[str]:
        """Compare the index of a trace with the trace; return descriptions of the differences.

        Raises:
            IndexUnusable: there is no index that could be compared.
        """
        from dctv.index.request import IndexRequest

        self._context.begin()
        return indexing.indexer(self._context).check(str(path), order or IndexRequest(), options)

    @exclusive
    def reorganize(
        self, paths: Sequence[str], order: ReorganizeRequest
    ) -> tuple[list[WrittenFile], list[tuple[str, int]]]:
        """Write the events of a trace to a file for each group; return the files and warnings.

        Raises:
            TraceError: the trace cannot be read, or its format has no chunks.
            QueryError: a predicate does not follow its grammar, or does not fit the trace.
            UsageError: the target is not empty, or a name cannot be the name of a file.
        """
        from dctv.provenance.groups import carried_out  # SQLite and more; only wanted here

        context = self._context
        context.progress.begin()
        files = find_traces(paths, context.registries.readers, None)
        loading = LoadContext({}, context.threads, partial(context.progress.report, "reorganizing"))
        written, log = carried_out(order, files, loading, context.engine)
        return written, list(log.entries.items())

    def execute(
        self, text: str, params: Params | None = None, *, source_name: str = "<query>", base: Path | None = None
    ) -> Iterator[Outcome]:
        """Run the statements of a text one after another; each runs when the iterator reaches it.

        `base` is the folder that relative paths of MOUNT TRACE start from.
        """
        context = self._context
        with self.lock, deep_recursion():
            context.progress.begin()
            known = environment(context, params, base)
            statements = parse(SourceText(source_name, text))
            check_count(params, statements)
        for statement in statements:
            context.progress.check()
            with self.lock, deep_recursion():
                context.log.clear()
                outcome = execute.run(statement, context, known)
            yield outcome

    @exclusive
    def sql(self, text: str, params: Params | None = None) -> Result:
        """Run a text and return the result of its last statement.

        Parameters are given in order, for `?`, or by name, for `:name`: numbers (numpy's, pandas'), texts, bytes,
        bools, None, dates, and durations, which have the unit ns.

        Raises:
            QueryError: the text is wrong, or a statement fails; a result fails when it is read.
            UsageError: more parameters are given in order than the text has.
            AssertionFailed: an ASSERT or EXPECT does not hold.
        """
        last: Outcome | None = None
        for outcome in self.execute(text, params):
            if isinstance(outcome, Asserted) and not outcome.passed:
                raise outcome.failure()
            self._issue_warnings()
            last = outcome
        if isinstance(last, Result):
            last.warns = self._warn
            return last
        message = last.message if isinstance(last, Done | Asserted) else "nothing to run"
        return rows_of({"status": "VARCHAR"}, [[message]], self._context)

    @exclusive
    def check(self, text: str) -> list[DctvError]:
        """Return the errors in a text, without running it."""
        with deep_recursion():
            try:
                return list(execute.faults(parse(SourceText("<query>", text)), environment(self._context)))
            except DctvError as error:
                return [error]

    @exclusive
    def create_state_system(
        self,
        name: str,
        provider: Provider,
        select: str,
        *,
        version: str | None = None,
        replace: bool = False,
        **options: object,
    ) -> StateSystem:
        """Make a state system from the changes that a function derives from a select's rows, and register it in SQL.

        `provider(batches, states)` is called once, with pyarrow record batches and the state system that it is to
        change. With a version, that of a trace's own namespace which reads nothing but that trace is kept beside the
        trace's index, and reused as long as version, select and trace are the same. Options are `backend` (`full`,
        `memory` or `none`), `start` and `end`, in ns; without them, a history covers the trace that is read.

        Raises:
            BindError: the name is taken, or the select cannot be bound.
            StateError: a change cannot be made.
        """
        self._context.begin()
        with deep_recursion():
            provided = ProvidedChanges(provider, parse_select(SourceText("<select>", select)), version)
            return provide(ast.Path.of(name), provided, options_of(options), self._context, replaces=replace)

    @exclusive
    def state_system(self, name: str) -> StateSystem:
        """Return a state system by its name, such as `t.state`; make it if it does not exist.

        Raises:
            BindError: there is none of this name.
        """
        self._context.begin()
        return system_of(ast.Path.of(name), self._context.catalog)

    @exclusive
    def timeline(self, name: str) -> Timeline:
        """Return the timeline of a mounted trace or a state system, built if it is missing.

        Raises:
            UsageError: no trace is mounted and no state system made by this name.
        """
        self._context.begin()
        return timeline_at(name, self._context.catalog)

    @exclusive
    def matches(self, name: str, where: str | None = None, *, source_name: str = "<filter>") -> Matches:
        """Return the events of a mounted trace that match a filter such as `cat == "POSIX" and dur > 1ms`.

        Raises:
            QueryError: the filter does not follow its grammar, or does not fit the trace.
        """
        from dctv.run.matches import find_matches

        self._context.begin()
        with deep_recursion():
            found = find_matches(name, None if where is None else SourceText(source_name, where), self._context)
        self._issue_warnings()
        return found

    def interrupt(self) -> None:
        """End running work, from another thread; it raises Interrupted and the session stays usable."""
        self._context.running.interrupt()

    @exclusive
    def tables(self, prefix: str = "") -> list[TableInfo]:
        """Return everything that FROM accepts below a dotted prefix; entries outside of traces come first."""
        return in_order(listing(_parts(prefix) if prefix else (), self._context.catalog), self._context)

    @exclusive
    def lacking(self, names: Sequence[str]) -> set[str]:
        """Return those views and functions that have no rows, since the trace lacks the events they are made of."""
        from dctv.run.missing_events import lacking  # only wanted for lists

        with deep_recursion():
            return lacking(names, self._context)

    @exclusive
    def columns(self, name: str) -> Schema | None:
        """Return the schema of a table by its dotted name, or None."""
        try:
            return table_of(name, self._context).schema
        except DctvError:
            return None

    def stored_tables(self, name: str) -> set[str]:
        """Return the full names of the stored tables that a table or view is made of, by its dotted name.

        Raises:
            BindError: there is no such table.
        """
        return {one.name for one in readers_first(table_of(name, self._context)) if isinstance(one, Scan)}

    def mounts(self) -> list[MountInfo]:
        """Return the mounted traces in the order in which they were mounted."""
        mounts = self._context.mounts.values()
        return [MountInfo(".".join(one.parts), one.path, one.reader, one.number) for one in mounts]

    def properties(self, name: str) -> Mapping[str, str]:
        """Return the facts about a mounted trace as a whole, without running a query.

        Raises:
            UsageError: no trace is mounted by this name.
        """
        return self._context.mount_of(name).trace.properties

    def stored_file(self, name: str, table: str) -> Path | None:
        """Return the file of the column store that holds a table of a mounted trace, None if there is no such file.

        Raises:
            UsageError: no trace is mounted by this name.
            IndexUnusable: the file is missing or damaged.
        """
        source = self._context.mount_of(name).sources.get(table)
        return source.whole() if isinstance(source, StoredFileSource) else None

    @contextmanager
    def kernel(self) -> Iterator[Cancel]:
        """Give a kernel without a query the cancel token of `interrupt`, and translate its failures."""
        self._context.progress.begin()
        with self._context.running.kernel() as cancel:
            yield cancel

    @exclusive
    def functions(self) -> list[str]:
        """Return the names of scalar, aggregate and window functions, of macros of values, and of clocks of traces."""
        return functions(self._context)

    @exclusive
    def parameters(self, name: str) -> list[str]:
        """Return the names of the parameters of a table-valued function or macro, none if there is no such function."""
        match self._context.catalog.find(_parts(name)):
            case (TableFunction(parameters=parameters), _):
                return [one.name for one in parameters]
            case (Macro(parameters=defaults), _):
                return list(defaults)
            case _:
                return []

    @exclusive
    def usage(self, name: str) -> str:
        """Return the usage of a function, such as `substr(string, start[, length])`, empty if there is none."""
        return usage(name, self._context.catalog)

    @property
    def spill_folder(self) -> Path:
        """The folder for rows that do not fit into memory; it is made when it is needed."""
        return self._context.engine.spill_folder()

    def report_progress_to(self, progress: ProgressListener | None) -> None:
        """Report progress to another function from now on."""
        self._context.progress.listener = progress

    @exclusive
    def snapshot(self) -> Snapshot:
        """Snapshot the session's names, mounts and settings, for `restore`."""
        return snapshot(self._context)

    @exclusive
    def restore(self, snapshot: Snapshot) -> bool:
        """Forget names, mounts and settings that came after `keep`; return False if earlier ones are gone."""
        return restore(snapshot, self._context)

    @property
    def metered(self) -> bool:
        """Whether results report their cost, as `result.spent`."""
        return self._context.settings.metered

    @metered.setter
    def metered(self, metered: bool) -> None:
        self._context.settings.metered = metered

    @property
    def changes(self) -> int:
        """The number of changes of tables and views; while it is constant, a query returns the same rows."""
        return self._context.catalog.changes

    def incomplete(self) -> list[str]:
        """Return the reasons why mounted traces, and files that queries name, could not be read whole."""
        return self._context.incomplete()

    def warnings(self) -> list[str]:
        """Return the warnings of the last mount, statement or filter."""
        return list(self._context.log.entries)

    def serve(self, *, port: int = 0) -> Serving:
        """Serve this session's page on the loopback interface, on a free port unless one is given; return at once.

        Raises:
            UsageError: the port is taken, or `dctv[ui]` is not installed.
        """
        from dctv.web.serving import serve  # an extra

        serving = serve(self, port=port)
        self._context.progress.listener = serving.with_listener(self._context.progress.listener)
        return serving

    @exclusive
    def close(self) -> None:
        """Free everything."""
        self._context.close()

    def _issue_warnings(self) -> None:
        partial = self.incomplete()
        new, self._partial = partial[self._partial :], len(partial)
        if self._warn:
            issue_warnings([*self._context.log.unreported(), *((reason, 1) for reason in new)])


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.text for part in ast.Path.of(name).parts)
