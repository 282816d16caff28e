"""Turn the result of a query of frames into a tree with widths, and omit narrow frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dctv.record import record

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from dctv.session import Session

    Numbers = NDArray[int64]

_ROOT = -1
NAMELESS = "<0>"
"""The name of an unknown function, as in `dctv report`."""


@record(eq=False)
class FlameTree:
    """Frames, parents before children."""

    parents: Numbers
    """Indexes of the frames' parents, -1 for none."""
    calls: Numbers
    totals: Numbers
    widths: Numbers
    """The self value plus those of the children: the total, unless the frame is unfinished or children overlap."""
    names: Any
    """A column of texts."""

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.parents)

    @property
    def whole(self) -> int:
        """The total width."""
        return int(self.widths[self.parents == _ROOT].sum())


@record
class FlameFrame:
    """A frame that is wide enough to draw."""

    name: str
    depth: int
    calls: int
    total: int
    width: int
    before: int
    """The offset of its left edge."""
    other: int | None
    """Its width in the other trace of a comparison; None without one."""


@record
class ShownFrames:
    """The frames to draw, and the omitted ones."""

    frames: list[FlameFrame]
    whole: int
    left_out: int
    narrow: int
    """The total width of the omitted frames."""


@record
class TreeComparison:
    """The comparison of a tree with another one."""

    whole: int
    """The total width of the other tree."""
    widths: Numbers
    """The widths of the first tree's frames in the other one."""
    only_other: int
    """The number of frames that only the other tree has, and their total width."""
    missing: int


def read_tree(session: Session, query: str) -> FlameTree:
    """Run a query of frames."""
    import numpy as np

    from dctv.cli.call_trees.queries import run_internal

    table = run_internal(session, query).reader().read_all()
    depths = table.column("depth").to_numpy()
    order = np.argsort(depths, kind="stable")
    levels = depths[order]
    ids, ups, calls, totals, own = (
        table.column(name).fill_null(0).to_numpy()[order] for name in ("id", "parent_id", "calls", "total", "own")
    )
    by_id = np.argsort(ids, kind="stable")
    places = by_id[np.searchsorted(ids, ups, sorter=by_id) % max(len(ids), 1)] if len(ids) else ids
    parents = np.where(levels > 0, places, _ROOT)
    widths = np.maximum(own, 0).astype(np.int64)
    ends = [*np.flatnonzero(np.diff(levels)) + 1, len(levels)]
    for first, last in reversed(list(zip([0, *ends], ends, strict=False))):
        if first and last > first:
            np.add.at(widths, parents[first:last], widths[first:last])
    return FlameTree(parents, calls, totals, widths, table.column("name").take(order))


def compare(first: FlameTree, other: FlameTree) -> TreeComparison:
    """Match the frames of a tree with those of another one, by their names and those of their ancestors."""
    import numpy as np

    codes: dict[str | None, int] = {}
    places = {parent_and_name: place for place, parent_and_name in enumerate(_named(first, codes))}
    widths = np.zeros(len(first), dtype=np.int64)
    nowhere = len(first)
    found: list[int] = []
    only = missing = 0
    for place, (parent, code) in enumerate(_named(other, codes)):
        above = found[parent] if parent != _ROOT else _ROOT
        match = places.get((above, code), nowhere)
        found.append(match)
        if match != nowhere:
            widths[match] = other.widths[place]
            continue
        only += 1
        if above != nowhere:
            missing += int(other.widths[place])
    return TreeComparison(other.whole, widths, only, missing)


def _named(tree: FlameTree, codes: dict[str | None, int]) -> Iterator[tuple[int, int]]:
    """Yield the parent of each frame, and a number for its name."""
    parents = tree.parents.tolist()
    start = 0
    for chunk in tree.names.chunks:
        for name in chunk.to_pylist():
            yield parents[start], codes.setdefault(name, len(codes))
            start += 1


def shown(tree: FlameTree, compared: TreeComparison | None, least: float) -> ShownFrames:
    """Place the frames with at least this width: siblings next to each other, sorted by name."""
    import numpy as np

    wide = (tree.widths >= least) & (tree.widths > 0)
    places = np.flatnonzero(wide)
    names = [NAMELESS if name is None else name for name in tree.names.take(places).to_pylist()]
    parents, widths = tree.parents[places].tolist(), tree.widths[places].tolist()
    calls, totals = tree.calls[places].tolist(), tree.totals[places].tolist()
    others = None if compared is None else compared.widths[places].tolist()
    number = {place: index for index, place in enumerate(places.tolist())}
    befores, depths = _placed([number.get(parent, _ROOT) for parent in parents], names, widths)
    frames = [
        FlameFrame(
            names[at],
            depths[at],
            calls[at],
            totals[at],
            widths[at],
            befores[at],
            None if others is None else others[at],
        )
        for at in range(len(names))
    ]
    outer = np.concatenate([wide, [True]])[tree.parents]
    narrow = int(tree.widths[~wide & outer].sum())
    return ShownFrames(frames, tree.whole, len(tree) - len(frames), narrow)


def _placed(parents: Sequence[int], names: Sequence[str], widths: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return offsets and depths of frames; parents come before children."""
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent == _ROOT else depths[parent] + 1)
    befores, used, outside = [0] * len(names), [0] * len(names), 0
    for at in sorted(range(len(names)), key=lambda at: (depths[at], names[at])):
        parent = parents[at]
        if parent == _ROOT:
            befores[at] = outside
            outside += widths[at]
        else:
            befores[at] = befores[parent] + used[parent]
            used[parent] += widths[at]
    return befores, depths
