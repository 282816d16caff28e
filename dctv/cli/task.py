"""Run a task in a session with mounts, under limits, and return an exit code."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dctv.cli.mounts import Mounts, parse_manifests
from dctv.cli.narrator import EVERYTHING, RunNarrator
from dctv.console.attended import Check, attended, end_process
from dctv.console.mounting import mount_named
from dctv.console.narration import print_stderr
from dctv.console.pager import Keyboard, paged_sink
from dctv.console.progress import ProgressBar
from dctv.console.sink import STDOUT, stdout_sink
from dctv.console.verdict import OK, PARTIAL
from dctv.errors import TraceError
from dctv.index.mounting import AUTO_BYTES, When
from dctv.record import record
from dctv.session import Session
from dctv.whole_file import Sink, file_sink

if TYPE_CHECKING:
    from argparse import Namespace


@record
class TaskResources:
    """The resources of a task."""

    session: Session
    sink: Sink
    bar: ProgressBar
    check: Check
    beside: list[Session]
    """Other sessions that Ctrl-C interrupts."""


class SharedSession(Protocol):
    """A session that outlives the task, and has traces mounted already."""

    warnings: list[str]
    """Warnings of the mounts."""

    def open(self, bar: ProgressBar) -> Session:
        """Return the session, which reports progress to a bar."""
        ...

    def prepare(self, check: Check) -> None:
        """Mount its traces, if they are not mounted."""
        ...

    def release(self) -> None:
        """Return it after use, and restore its state."""
        ...


def carry_out(
    args: Namespace, mounts: list[tuple[str, str]], work: Callable[[TaskResources], int], output: Path | None = None
) -> int:
    """Mount, run the task and return the exit code; an incomplete trace overrides the task's own.

    If `args.paged` is set, a pager shows output that does not fit on the terminal; closing it early is not a failure.
    """
    keyboard = Keyboard()
    try:
        return _carried_out(args, mounts, work, output, keyboard)
    except BrokenPipeError:
        if not keyboard.was_lent:
            raise
        return OK


def _carried_out(
    args: Namespace,
    mounts: list[tuple[str, str]],
    work: Callable[[TaskResources], int],
    output: Path | None,
    keyboard: Keyboard,
) -> int:
    narrator = narrator_of(args)
    manifests = parse_manifests(getattr(args, "manifest", []), mounts)
    bar = ProgressBar(wanted=not narrator.quiet)
    with _sink(args, output, bar, keyboard) as sink:
        warm: SharedSession | None = getattr(args, "warm", None)
        session = open_session(args, bar) if warm is None else warm.open(bar)
        beside: list[Session] = []

        def errand(check: Check) -> int:
            if warm is not None:
                warm.prepare(check)
                bar.clear()
                narrator.warnings((message, 1) for message in warm.warnings)
            for name, path in mounts:
                mount_named(session, path, name, manifests.get(name))
                note_warnings(session, bar, narrator)
                check()
            code = work(TaskResources(session, sink, bar, check, beside))
            return judge(session.incomplete(), code, narrator, allow=args.allow_partial)

        def interrupt() -> None:
            for one in (session, *beside):
                one.interrupt()

        def abandon(code: int) -> None:
            if not keyboard.lent:
                sink.discard()
                end_process(code)

        try:
            code = attended(errand, interrupt, abandon, getattr(args, "timeout", None), bar.tick)
        finally:
            bar.clear()
            if warm is None:
                session.close()
            else:
                warm.release()
        if code != OK:
            sink.discard()
    return code


def _sink(args: Namespace, output: Path | None, bar: ProgressBar, keyboard: Keyboard) -> AbstractContextManager[Sink]:
    if output is not None and output not in STDOUT:
        return file_sink(output)
    return paged_sink(keyboard, bar.clear) if getattr(args, "paged", False) else stdout_sink(bar.clear)


def narrator_of(args: Namespace) -> RunNarrator:
    """Return the narrator for the verbosity in the arguments."""
    return RunNarrator(quiet=getattr(args, "quiet", False), github=getattr(args, "github", False))


def announced(args: Namespace, mounts: Mounts) -> list[tuple[str, str]]:
    """Announce the names of traces without one, and return what to mount."""
    for remark in mounts.remarks:
        narrator_of(args).remark(remark)
    return mounts.traces


def note_warnings(session: Session, bar: ProgressBar, narrator: RunNarrator = EVERYTHING) -> None:
    """Print warnings from mounting a trace."""
    messages = session.warnings()
    if messages:
        bar.clear()
        narrator.warnings((message, 1) for message in messages)


def open_session(args: Namespace, bar: ProgressBar) -> Session:
    """Open a session with the limits of the arguments, without mounts."""
    index: When = "auto"
    if getattr(args, "no_index", False) or getattr(args, "index", False):
        index = not args.no_index
    folder: Path | None = getattr(args, "index_dir", None)
    return Session(
        threads=args.threads,
        memory_limit=args.memory_limit,
        progress=bar.update,
        index=index,
        index_dir=folder,
        large=getattr(args, "large", AUTO_BYTES),
        allow_files=getattr(args, "allow_files", False),
        temp_directory=args.temp_directory,
        engine=getattr(args, "engine", None),
        allow_engines=getattr(args, "allow_engines", False),
        warn=False,
    )


def judge(partial: list[str], code: int, narrator: RunNarrator = EVERYTHING, *, allow: bool) -> int:
    """Report why traces are incomplete, and return the resulting exit code."""
    if not partial or allow:
        narrator.warnings((description, 1) for description in partial)
        return code
    for description in partial:
        narrator.error(TraceError(description))
    print_stderr("hint: --allow-partial accepts traces that were not read completely")
    return PARTIAL
