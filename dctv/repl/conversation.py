"""Run statements and dot commands, print their output, and keep the user's settings."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from dctv.console.attended import Check, attended, end_process
from dctv.console.limited import Limited
from dctv.console.mounting import mount_named
from dctv.console.narration import complain, print_stderr, warn
from dctv.console.pager import Keyboard, paged_sink
from dctv.console.progress import ProgressBar
from dctv.console.sink import stdout_sink
from dctv.console.verdict import BROKEN_PIPE, FAILED, OK, PARTIAL, WRONG, ExitVerdict
from dctv.console.wall_times import in_zone
from dctv.contracts.writer import ResultRows, Writer
from dctv.errors import DctvError, UsageError
from dctv.record import field, record, replace
from dctv.repl.destination import Destination
from dctv.repl.last_query import NAME, LastQuery, last_query
from dctv.repl.settings import DisplaySettings
from dctv.repl.timing import Timing
from dctv.run.result import Asserted, Done, Result
from dctv.session import Session
from dctv.syntax.statements import cut, in_place, is_empty
from dctv.web.serving import Serving
from dctv.whole_file import Sink
from dctv.writers import box, table
from dctv.writers.aligned import Fit
from dctv.writers.table import TABLE


@record
class Statement:
    """A statement that was run."""

    text: str
    params: Mapping[str | int, Any]
    source_name: str
    base: Path | None


@record(frozen=False)
class Conversation:
    """A session with the settings of its user."""

    session: Session
    bar: ProgressBar
    interactive: bool
    """Whether the user is at a terminal: remarks are shown, long results are paged."""
    allow_partial: bool = False
    settings: DisplaySettings = field(default_factory=DisplaySettings)
    ended: bool = False
    code: int = OK
    """The exit code for all errors so far; wrong SQL overrides others."""
    serving: Serving | None = None
    """The page, once it has been requested."""
    destination: Destination = field(default_factory=Destination)
    last: Statement | None = None
    """The last statement that had a result, without the view `_`, which may have another meaning by now."""
    queried: LastQuery | None = None
    """What the view `_` stands for."""
    written: str = ""
    """The last SQL text that was run, as written."""
    _results: int = 0
    _partial_shown: int = 0
    _keyboard: Keyboard = field(default_factory=Keyboard)

    def run_text(self, text: str, source_name: str, base: Path | None = None) -> None:
        """Run every statement of a text, continuing after errors."""
        where = cut(text)
        for start, stop in [*where.statements, (where.rest, len(text))]:
            if not is_empty(text[start:stop].removesuffix(";")) and not self.ended:
                params = dict(self.settings.params)
                self.run_statement(Statement(in_place(text, start, stop), params, source_name, base))

    def run_statement(self, statement: Statement, *, whole: bool = False) -> None:
        """Run one statement and print its outcome, with all rows if `whole` is set."""

        def work(check: Check) -> int:
            timing, code = Timing(self._keyboard), OK
            self.session.metered = self.settings.timing
            self.bar.begin(_RUNNING)
            for outcome in self.session.execute(
                statement.text, statement.params, source_name=statement.source_name, base=statement.base
            ):
                if isinstance(outcome, Asserted) and not outcome.passed:
                    code = FAILED
                if isinstance(outcome, Result):
                    self.last = statement
                count = self._show(outcome, whole=whole)
                if self.settings.timing:
                    print_stderr(timing.text(outcome, count))
                check()
            if self.last is statement:
                self._remember(statement)
            return code

        self.guarded(lambda: self.attend(work))
        self.warn_incomplete()

    def _remember(self, statement: Statement) -> None:
        """Define the view `_` as a query, unless it is that query already."""
        found = last_query(statement.text, statement.params, self.queried)
        if found is None or LastQuery(statement.text, statement.params) == self.queried:
            return
        with suppress(DctvError):
            for _ in self.session.execute(f"CREATE OR REPLACE VIEW {NAME} AS\n{found.select}", found.params):
                self.queried = found
                self.last = replace(statement, text=found.select, params=found.params)

    def mount(self, path: str, name: str) -> None:
        """Mount a trace, with a progress bar, interruptible."""

        def work(_check: Check) -> int:
            mount_named(self.session, path, name)
            self.bar.clear()
            warn((message, 1) for message in self.session.warnings())
            return OK

        self.attend(work)
        self.warn_incomplete()

    def attend(self, work: Callable[[Check], int]) -> int:
        """Run work that Ctrl-C interrupts; errors are raised."""
        try:
            return attended(work, self.session.interrupt, self._abandon, tick=self.bar.tick)
        finally:
            self.bar.clear()

    def guarded(self, action: Callable[[], int]) -> None:
        """Run an action, and report an error instead of raising it."""
        with ExitVerdict() as verdict:
            verdict.code = action()
        self.ended = self.ended or verdict.code == BROKEN_PIPE
        if self.code == OK or verdict.code == WRONG:
            self.code = verdict.code

    def show(self, rows: ResultRows) -> int:
        """Print rows, on stdout through the pager if they fill more than the terminal; return how many."""
        if self.destination.is_file:
            writer = self.destination.writer(self.settings.writer)
            with self.destination.sink(writer) as sink:
                return writer.write(rows, sink.stream)
        writer, count = self.settings.writer if self.settings.writer.many else TABLE, 0
        fit = self._fit()
        try:
            with self._sink() as sink:
                if self._results and not self.interactive:
                    sink.separate(writer.between)
                count = _written(rows, writer, sink, fit)
        except BrokenPipeError:
            if not self.interactive:
                raise
        self._results += 1
        if fit is not None and fit.left_out:
            number = "1 column has" if len(fit.left_out) == 1 else f"{len(fit.left_out)} columns have"
            print_stderr(f"{number} no room: {', '.join(fit.left_out)}; `.mode line` or `.set width full` shows all")
        return count

    def print_text(self, text: str) -> None:
        """Print our own text on stdout."""
        with self._sink() as sink:
            sink.stream.write(text.encode() + b"\n")

    def warn_incomplete(self) -> None:
        """Warn of incomplete traces, each once."""
        partial = self.session.incomplete()
        for description in partial[self._partial_shown :]:
            print_stderr(f"warning: {description}")
        self._partial_shown = len(partial)
        if partial and not self.allow_partial and self.code == OK:
            self.code = PARTIAL

    def _show(self, outcome: Result | Done | Asserted, *, whole: bool) -> int | None:
        """Print an outcome; return the number of rows, if it has rows."""
        self.bar.clear()
        match outcome:
            case Result():
                return self._show_result(outcome, whole=whole)
            case Done():
                warn((message, 1) for message in self.session.warnings())
                if self.interactive and outcome.message:
                    print_stderr(outcome.message)
            case Asserted():
                if not outcome.passed:
                    complain(outcome.failure())
        return None

    def _show_result(self, result: Result, *, whole: bool) -> int:
        if not self.destination.is_file and not self.settings.writer.many:
            name = self.settings.writer.name
            raise UsageError(
                f"a result in mode `{name}` goes to a file, and none is named",
                hint=f"`.once rows.{name}` names one for the next result, `.output` for more; `.mode table` shows them",
            )
        most = None if whole or self.destination.is_file else self.settings.maxrows
        text = in_zone(result, self.settings.time)
        limited = None if most is None else Limited(text, most)
        self.bar.begin(_RUNNING)
        count = self.show(limited or text)
        self.bar.clear()
        warn(result.warnings)
        if limited is not None and limited.cut:
            print_stderr(f"only the first {_rows(count)}, there are more; `.last` shows all")
        return count

    def _fit(self) -> Fit | None:
        """Return the maximum width of tables; only a terminal limits it."""
        width = self.settings.width
        if width is None or not self.interactive or not sys.stdout.isatty():
            return None
        return Fit(width or shutil.get_terminal_size().columns)

    def _sink(self) -> AbstractContextManager[Sink]:
        return paged_sink(self._keyboard, self.bar.clear) if self.interactive else stdout_sink(self.bar.clear)

    def _abandon(self, code: int) -> None:
        if not self._keyboard.lent:
            end_process(code)


def _written(rows: ResultRows, writer: Writer, sink: Sink, fit: Fit | None) -> int:
    fitted = _FITTED.get(writer.name)
    return writer.write(rows, sink.stream) if fit is None or fitted is None else fitted(rows, sink.stream, fit)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


_FITTED = {"table": table.write, "box": box.write}
_RUNNING = "running"
