"""Shown calls, added up by who called whom, to trees of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dctv.cli.call_trees.lookups import with_idle
from dctv.cli.call_trees.queries import CallSource, answered, shown_calls
from dctv.record import field, record, replace

if TYPE_CHECKING:
    from argparse import Namespace

    from dctv._kernels import TreeNode, TreePath
    from dctv.cli.call_trees.recording import Recording
    from dctv.session import Session

SAMPLE_TIMES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
"""Sample times that are chosen from, in ns."""
_SAMPLES = 1_000_000
"""There are at most so many, if time allows."""
SCHEDULE = "linux:schedule"
"""The event that stands among calls: a thread was off its CPU."""


@record
class CallNode:
    """Calls of a function that came the same way; a root is none, but what they are of."""

    number: int
    """In order of the first calls, over all trees; a root has 0."""
    name: str
    address: int | None
    calls: int
    total: int
    own: int
    totals: tuple[int, int]
    """Shortest and longest, in ns."""
    owns: tuple[int, int]
    rests: tuple[int, ...]
    """What is left of durations of calls within, divided by each of the sample times."""
    inner: list[CallNode] = field(default_factory=list)

    def walk(self) -> Iterator[tuple[CallNode, tuple[CallNode, ...]]]:
        """Yield this and all below with those above, in the order in which they were first called."""
        waiting: list[tuple[CallNode, tuple[CallNode, ...]]] = [(self, ())]
        while waiting:
            node, above = waiting.pop()
            yield node, above
            waiting.extend((one, (*above, node)) for one in reversed(node.inner))


@record
class CallPath:
    """How a function was reached."""

    stack: tuple[str, ...]
    """What it was called from, the outermost first."""
    hits: int
    time: int


@record
class ProgramCalls:
    """The calls of one program."""

    session: int
    root: CallNode
    ways: tuple[CallPath, ...]


@record
class Forest:
    """All of a trace."""

    trees: tuple[ProgramCalls, ...]
    lasted: int
    """From the first begin to the last end, in ns."""
    sample_times: tuple[int, ...]

    def sample_time(self, wanted: int | None, elapsed: int | None) -> int:
        """Return what is asked for, or the shortest that does not give too many samples."""
        if wanted is not None:
            return wanted
        lasted = self.lasted if elapsed is None else elapsed
        return next((one for one in SAMPLE_TIMES if one * _SAMPLES >= lasted), SAMPLE_TIMES[-1])


@record
class _Wanted:
    function: str | None
    sample_times: tuple[int, ...]
    sessions: list[tuple[int, list[tuple[int, int]]]]


def forest_of(
    session: Session,
    args: Namespace,
    source: CallSource,
    recording: Recording | None = None,
    *,
    function: str | None = None,
    sample_time: int | None = None,
) -> Forest:
    """Run the query of shown calls and add them up; with a recording, a tree for each program."""
    from dctv import _kernels

    sessions = recording.tasks.sessions_of.items() if recording is not None else ()
    relative = [(tid, [(time - source.start, number) for time, number in times]) for tid, times in sessions]
    times = SAMPLE_TIMES if sample_time is None else (*SAMPLE_TIMES, sample_time)
    trees = _kernels.CallTree(_Wanted(function, times, relative))
    for batch in answered(session, tree_query(args, source)).reader():
        trees.push(batch)
    nodes, ways, lasted = trees.finish()
    return Forest(tuple(_trees(nodes, ways)), lasted, times)


def tree_query(args: Namespace, source: CallSource) -> str:
    """Return the query of calls, and of the times when their threads were off the CPU."""
    events = (SCHEDULE,) if SCHEDULE in source.events else ()
    silent = bool(getattr(args, "no_event", False))
    query = shown_calls(args, replace(source, events=events), tasks=False, events=not silent, more=True)
    return with_idle(query) if silent and events else query


def _trees(found: Sequence[TreeNode], paths: Sequence[TreePath]) -> Iterator[ProgramCalls]:
    nodes: list[CallNode] = []
    roots: list[tuple[int, CallNode]] = []
    for one in found:
        number = len(nodes) - len(roots) + 1 if one.above is not None else 0
        times = (one.total, one.own, one.totals or (0, 0), one.owns or (0, 0))
        node = CallNode(number, one.name or "", one.address, one.calls, *times, tuple(one.rests))
        nodes.append(node)
        if one.above is not None:
            nodes[one.above].inner.append(node)
        elif one.session is not None:
            roots.append((one.session, node))
    for session, root in sorted(roots, key=lambda one: one[0]):
        own = [
            CallPath(tuple(path.stack.split("\n")) if path.stack else (), path.hits, path.time)
            for path in paths
            if path.session == session
        ]
        yield ProgramCalls(session, root, tuple(own))


def whole(tree: ProgramCalls, name: str) -> ProgramCalls:
    """Return a tree of all calls with a root that has their program's name, and lasted as long as they did."""
    total = sum(one.total for one in tree.root.inner)
    root = replace(tree.root, name=name, calls=1, total=total, own=0, totals=(total, total))
    return replace(tree, root=root)
