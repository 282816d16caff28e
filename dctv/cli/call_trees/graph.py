"""Write trees of calls, or of threads, as the lines of `dctv graph`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from dctv.cli.call_trees.lookups import (
    ListedThread,
    addresses_of,
    functions_of,
    has_calls,
    properties_of,
    running_times,
    tasks_of,
)
from dctv.cli.call_trees.queries import CallSource, exactly, shown_calls
from dctv.cli.call_trees.recording import program_of, recording_of
from dctv.cli.call_trees.report import time_unit
from dctv.cli.call_trees.tree import CallNode, ProgramCalls, forest_of, whole_program
from dctv.errors import UsageError, nearest
from dctv.record import record, replace

if TYPE_CHECKING:
    from dctv.session import Session


def _address(node: CallNode) -> str:
    return " " * 12 if node.address is None else f"{node.address:12x}"


@record
class GraphColumn:
    """A column before the colon."""

    title: str
    text: Callable[[Any], str]


FIELDS: Mapping[str, GraphColumn] = {
    "total": GraphColumn("TOTAL TIME", lambda node: time_unit(node.total)),
    "self": GraphColumn(" SELF TIME", lambda node: time_unit(node.own)),
    "addr": GraphColumn("   ADDRESS  ", _address),
    "total-avg": GraphColumn(" TOTAL AVG", lambda node: time_unit(node.total // max(node.calls, 1))),
    "total-max": GraphColumn(" TOTAL MAX", lambda node: time_unit(node.totals[1])),
    "total-min": GraphColumn(" TOTAL MIN", lambda node: time_unit(node.totals[0])),
    "self-avg": GraphColumn("  SELF AVG", lambda node: time_unit(node.own // max(node.calls, 1))),
    "self-max": GraphColumn("  SELF MAX", lambda node: time_unit(node.owns[1])),
    "self-min": GraphColumn("  SELF MIN", lambda node: time_unit(node.owns[0])),
}
"""Columns of calls, in order."""
TASK_FIELDS: Mapping[str, GraphColumn] = {
    "total": GraphColumn("TOTAL TIME", lambda ran: time_unit(ran.total)),
    "self": GraphColumn(" SELF TIME", lambda ran: time_unit(ran.total - ran.idle)),
    "tid": GraphColumn("   TID   ", lambda ran: f"[{ran.task.tid:7}]"),
}
"""Columns of threads."""


def _cells(columns: Sequence[GraphColumn], row: Any) -> str:
    return "".join(f"  {one.text(row)}" for one in columns) + (" : " if columns else "")


def _blanks(columns: Sequence[GraphColumn]) -> str:
    return "".join(f"  {'':{len(one.title)}}" for one in columns) + (" : " if columns else "")


def _titles(columns: Sequence[GraphColumn], last: str) -> str:
    return f"# {'  '.join(one.title for one in columns)}   {last}\n" if columns else ""


def _bars(levels: Sequence[bool]) -> str:
    return "".join(" | " if one else "   " for one in levels)


def _branch(levels: Sequence[bool]) -> str:
    """Write the bars of a line, up to its own level."""
    last = max((at for at, one in enumerate(levels) if one), default=-1)
    if last < 0:
        return "---" * len(levels)
    return _bars(levels[:last]) + " +-" + "---" * (len(levels) - last - 1)


def node_lines(root: CallNode, columns: Sequence[GraphColumn]) -> Iterator[str]:
    """Yield a line for each node, and one between siblings; a chain of only children is not indented."""
    blanks = _blanks(columns)
    # Node, bars before it, whether it has siblings, and whether another one follows.
    waiting: list[tuple[CallNode, tuple[bool, ...], bool, bool]] = [(root, (), False, False)]
    while waiting:
        node, levels, several, follows = waiting.pop()
        before = _branch(levels) if several else _bars(levels)
        yield f"{_cells(columns, node)}{before}({node.calls}) {node.name}\n"
        own = (*levels[:-1], follows) if several else levels
        branches = len(node.inner) > 1
        inner = (*own, True) if branches else own
        last = len(node.inner) - 1
        waiting.extend((one, inner, branches, at < last) for at, one in reversed(list(enumerate(node.inner))))
        if waiting and not node.inner:
            yield f"{blanks}{_bars(waiting[-1][1])}\n"


def write_graph(
    session: Session, args: Namespace, source: CallSource, columns: Sequence[GraphColumn], out: BinaryIO
) -> None:
    """Write the call tree of each program, or that below a function."""
    recording = recording_of(args.traces)
    name = program_of(recording, properties_of(session), args.traces)
    forest = forest_of(session, traced(args), source, recording, function=args.function)
    if not any(tree.root.inner or tree.ways for tree in forest.trees):
        refuse(session, args.function)
        out.write(f"uftrace: cannot find graph for '{args.function or name}'\n".encode())
        out.write(b"\t please check your filter settings.\n")
        return
    sessions = recording.tasks.sessions if recording is not None else ()
    callers = {one for tree in forest.trees for way in tree.ways for one in way.stack}
    addresses = addresses_of(session, source, callers)
    for tree in reversed(forest.trees):
        has_session = tree.session < len(sessions)
        program = sessions[tree.session].exename.rsplit("/", 1)[-1] if has_session else name
        title = args.function or program
        if not (tree.root.inner or tree.ways):
            continue
        shown = (
            whole_program(tree, title) if args.function is None else replace(tree, root=replace(tree.root, name=title))
        )
        sid = f" (session: {sessions[tree.session].sid[:16]})" if has_session else ""
        out.write(f"# Function Call Graph for '{title}'{sid}\n".encode())
        for line in (*_ways(shown, title, addresses), *_graph(shown, columns)):
            out.write(line.encode())


def _graph(tree: ProgramCalls, columns: Sequence[GraphColumn]) -> Iterator[str]:
    yield "========== FUNCTION CALL GRAPH ==========\n"
    yield _titles(columns, "FUNCTION")
    yield from node_lines(tree.root, columns)
    yield "\n"


def _ways(tree: ProgramCalls, name: str, addresses: Mapping[str, int]) -> Iterator[str]:
    if not tree.ways:
        return
    yield "=============== BACKTRACE ===============\n"
    for number, way in enumerate(reversed(tree.ways)):
        yield f" backtrace #{number}: hit {way.hits}, time {time_unit(way.time)}\n"
        for level, one in enumerate((*way.stack, name)):
            address = tree.root.address if one == name and level == len(way.stack) else addresses.get(one)
            yield f"   [{level}] {one}" + (f" ({address:#x})\n" if address is not None else "\n")
        yield "\n"


def traced(args: Namespace) -> Namespace:
    """Return options that record the callers of the function, and show it at any depth."""
    if args.function is None or set(args.function) & set("@;!"):
        return args
    from dctv.calls.rules import DEPTH

    word = exactly(args.function, args.match)
    depth = f",depth={args.depth}" if args.depth != DEPTH else ""
    return Namespace(**{**vars(args), "triggers": [*(args.triggers or ()), f"{word}@backtrace{depth}"]})


def refuse(session: Session, function: str | None = None) -> None:
    """Raise the error for an empty result, unless the filters are the reason."""
    if not has_calls(session):
        raise UsageError("the trace has no calls", hint="a trace of functions or of slices is expected")
    if function is None:
        return
    names = functions_of(session)
    if function not in names:
        near = nearest(function, names)
        hint = f"did you mean `{near}`?" if near else None
        raise UsageError(f"the trace has no call of the function `{function}`", hint=hint)


@record
class Ran:
    """A thread and its running time."""

    task: ListedThread
    total: int
    idle: int


def write_tasks(
    session: Session, args: Namespace, source: CallSource, columns: Sequence[GraphColumn], out: BinaryIO
) -> None:
    """Write the tree of threads."""
    unlimited = Namespace(**{**vars(args), "time_filter": 0})
    query = shown_calls(unlimited, source, tasks=False, events=False)
    times = running_times(session, source, query)
    every = [Ran(one, *times.get(one.tid, (0, 0))) for one in tasks_of(session, source)]
    if not every:
        raise UsageError("the trace has no threads")
    out.write(b"========== TASK GRAPH ==========\n")
    out.write(_titles(columns, "TASK NAME").encode())
    for line in _task_lines(every, columns, args.time_filter):
        out.write(line.encode())
    out.write(b"\n")


def _task_lines(every: Sequence[Ran], columns: Sequence[GraphColumn], least: int) -> Iterator[str]:
    inner: dict[int, list[Ran]] = {}
    tids = {one.task.tid for one in every}
    roots = []
    for one in sorted(every, key=lambda ran: (ran.task.start or 0, ran.task.tid)):
        task = one.task
        above = task.pid if task.pid != task.tid else task.parent
        if above in tids and above != task.tid and above is not None:
            inner.setdefault(above, []).append(one)
        else:
            roots.append(one)
    for root in roots:
        if _lasts(root, inner, least):
            yield from _task(root, inner, columns, least)


def _lasts(ran: Ran, inner: Mapping[int, list[Ran]], least: int) -> bool:
    waiting = [ran]
    while waiting:
        one = waiting.pop()
        if one.total >= least:
            return True
        waiting.extend(inner.get(one.task.tid, ()))
    return False


def _task(root: Ran, inner: Mapping[int, list[Ran]], columns: Sequence[GraphColumn], least: int) -> Iterator[str]:
    """Yield a line for each thread; processes are indented further than threads, and surrounded by blank lines."""
    # Thread, bars before it, whether it is a process, whether a blank line comes first, whether another follows.
    waiting: list[tuple[Ran, tuple[bool, ...], bool, bool, bool]] = [(root, (), False, False, True)]
    while waiting:
        ran, levels, process, blank, follows = waiting.pop()
        if blank:
            yield f"{_blanks(columns)}{_bars(levels)}\n"
        yield f"{_cells(columns, ran)}{_branch(levels)}{ran.task.name}\n"
        below = [one for one in inner.get(ran.task.tid, ()) if _lasts(one, inner, least)]
        forks = [one.task.pid != ran.task.pid for one in below]
        place = len(levels) - 1 - process
        own = tuple(one and (follows or at != place) for at, one in enumerate(levels))
        for at in reversed(range(len(below))):
            after_process = at > 0 and forks[at - 1]
            bars = (*own, True, False) if forks[at] else (*own, True)
            waiting.append((below[at], bars, forks[at], forks[at] or after_process, at < len(below) - 1))
