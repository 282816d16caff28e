"""Partial histories: states at checkpoints are kept, those between are found by making the changes between again."""

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
"""Returns, for a first and a last time, the changes that were made then, as they were given to `apply`."""
_Ask = Callable[[StateSystem, "list[int] | None", int, int], "Iterable[pa.RecordBatch]"]
"""Asks a part about some times, or a range."""
GRANULARITY = 50_000
_KEPT = 4
"""Parts that were made again and are kept for the next question."""


@record
class _Part:
    system: StateSystem
    first: int
    last: int


class PartialStateSystem(StateSystem):
    """A state system whose history is small: it keeps those states that last over one of its checkpoints.

    Each question makes the changes of a part of the history again, so that one about a single attribute costs as much
    as one about all. Answers are those of a full history.
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
        """Begin a history with a checkpoint after about each `granularity` changes, written to a new file.

        Raises:
            OSError: the file is there already, or cannot be made.
        """
        from dctv._kernels import StateHistory

        return cls(StateHistory.create(path, start, identity, granularity=granularity), replay)

    @classmethod
    def open_partial(cls, path: Path, replay: Replay, identity: bytes | None = None) -> PartialStateSystem:
        """Open a history that was written and closed, as `StateSystem.open` does."""
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
        """Return each interval of some attributes that one of the times, or part of a range, is in."""
        import pyarrow as pa

        wanted, points, begin, stop = self._asked(quarks, times, first, last)
        # What a full history refuses is refused here too, before anything is looked up.
        history = self._history
        empty = history.over(wanted, begin, stop) if points is None else history.at(wanted, points.tolist())

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
        """Return the intervals of `query_2d` as Arrow batches of spans, which half-open are: start and duration."""
        import pyarrow as pa

        wanted, points, begin, stop = self._asked(quarks, times, first, last)
        empty = pa.RecordBatchReader.from_stream(
            self._history.spans(
                wanted, list(names), times=None if points is None else points.tolist(), first=begin, last=stop
            )
        )

        def ask(system: StateSystem, inside: list[int] | None, low: int, high: int) -> Any:
            stream = system.spans(wanted, names, times=inside, first=low, last=high)
            return pa.RecordBatchReader.from_stream(stream)

        found = self._batches(ask, points, begin, min(stop, self.safe_time), backwards=False)
        return pa.RecordBatchReader.from_batches(empty.schema, found)

    def _asked(
        self, quarks: Iterable[int], times: Iterable[int] | None, first: int | None, last: int | None
    ) -> tuple[list[int], np.ndarray | None, int, int]:
        """Return attributes, times if there are some, and the range that all of this is in."""
        import numpy as np

        points = None if times is None else np.unique(np.array(list(times), np.int64))
        begin, stop = self.start if first is None else first, self.safe_time if last is None else last
        begin, stop = min(begin, stop), max(begin, stop)
        if points is not None:
            begin, stop = (int(points[0]), int(points[-1])) if points.size else (self.start, self.start - 1)
        return list(quarks), points, begin, stop

    def _batches(
        self, ask: _Ask, points: np.ndarray | None, begin: int, stop: int, *, backwards: bool
    ) -> Iterator[pa.RecordBatch]:
        """Yield what the parts answer, without what an earlier one has told of; starts are the first `int64` column."""
        import pyarrow as pa

        for part in self._over(begin, stop, backwards=backwards):
            low, high = max(part.first, begin), min(part.last, stop)
            inside = None if points is None else points[(points >= low) & (points <= high)].tolist()
            for batch in ask(part.system, inside, low, high):
                starts = batch.column(batch.schema.types.index(pa.int64())).to_numpy()
                before = (starts < part.first) & (part.first > begin)
                if points is not None:
                    # The first of the times from the state's begin on is in an earlier part, which has told of it.
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
        history, first, last = self._history.part(time)
        system = StateSystem(history)
        for batch in self._replay(first, last):
            system.apply(batch)
        system.close(last)
        part = _Part(system, first, last)
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
        """Return the maximum, minimum or average of each of some attributes over a range; each part is made once."""
        if feature == "avg":
            return list(self._averages(quarks, first, last))
        choose = max if feature == "max" else min
        best: list[Value] = [None] * len(quarks)
        for part, ends in self._parts_of(first, last):
            for number, value in enumerate(part.system.ranges(quarks, *ends, feature)):
                known: Any = best[number]
                if value is not None:
                    best[number] = value if known is None else choose(known, value)
        return best

    def _averages(self, quarks: Sequence[int], first: int, last: int) -> list[float]:
        stop = min(last, self.safe_time)
        if first >= stop and first <= last:
            return [self._part(first).system.range_average(quark, first, last) for quark in quarks]
        totals = [0.0] * len(quarks)
        for part, (low, high) in self._parts_of(first, last):
            for number, quark in enumerate(quarks):
                totals[number] += part.system.range_average(quark, low, high) * (high - low)
                # An average ends before its last time, which the next part does not begin with.
                if high < stop:
                    totals[number] += part.system.range_average(quark, high, high)
        return [total / (stop - first) for total in totals]

    def _parts_of(self, first: int, last: int) -> Iterator[tuple[_Part, tuple[int, int]]]:
        if last < first:
            raise TimeOutOfRange(f"the range ends at {last}, before it begins at {first}")
        # A time that is outside of the history is refused by the part that is looked for.
        self._part(first)
        stop = min(last, self.safe_time)
        for part in self._over(first, stop, backwards=False):
            yield part, (max(first, part.first), min(stop, part.last))
