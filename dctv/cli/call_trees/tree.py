"""Sum the calls that pass the filters by caller, as trees of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dctv.cli.call_trees.lookups import with_idle
from dctv.cli.call_trees.queries import CallSource, run_internal, shown_calls
from dctv.record import field, record, replace

if TYPE_CHECKING:
    from argparse import Namespace

    from dctv._kernels import TreeNode, TreePath
    from dctv.cli.call_trees.recording import Recording
    from dctv.session import Session

SAMPLE_TIMES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
"""Candidates for the sample time, in ns."""
_SAMPLES = 1_000_000
"""The desired maximum number of samples."""
SCHEDULE = "linux:schedule"
"""An event that appears among calls: the thread was off-CPU."""


@record
class CallNode:
    """The calls of a function with the same callers; a root stands for the whole program or function."""

    number: int
    """In order of the first calls, over all trees; 0 for a root."""
    name: str
    address: int | None
    calls: int
    total: int
    own: int
    totals: tuple[int, int]
    """Minimum and maximum, in ns."""
    owns: tuple[int, int]
    rests: tuple[int, ...]
    """For each sample time, the sum of the remainders when callees' durations are divided by it."""
    inner: list[CallNode] = field(default_factory=list)

    def walk(self) -> Iterator[tuple[CallNode, tuple[CallNode, ...]]]:
        """Yield this node and its descendants with their ancestors, in the order of the first calls."""
        waiting: list[tuple[CallNode, tuple[CallNode, ...]]] = [(self, ())]
        while waiting:
            node, above = waiting.pop()
            yield node, above
            waiting.extend((one, (*above, node)) for one in reversed(node.inner))


@record
class CallPath:
    """A path to a function."""

    stack: tuple[str, ...]
    """Its callers, the outermost first."""
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
    """All programs of a trace."""

    trees: tuple[ProgramCalls, ...]
    lasted: int
    """From the first begin to the last end, in ns."""
    sample_times: tuple[int, ...]

    def sample_time(self, requested: int | None, elapsed: int | None) -> int:
        """Return the requested sample time, or the shortest one that does not give too many samples."""
        if requested is not None:
            return requested
        lasted = self.lasted if elapsed is None else elapsed
        return next((one for one in SAMPLE_TIMES if one * _SAMPLES >= lasted), SAMPLE_TIMES[-1])


@record
class _Selection:
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
    """Run the query of calls and sum them; with a recording, a tree for each program."""
    from dctv import _kernels

    sessions = recording.tasks.sessions_of.items() if recording is not None else ()
    relative = [(tid, [(time - source.start, number) for time, number in times]) for tid, times in sessions]
    times = SAMPLE_TIMES if sample_time is None else (*SAMPLE_TIMES, sample_time)
    trees = _kernels.CallTree(_Selection(function, times, relative))
    for batch in run_internal(session, tree_query(args, source)).reader():
        trees.push(batch)
    nodes, ways, lasted = trees.finish()
    return Forest(tuple(_trees(nodes, ways)), lasted, times)


def tree_query(args: Namespace, source: CallSource) -> str:
    """Return the query of calls, and of off-CPU times of their threads."""
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


def whole_program(tree: ProgramCalls, name: str) -> ProgramCalls:
    """Return a tree of all calls below a root with the program's name and the sum of their durations."""
    total = sum(one.total for one in tree.root.inner)
    root = replace(tree.root, name=name, calls=1, total=total, own=0, totals=(total, total))
    return replace(tree, root=root)
