"""Turns statements and dot commands into output, and keeps what the person has set."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from time import perf_counter

from dctv.console.attended import Check, attended, end_process
from dctv.console.narration import complain, say, warn
from dctv.console.pager import Keyboard, paged_sink
from dctv.console.progress import ProgressBar
from dctv.console.sink import Sink, stdout_sink
from dctv.console.verdict import BROKEN_PIPE, FAILED, OK, PARTIAL, WRONG, Verdict
from dctv.contracts.writer import Rows, Writer
from dctv.record import field, record
from dctv.run.result import Asserted, Done, Result
from dctv.session import Session
from dctv.syntax.statements import cut, in_place, is_empty
from dctv.web.serving import Serving
from dctv.writers.table import TABLE


@record(frozen=False)
class Conversation:
    """A session and the settings of the person who talks to it."""

    session: Session
    bar: ProgressBar
    interactive: bool
    """Whether a person is at a terminal: remarks are shown, long results are paged."""
    allow_partial: bool = False
    writer: Writer = TABLE
    timing: bool = False
    ended: bool = False
    code: int = OK
    """The exit code for all that went wrong so far; wrong SQL outweighs the rest."""
    serving: Serving | None = None
    """The page, once it was asked for."""
    _results: int = 0
    _partial_told: int = 0
    _keyboard: Keyboard = field(default_factory=Keyboard)

    def run_text(self, text: str, source_name: str, base: Path | None = None) -> None:
        """Run every statement of a text, going on after errors."""
        where = cut(text)
        for start, stop in [*where.statements, (where.rest, len(text))]:
            if not is_empty(text[start:stop].removesuffix(";")) and not self.ended:
                self.run_statement(in_place(text, start, stop), source_name, base)

    def run_statement(self, text: str, source_name: str, base: Path | None = None) -> None:
        """Run one statement and print what comes of it."""

        def work(check: Check) -> int:
            began = perf_counter()
            code = OK
            for outcome in self.session.execute(text, source_name=source_name, base=base):
                if isinstance(outcome, Asserted) and not outcome.passed:
                    code = FAILED
                self._show(outcome, began)
                check()
            return code

        self.guarded(lambda: self.attend(work))
        self.tell_partial()

    def mount(self, path: str, name: str) -> None:
        """Mount a trace, with a progress bar and a way to interrupt it."""

        def work(_check: Check) -> int:
            self.session.mount(path, name)
            self.bar.clear()
            warn((message, 1) for message in self.session.warnings())
            return OK

        self.attend(work)
        self.tell_partial()

    def attend(self, work: Callable[[Check], int]) -> int:
        """Do work that Ctrl-C interrupts; errors are raised."""
        try:
            return attended(work, self.session.interrupt, self._abandon)
        finally:
            self.bar.clear()

    def guarded(self, action: Callable[[], int]) -> None:
        """Do something that may fail, say so if it did, and be ready for the next thing."""
        with Verdict() as verdict:
            verdict.code = action()
        self.ended = self.ended or verdict.code == BROKEN_PIPE
        if self.code == OK or verdict.code == WRONG:
            self.code = verdict.code

    def show(self, rows: Rows, writer: Writer) -> int:
        """Print rows on stdout, through the pager if they fill more than the terminal; return how many."""
        count = 0
        try:
            with self._sink() as sink:
                if self._results and not self.interactive:
                    sink.separate(writer.between)
                count = writer.write(rows, sink.stream)
        except BrokenPipeError:
            if not self.interactive:
                raise
        self._results += 1
        return count

    def print_text(self, text: str) -> None:
        """Print lines of our own on stdout."""
        with self._sink() as sink:
            sink.stream.write(text.encode() + b"\n")

    def tell_partial(self) -> None:
        """Warn of traces that were not read whole, each once."""
        partial = self.session.incomplete()
        for description in partial[self._partial_told :]:
            say(f"warning: {description}")
        self._partial_told = len(partial)
        if partial and not self.allow_partial and self.code == OK:
            self.code = PARTIAL

    def _show(self, outcome: Result | Done | Asserted, began: float) -> None:
        self.bar.clear()
        match outcome:
            case Result():
                count = self.show(outcome, self.writer)
                warn(outcome.warnings)
                if self.timing:
                    say(f"{count} rows in {perf_counter() - began:.3f} s")
            case Done():
                warn((message, 1) for message in self.session.warnings())
                if self.interactive and outcome.message:
                    say(outcome.message)
            case Asserted():
                if not outcome.passed:
                    complain(outcome.failure())

    def _sink(self) -> AbstractContextManager[Sink]:
        return paged_sink(self._keyboard, self.bar.clear) if self.interactive else stdout_sink(self.bar.clear)

    def _abandon(self, code: int) -> None:
        if not self._keyboard.lent:
            end_process(code)
