"""The result of a query of frames to a tree that can be drawn: widths of frames, those too narrow left out."""

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
"""A call whose function is not known, as in `dctv report`."""


@record(eq=False)
class FlameTree:
    """Frames, each after the one that it is in."""

    parents: Numbers
    """Places of the frames that these are in, -1 for none."""
    calls: Numbers
    totals: Numbers
    widths: Numbers
    """What a frame has of its own, and what those in it have: the total, unless it did not end or these overlap."""
    names: Any
    """A column of texts."""

    def __len__(self) -> int:
        """Return how many frames there are."""
        return len(self.parents)

    @property
    def whole(self) -> int:
        """The width of all."""
        return int(self.widths[self.parents == _ROOT].sum())


@record
class FlameFrame:
    """A frame that is wide enough to be drawn."""

    name: str
    depth: int
    calls: int
    total: int
    width: int
    before: int
    """Where it begins."""
    other: int | None
    """How wide it is in the trace that this one is compared with; None without one."""


@record
class ShownFrames:
    """What is drawn, and what is not."""

    frames: list[FlameFrame]
    whole: int
    left_out: int
    narrow: int
    """How wide those are together that are left out."""


@record
class TreeComparison:
    """How a tree differs from another one."""

    whole: int
    """The width of all of the other one."""
    widths: Numbers
    """How wide the frames of the first are in the other."""
    only_other: int
    """How many frames only the other has, and how wide those are together."""
    missing: int


def read_tree(session: Session, query: str) -> FlameTree:
    """Run a query of frames."""
    import numpy as np

    from dctv.cli.call_trees.queries import answered

    table = answered(session, query).reader().read_all()
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
    """Find the frames of a tree in another one, by their names and those of all that they are in."""
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
    """Place the frames that are at least this wide: those in one frame side by side, by name."""
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
    """Return where frames begin and how deep they are; each comes after the one that it is in."""
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
