"""Partial histories: they keep few states and the times of checkpoints, and find other states by replaying changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.record import record
from dctv.state.faults import TimeOutOfRange, of_64_bits
from dctv.state.interval import Interval, Value
from dctv.state.system import Feature, StateSystem, read_history

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from dctv._kernels import StateHistory

Replay = Callable[[int, int], Iterable["pa.RecordBatch"]]
"""Returns the changes between a first and a last time, as they were given to `apply`."""
_Ask = Callable[[StateSystem, "list[int] | None", int, int], "Iterable[pa.RecordBatch]"]
"""Queries a part at some times, or in a range."""
GRANULARITY = 50_000
_KEPT = 4
"""The number of replayed parts that are cached."""


@record
class _Part:
    system: StateSystem
    history: StateHistory
    first: int
    last: int


class PartialStateSystem(StateSystem):
    """A state system with a small history: it keeps only states that last over two or more checkpoints.

    Each query replays the changes of a part of the history, and of its neighbours, so a query about one attribute costs
    as much as one about all. The answers equal those of a full history.
    """

    def __init__(self, history: StateHistory, replay: Replay) -> None:
        super().__init__(history)
        self._replay = replay
        self._parts: OrderedDict[int, _Part] = OrderedDict()

    @classmethod
    @of_64_bits
    def build(
        cls, path: Path, replay: Replay, start: int = 0, identity: bytes = b"", granularity: int = GRANULARITY
    ) -> PartialStateSystem:
        """Start a history with a checkpoint after about every `granularity` changes, written to a new file.

        Raises:
            OSError: the file already exists, or cannot be created.
        """
        from dctv._kernels import StateHistory

        return cls(StateHistory.create(path, start, identity, granularity=granularity), replay)

    @classmethod
    def open_partial(cls, path: Path, replay: Replay, identity: bytes | None = None) -> PartialStateSystem:
        """Open a closed history, like `StateSystem.open`."""
        return cls(read_history(path, identity), replay)

    @of_64_bits
    def state(self, time: int, quark: int) -> Interval:
        """Return the state of an attribute at a time."""
        return self._part(time).system.state(time, quark)

    @of_64_bits
    def full_batch(self, time: int) -> pa.RecordBatch:
        """Return the states of all attributes at a time as Arrow columns, a row for each quark."""
        return self._part(time).system.full_batch(time)

    @of_64_bits
    def batches_2d(
        self,
        quarks: Iterable[int],
        *,
        times: Iterable[int] | None = None,
        first: int | None = None,
        last: int | None = None,
        backwards: bool = False,
    ) -> pa.RecordBatchReader:
        """Return each interval of some attributes that contains one of the times, or intersects a range."""
        import pyarrow as pa

        given = None if times is None else list(times)
        wanted, points, begin, stop = self._request(quarks, given, first, last)
        if points is None:
            begin, stop = min(begin, stop), max(begin, stop)
        # Invalid arguments are rejected as by a full history, before any lookup.
        empty = self._history.over(wanted, begin, stop) if given is None else self._history.at(wanted, given)

        def ask(system: StateSystem, inside: list[int] | None, low: int, high: int) -> Any:
            return system.batches_2d(wanted, times=inside, first=low, last=high, backwards=backwards)

        found = self._batches(ask, points, begin, min(stop, self.safe_time), backwards=backwards)
        return pa.RecordBatchReader.from_batches(pa.schema(empty), found)

    @of_64_bits
    def spans(
        self,
        quarks: Iterable[int],
        names: Sequence[str],
        *,
        times: Sequence[int] | None = None,
        first: int | None = None,
        last: int | None = None,
    ) -> Any:
        """Return the intervals of `query_2d` as Arrow batches of half-open spans: start and duration."""
        import pyarrow as pa

        wanted, points, begin, stop = self._request(quarks, times, first, last)
        empty = pa.RecordBatchReader.from_stream(
            self._history.spans(
                wanted, list(names), times=None if points is None else points.tolist(), first=begin, last=stop
            )
        )

        def ask(system: StateSystem, inside: list[int] | None, low: int, high: int) -> Any:
            stream = system.spans(wanted, names, times=inside, first=low, last=high)
            return pa.RecordBatchReader.from_stream(stream)

        # Unlike `batches_2d`, which rejects them, this finds nothing at times before the begin, as in a full history.
        found = self._batches(ask, points, max(begin, self.start), min(stop, self.safe_time), backwards=False)
        return pa.RecordBatchReader.from_batches(empty.schema, found)

    def _request(
        self, quarks: Iterable[int], times: Iterable[int] | None, first: int | None, last: int | None
    ) -> tuple[list[int], np.ndarray | None, int, int]:
        """Return attributes, times if there are any, and the range that contains them or was requested."""
        import numpy as np

        points = None if times is None else np.unique(np.array(list(times), np.int64))
        begin, stop = self.start if first is None else first, self.safe_time if last is None else last
        if points is not None:
            begin, stop = (int(points[0]), int(points[-1])) if points.size else (self.start, self.start - 1)
        return list(quarks), points, begin, stop

    def _batches(
        self, ask: _Ask, points: np.ndarray | None, begin: int, stop: int, *, backwards: bool
    ) -> Iterator[pa.RecordBatch]:
        """Yield the answers of the parts, without what earlier parts returned; starts are the first `int64` column."""
        import pyarrow as pa

        for part in self._over(begin, stop, backwards=backwards):
            low, high = max(part.first, begin), min(part.last, stop)
            inside = None if points is None else points[(points >= low) & (points <= high)].tolist()
            for batch in ask(part.system, inside, low, high):
                starts = batch.column(batch.schema.types.index(pa.int64())).to_numpy()
                before = (starts < part.first) & (part.first > begin)
                if points is not None:
                    # An earlier part has returned the state if it contains the first time after the state's start.
                    nearest = points[points.searchsorted(starts).clip(max=points.size - 1)]
                    before &= nearest < part.first
                yield batch.filter(pa.array(~before))

    def _over(self, first: int, last: int, *, backwards: bool) -> Iterator[_Part]:
        time = last if backwards else first
        while first <= time <= last:
            part = self._part(time)
            yield part
            time = part.first - 1 if backwards else part.last + 1

    def _part(self, time: int) -> _Part:
        for first, part in self._parts.items():
            if part.first <= time <= part.last:
                self._parts.move_to_end(first)
                return part
        begin, first, last, end = self._history.span(time)
        before = next((one.history for one in self._parts.values() if one.last == first - 1), None)
        after = next((one.history for one in self._parts.values() if one.first == last + 1), None)
        history = self._history.part(time, before=before, after=after)
        # The following part is replayed only until the ends of the states at this part's end are known.
        batches = self._replay(first if before else begin, last if after else end)
        any(history.replay(batch) for batch in batches)
        history.close(last)
        part = _Part(StateSystem(history), history, first, last)
        self._parts[first] = part
        if len(self._parts) > _KEPT:
            self._parts.popitem(last=False)
        return part

    def range_max(self, quark: int, first: int, last: int) -> Value:
        """Return the greatest state of an attribute in a range; None if it has none there."""
        return self.ranges([quark], first, last, "max")[0]

    def range_min(self, quark: int, first: int, last: int) -> Value:
        """Return the least state of an attribute in a range; None if it has none there."""
        return self.ranges([quark], first, last, "min")[0]

    def range_average(self, quark: int, first: int, last: int) -> float:
        """Return the average of an attribute over a range, weighted by time; no state counts as 0."""
        (found,) = self.ranges([quark], first, last, "avg")
        assert isinstance(found, float)
        return found

    @of_64_bits
    def ranges(self, quarks: Sequence[int], first: int, last: int, feature: Feature) -> list[Value]:
        """Return the maximum, minimum or average of some attributes over a range; each part is replayed once."""
        if feature == "avg":
            return list(self._averages(quarks, first, last))
        choose = max if feature == "max" else min
        best: list[Value] = [None] * len(quarks)
        for part, ends in self._parts_of(first, last):
            for number, value in enumerate(part.system.ranges(quarks, *ends, feature)):
                current: Any = best[number]
                if value is not None:
                    best[number] = value if current is None else choose(current, value)
        return best

    def _averages(self, quarks: Sequence[int], first: int, last: int) -> list[float]:
        stop = min(last, self.safe_time)
        if first >= stop and first <= last:
            return [self._part(first).system.range_average(quark, first, last) for quark in quarks]
        totals = [0.0] * len(quarks)
        for part, (low, high) in self._parts_of(first, last):
            for number, quark in enumerate(quarks):
                totals[number] += part.system.range_average(quark, low, high) * (high - low)
                # An average excludes its last time, which the next part does not start with.
                if high < stop:
                    totals[number] += part.system.range_average(quark, high, high)
        return [total / (stop - first) for total in totals]

    def _parts_of(self, first: int, last: int) -> Iterator[tuple[_Part, tuple[int, int]]]:
        if last < first:
            raise TimeOutOfRange(f"the range ends at {last}, before it begins at {first}")
        # The lookup of the part rejects a time outside of the history.
        self._part(first)
        stop = min(last, self.safe_time)
        for part in self._over(first, stop, backwards=False):
            yield part, (max(first, part.first), min(stop, part.last))
