"""State systems: histories with their attributes, how to build them, and how to query them."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dctv.state.attributes import ROOT, Attributes
from dctv.state.faults import HistoryClosed, HistoryDamaged, HistoryOfAnother, StateError, WrongValue, of_64_bits
from dctv.state.interval import Interval, Value, intervals_of

if TYPE_CHECKING:
    import pyarrow as pa

    from dctv._kernels import StateHistory, Stream

Kind = Literal["int", "long", "double", "string"]
Action = Literal["modify", "update", "push", "pop", "offer", "poll", "increment", "remove"]
Feature = Literal["max", "min", "avg"]


def read_history(path: Path, identity: bytes | None) -> StateHistory:
    """Map the file of a closed history, as in `StateSystem.open`."""
    import pyarrow as pa

    from dctv._kernels import StateHistory

    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise HistoryDamaged(f"the history `{path}` is empty")
        mapped = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        history = StateHistory.open(pa.UInt8Array.from_buffers(pa.uint8(), size, [None, mapped]))
    if identity is not None and history.identity != identity:
        raise HistoryOfAnother(f"the history `{path}` is of another trace, or was made by another version")
    return history


def _error(words: str) -> StateError:
    """Return the error for the text that an Arrow reader raised."""
    words = words.removeprefix("External error: ")
    classes = {"the history is damaged": HistoryDamaged, "the history was given up": HistoryClosed}
    return next((kind for begin, kind in classes.items() if words.startswith(begin)), StateError)(words)


class StateSystem:
    """The states of attributes over time.

    While it is built, changes come in order of time and queries are answered up to `safe_time`; after `close`, for all
    times from `start` to `end`. Several threads may query while one builds. Times are in ns. An attribute has a quark,
    a number from 0 in order of creation. A Python int is stored as a `long` unless the attribute, or `kind`, says
    `int`.
    """

    def __init__(self, history: StateHistory) -> None:
        self._history = history
        self._attributes = Attributes(history)

    @classmethod
    @of_64_bits
    def in_memory(cls, start: int = 0) -> StateSystem:
        """Start a history in memory."""
        from dctv._kernels import StateHistory

        return cls(StateHistory(start))

    @classmethod
    @of_64_bits
    def without_history(cls, start: int = 0) -> StateSystem:
        """Start a state system that knows only current states and keeps no history."""
        from dctv._kernels import StateHistory

        return cls(StateHistory(start, keep=False))

    @classmethod
    @of_64_bits
    def on_disk(cls, path: Path, start: int = 0, identity: bytes = b"") -> StateSystem:
        """Start a history in a new file; `identity` identifies its origin for `open`.

        Raises:
            OSError: the file already exists, or cannot be created.
        """
        from dctv._kernels import StateHistory

        return cls(StateHistory.create(path, start, identity))

    @classmethod
    def open(cls, path: Path, identity: bytes | None = None) -> StateSystem:
        """Open a closed history.

        Raises:
            OSError: there is no such file, or it cannot be read.
            HistoryDamaged: it is not a history, incomplete, of another version, or has another `identity`.
        """
        return cls(read_history(path, identity))

    @property
    def start(self) -> int:
        """The first time."""
        return self._history.start

    @property
    def end(self) -> int | None:
        """The last time, None before the history is closed."""
        return self._history.end

    @property
    def safe_time(self) -> int:
        """The last time with final states: before the last change, or the end."""
        return self._history.safe

    @property
    def now(self) -> int:
        """The time of the last change."""
        return self._history.now

    @property
    def attribute_count(self) -> int:
        """The number of attributes; all quarks are less."""
        return len(self._history)

    @property
    def interval_count(self) -> int:
        """The number of intervals."""
        return self._history.intervals

    def add(self, *names: str) -> int:
        """Return the attribute at a path, created with its parents if it is missing."""
        return self.add_below(ROOT, *names)

    @of_64_bits
    def add_below(self, quark: int, *names: str) -> int:
        """Return the attribute at a path below another, created if it is missing."""
        return self._history.add(quark, list(names))

    def quark(self, *names: str, below: int = ROOT) -> int:
        """Return the attribute at a path.

        Raises:
            AttributeNotFound: there is none.
        """
        return self._attributes.find(below, names)

    @of_64_bits
    def find(self, *names: str, below: int = ROOT) -> int:
        """Return the attribute at a path, -2 if there is none."""
        return self._history.find(below, list(names))

    def quarks(self, *pattern: str, below: int = ROOT) -> list[int]:
        """Return the attributes that match a path with `*` and `..`, in the order of the search.

        `*` matches each child, `..` is the parent.
        """
        return self._attributes.matching(below, pattern)

    def sub_attributes(self, quark: int = ROOT, pattern: str | None = None, *, recursive: bool = False) -> list[int]:
        """Return the attributes below one, parents first; only those with names that match the regex as a whole."""
        return list(self._attributes.below(quark, pattern, recursive=recursive))

    @of_64_bits
    def parent(self, quark: int) -> int:
        """Return the parent of an attribute, -1 at the top."""
        return self._history.parent(quark)

    @of_64_bits
    def name(self, quark: int) -> str:
        """Return the last name of an attribute's path."""
        return self._history.name(quark)

    @of_64_bits
    def path(self, quark: int) -> tuple[str, ...]:
        """Return the names of an attribute's path."""
        return self._attributes.path(quark)

    @of_64_bits
    def kind(self, quark: int) -> str:
        """Return the type of an attribute's states; `null` if it had none."""
        return self._history.kind(quark)

    @of_64_bits
    def modify(self, time: int, value: Value, quark: int, kind: Kind | None = None) -> None:
        """Change the state of an attribute from a time on.

        Raises:
            OutOfOrder: there was a change at a later time.
            WrongValue: the state has another type than earlier ones.
        """
        self._history.change(time, quark, "modify", value, kind)

    @of_64_bits
    def update_ongoing(self, value: Value, quark: int, kind: Kind | None = None) -> None:
        """Replace the current state, from its start on."""
        self._history.change(self._history.now, quark, "update", value, kind)

    @of_64_bits
    def push(self, time: int, value: Value, quark: int, kind: Kind | None = None) -> None:
        """Push a state on a stack: the attribute's state is the depth, values are in its children `1`, `2` ..."""
        self._history.change(time, quark, "push", value, kind)

    @of_64_bits
    def pop(self, time: int, quark: int) -> Value:
        """Pop a state off a stack and return it; None, without a change, if the stack is empty.

        An empty stack has no state: None, not 0.
        """
        return self._history.change(time, quark, "pop")

    @of_64_bits
    def offer(self, time: int, value: Value, quark: int, kind: Kind | None = None) -> None:
        """Append a state to a queue, which is stored like a stack."""
        self._history.change(time, quark, "offer", value, kind)

    @of_64_bits
    def poll(self, time: int, quark: int) -> Value:
        """Remove the first state of a queue and return it; the others move up."""
        return self._history.change(time, quark, "poll")

    def peek(self, quark: int) -> Value:
        """Return the first state of a queue."""
        first = self.find("1", below=quark)
        return None if first < 0 else self.ongoing(first).value

    @of_64_bits
    def increment(self, time: int, quark: int, by: int | float = 1, kind: Kind | None = None) -> None:
        """Add to the state of an attribute; no state counts as 0."""
        self._history.change(time, quark, "increment", by, kind)

    @of_64_bits
    def remove(self, time: int, quark: int) -> None:
        """Remove the states of an attribute and all below it from a time on."""
        self._history.change(time, quark, "remove")

    @of_64_bits
    def later(self, time: int, action: Action, quark: int, value: Value = None, kind: Kind | None = None) -> None:
        """Schedule a change before the first other one at its time or later, or at the end of the history."""
        self._history.ask(time, quark, action, value, kind)

    @of_64_bits
    def modify_mipmap(
        self,
        time: int,
        value: Value,
        quark: int,
        resolution: int,
        features: Sequence[Feature] = ("max", "min", "avg"),
        kind: Kind | None = None,
    ) -> None:
        """Change the state of an attribute, and maintain coarser states of it, which speed up queries over ranges.

        The attribute gets a child per feature, with the number of levels as its state, and below it the levels `1`, `2`
        ...: `resolution` states of one level are merged into one of the next.
        """
        self._history.mipmap(time, quark, value, (resolution, list(features)), kind)

    def apply(self, changes: pa.RecordBatch | pa.Table, *, sort: bool = False) -> int:
        """Apply the changes of a batch and return their number.

        Columns are `time`, `quark` or `path` (a text, see `escape`), `action` (a method name; `modify` if it is
        missing), and any others with values; the first one that is not NULL applies. With `sort` they may be in any
        order of time, but none before those of an earlier call.
        """
        if sort and hasattr(changes, "combine_chunks"):
            changes = changes.combine_chunks()
        batches = changes.to_batches() if hasattr(changes, "to_batches") else [changes]
        return sum(self._history.apply(batch, sort=sort) for batch in batches)

    @of_64_bits
    def close(self, end: int) -> None:
        """Close the history: every state lasts until `end`, and no more changes are accepted."""
        self._history.close(end)

    def give_up(self) -> None:
        """Discard the history; queries and changes then raise HistoryClosed."""
        self._history.give_up()

    def wait_until_built(self, seconds: float | None = None) -> bool:
        """Wait until the history is closed or discarded; return whether it is closed."""
        return self._history.wait(seconds)

    @of_64_bits
    def ongoing(self, quark: int) -> Interval:
        """Return the current state of an attribute while the history is built; it may still be replaced."""
        start, end, ongoing, value = self._history.ongoing(quark)
        return Interval(quark, start, end, value, ongoing)

    @of_64_bits
    def state(self, time: int, quark: int) -> Interval:
        """Return the state of an attribute at a time.

        Raises:
            TimeOutOfRange: before `start` or after `safe_time`.
        """
        start, end, ongoing, value = self._history.single(quark, time)
        return Interval(quark, start, end, value, ongoing)

    def full_state(self, time: int) -> list[Interval]:
        """Return the states of all attributes at a time, by quark."""
        return list(intervals_of([self.full_batch(time)]))

    @of_64_bits
    def full_batch(self, time: int) -> pa.RecordBatch:
        """Return the states of all attributes at a time as Arrow columns, a row for each quark."""
        import pyarrow as pa

        return pa.record_batch(self._history.full(time))

    def query_2d(
        self,
        quarks: Iterable[int],
        *,
        times: Iterable[int] | None = None,
        first: int | None = None,
        last: int | None = None,
        backwards: bool = False,
    ) -> Iterator[Interval]:
        """Yield each interval of some attributes that contains one of the times, or intersects a range.

        Intervals are looked up while they are read, in no guaranteed order, but with `backwards` later ones tend to
        come first. Times after `safe_time` match nothing.
        """
        import pyarrow as pa

        with closing(self.batches_2d(quarks, times=times, first=first, last=last, backwards=backwards)) as reader:
            try:
                yield from intervals_of(reader)
            except (pa.ArrowException, OSError) as error:
                raise _error(str(error)) from None

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
        """Return the intervals of `query_2d` as Arrow batches."""
        import pyarrow as pa

        if times is not None:
            return pa.RecordBatchReader.from_stream(self._history.at(list(quarks), list(times), backwards=backwards))
        begin = self.start if first is None else first
        end = max(self.safe_time, begin) if last is None else last
        return pa.RecordBatchReader.from_stream(self._history.over(list(quarks), begin, end, backwards=backwards))

    @of_64_bits
    def spans(
        self,
        quarks: Iterable[int],
        names: Sequence[str],
        *,
        times: Sequence[int] | None = None,
        first: int | None = None,
        last: int | None = None,
    ) -> Stream:
        """Return the intervals of `query_2d` as an Arrow stream of half-open spans: start and duration.

        Columns, under the given names: start, duration, quark, path as one text, and the state as int64, float64 or
        text.
        """
        low = self.start if first is None else first
        high = self.safe_time if last is None else last
        wanted = None if times is None else list(times)
        return self._history.spans(list(quarks), list(names), times=wanted, first=low, last=high)

    def history(
        self,
        quark: int,
        first: int | None = None,
        last: int | None = None,
        resolution: int = 1,
        *,
        backwards: bool = False,
    ) -> Iterator[Interval]:
        """Yield the states of an attribute in order, from a time to another or back.

        With a resolution, only states at one of the times `first`, `first + resolution` ... The end is looked up at
        each step, so more may come while the history is built.
        """
        begin, step = self.start if first is None else first, max(resolution, 1)
        time = begin
        if backwards:
            time = begin + (self._until(last) - begin) // step * step
        while begin <= time <= self._until(last):
            found = self.state(time, quark)
            yield found
            edge = found.start - 1 if backwards else found.end + step
            time = begin + (edge - begin) // step * step

    def _until(self, last: int | None) -> int:
        return self.safe_time if last is None else min(last, self.safe_time)

    def first_non_null(self, quark: int, first: int, last: int) -> Interval | None:
        """Return the first state of an attribute that is not None, from a time to another."""
        time = max(first, self.start)
        while time <= min(last, self.safe_time):
            found = self.state(time, quark)
            if found.value is not None:
                return found
            time = found.end + 1
        return None

    def stack_top(self, time: int, quark: int) -> Interval | None:
        """Return the top of a stack at a time; None if the stack is empty.

        Raises:
            WrongValue: the attribute is not a stack.
        """
        depth = self.state(time, quark).value
        if depth is None:
            return None
        if not isinstance(depth, int) or depth <= 0:
            raise WrongValue(f"the attribute {quark} is no stack, its state is `{depth}`")
        return self.state(time, self.quark(str(depth), below=quark))

    def ranges(self, quarks: Sequence[int], first: int, last: int, feature: Feature) -> list[int | float | str | None]:
        """Return the maximum, minimum or average of each of some attributes over a range."""
        ask = {"max": self.range_max, "min": self.range_min, "avg": self.range_average}[feature]
        return [ask(quark, first, last) for quark in quarks]

    @of_64_bits
    def range_max(self, quark: int, first: int, last: int) -> Value:
        """Return the greatest state of an attribute in a range; None if it has none there."""
        return self._history.range(quark, first, last, "max")

    @of_64_bits
    def range_min(self, quark: int, first: int, last: int) -> Value:
        """Return the least state of an attribute in a range; None if it has none there."""
        return self._history.range(quark, first, last, "min")

    @of_64_bits
    def range_average(self, quark: int, first: int, last: int) -> float:
        """Return the average of an attribute over a range, weighted by time; no state counts as 0."""
        found = self._history.range(quark, first, last, "avg")
        return float(found or 0.0)
