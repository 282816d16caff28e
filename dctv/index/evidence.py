"""Find the truth values that a condition may have in each chunk, from the chunks' statistics of a dimension.

Sets of chunks are integers, with bit i for the chunk at position i, and are combined by `&` and `|`. Where there are no
statistics, all truth values stay possible that the counts of missing and present values allow.

Numbers are compared with numbers, texts with texts. Integers and Booleans may become texts when chunks of a trace are
concatenated, and then are written as in dictionaries; other numbers never do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from dctv.index.canonical import Leaf, canonical, literal_kind, number_of, values_of
from dctv.index.chunk_sets import Possible, chunks_where, positions_of, set_of
from dctv.index.records import DimensionStatistics
from dctv.plan import predicate as p
from dctv.record import record

Positions = int | list[int]
"""A set of chunks; small sets are lists."""

_NUMBERS = ("uint", "int", "double")
_AS_TEXT = ("string", "uint", "int")
_MOST_ENTRIES = 2_000_000
"""Dictionaries of a dimension with more entries in total are not kept in memory."""
_MOST_VALUES = 20_000
"""An order comparison does not scan more distinct values than this."""


@record
class Dictionaries:
    """The inverted dictionaries of many chunks."""

    known: int
    """The chunks that have a dictionary."""
    chunks: Mapping[str, Positions]
    """By value, the chunks in which it occurs."""


@record
class Ranges:
    """Smallest and largest values of chunks, all numbers or all texts, the last chunk first."""

    known: int
    low: Sequence[Any]
    """Any value if unknown; likewise `high`."""
    high: Sequence[Any]


class Evidence:
    """The statistics of one dimension."""

    def __init__(self, rows: Sequence[DimensionStatistics], events: Sequence[int]) -> None:
        self._rows = rows
        self.count: int = len(rows)
        backwards = list(zip(reversed(rows), reversed(events), strict=True))
        self.missing: int = chunks_where(row.nulls > 0 for row, _ in backwards)
        self.present: int = chunks_where(row.nulls < number for row, number in backwards)
        self._single = chunks_where(row.distinct == 1 for row, _ in backwards)

    def _of_kinds(self, kinds: Sequence[str]) -> int:
        return chunks_where(row.value_type in kinds for row in reversed(self._rows))

    @cached_property
    def _numeric(self) -> int:
        return self._of_kinds(_NUMBERS)

    @cached_property
    def _textual(self) -> int:
        return self._of_kinds(_AS_TEXT)

    @cached_property
    def _strings(self) -> int:
        return self._of_kinds(("string",))

    @cached_property
    def _all_flags(self) -> bool:
        return self.dictionaries is not None and set(self.dictionaries.chunks) <= {"false", "true"}

    @cached_property
    def dictionaries(self) -> Dictionaries | None:
        """The dictionaries, None if they are too large."""
        if sum(max(row.distinct, 0) for row in self._rows if row.counts is not None) > _MOST_ENTRIES:
            return None
        found: dict[str, list[int]] = {}
        known = []
        for position, row in enumerate(self._rows):
            values = None if row.counts is None else values_of(row.counts)
            if values is None or len(values) != row.distinct:
                continue
            known.append(position)
            for value in values:
                found.setdefault(value, []).append(position)
        sparse = self.count // 64
        chunks = {v: chunks if len(chunks) <= sparse else set_of(chunks, self.count) for v, chunks in found.items()}
        return Dictionaries(set_of(known, self.count), chunks)

    @cached_property
    def numbers(self) -> Ranges:
        """The ranges of numeric values."""
        return self._ranges(_NUMBERS, number_of, 0)

    @cached_property
    def texts(self) -> Ranges:
        """The ranges of texts."""
        return self._ranges(("string",), lambda text: text, "")

    def _ranges(
        self, kinds: Sequence[str], read: Callable[[str], int | float | str | None], unknown: int | str
    ) -> Ranges:
        low: list[Any] = []
        high: list[Any] = []
        known = []
        for row in reversed(self._rows):
            ends = (row.minimum, row.maximum) if row.value_type in kinds else (None, None)
            first, last = (None if end is None else read(end) for end in ends)
            known.append(first is not None and last is not None)
            low.append(unknown if first is None else first)
            high.append(unknown if last is None else last)
        return Ranges(chunks_where(known), low, high)

    def at_all(self, leaf: Leaf) -> Possible:
        """Return the truth values that the counts of missing and present values allow."""
        if isinstance(leaf, p.IsNull):
            return Possible(self.missing, self.present, 0)
        if isinstance(leaf, p.In) and (leaf.has_null or not leaf.values):
            # IN a list with NULL is never false, IN an empty list never true.
            unknown = self.missing | (self.present if leaf.has_null else 0)
            return Possible(self.present if leaf.values else 0, 0 if leaf.has_null else self.present, unknown)
        return Possible(self.present, self.present, self.missing)

    def by_dictionary(self, leaf: Leaf) -> tuple[int, int]:
        """Return the chunks where a condition may be true, and where false, according to the dictionaries."""
        everywhere = (1 << self.count) - 1
        usable = self._usable(leaf)
        if not usable or self.dictionaries is None:
            return everywhere, everywhere
        found = self._matched(leaf, self.dictionaries)
        if found is None:
            return everywhere, everywhere
        true, false = found
        return true | (everywhere & ~usable), false | (everywhere & ~usable)

    def decided_by_dictionary(self, leaf: Leaf) -> int:
        """Return the chunks whose dictionaries decide a condition, so that no other evidence is needed."""
        return self._usable(leaf)

    def _usable(self, leaf: Leaf) -> int:
        if isinstance(leaf, p.IsNull) or self.dictionaries is None:
            return 0
        kind = literal_kind(leaf)
        if kind is Fraction:
            return self.dictionaries.known & self._numeric
        if kind is str:
            return self.dictionaries.known & self._textual
        if kind is bool and self._all_flags:
            return self.dictionaries.known & self._strings
        return 0

    def _matched(self, leaf: Leaf, dictionaries: Dictionaries) -> tuple[int, int] | None:
        """Return the chunks where some value meets a condition, and where some value does not."""
        if isinstance(leaf, p.In) or (isinstance(leaf, p.Compare) and leaf.operator in ("=", "!=")):
            values = leaf.values if isinstance(leaf, p.In) else (leaf.value,)
            equal = self._equal(values, dictionaries)
            return equal if isinstance(leaf, p.In) or leaf.operator == "=" else (equal[1], equal[0])
        if isinstance(leaf, p.IsNull) or len(dictionaries.chunks) > _MOST_VALUES:
            return None
        sides: tuple[list[Positions], list[Positions]] = ([], [])
        for text, chunks in dictionaries.chunks.items():
            value = _read(text, literal_kind(leaf))
            truth = ... if value is None else p.truth_of(leaf, value)
            for side in (0, 1):
                if truth is ... or truth is (side == 0):
                    sides[side].append(chunks)
        return self._union(sides[0]), self._union(sides[1])

    def _equal(self, values: Sequence[p.Value], dictionaries: Dictionaries) -> tuple[int, int]:
        texts = {text for text in map(canonical, values) if text is not None}
        found = [dictionaries.chunks[text] for text in texts if text in dictionaries.chunks]
        true = self._union(found)
        if len(found) <= 1:
            return true, self.present & ~(true & self._single)
        matched: Counter[int] = Counter()
        for chunks in found:
            matched.update(positions_of(chunks) if isinstance(chunks, int) else chunks)
        only = set_of((one for one, number in matched.items() if number == self._rows[one].distinct), self.count)
        return true, self.present & ~only

    def _union(self, some: Iterable[Positions]) -> int:
        result = 0
        listed: list[int] = []
        for chunks in some:
            if isinstance(chunks, int):
                result |= chunks
            else:
                listed += chunks
        return result | set_of(listed, self.count) if listed else result

    def by_range(self, leaf: Leaf) -> tuple[int, int]:
        """Return the chunks where a condition may be true, and where false, according to the ranges."""
        kind = None if isinstance(leaf, p.IsNull) else literal_kind(leaf)
        if kind not in (Fraction, str):
            return (1 << self.count) - 1, (1 << self.count) - 1
        return limits(leaf, self.numbers if kind is Fraction else self.texts, self.count)

    def may_be_probed(self, leaf: Leaf) -> int:
        """Return the chunks whose Bloom filters hold values in the form of the condition's literals."""
        kind = literal_kind(leaf)
        if kind is None:
            return 0
        return self._numeric if kind is Fraction else self._textual if kind is str else self._strings


def limits(leaf: Leaf, ranges: Ranges, count: int) -> tuple[int, int]:
    """Return the chunks where a condition may be true, and where false, by smallest and largest values."""
    everywhere = (1 << count) - 1
    unknown = everywhere & ~ranges.known
    match leaf:
        case p.Compare(_, operator, value):
            true, false = _compared(operator, _plain(value), ranges)
        case p.In(_, values, _):
            true, false = _within(sorted(map(_plain, values)), ranges)
        case p.Prefix(_, text):
            pairs = list(zip(ranges.low, ranges.high, strict=True))
            true = chunks_where(h >= text and (lo <= text or lo.startswith(text)) for lo, h in pairs)
            false = chunks_where(not (lo.startswith(text) and h.startswith(text)) for lo, h in pairs)
        case _:
            return everywhere, everywhere
    return true | unknown, false | unknown


def _compared(operator: str, value: Any, ranges: Ranges) -> tuple[int, int]:
    low, high = ranges.low, ranges.high
    match operator:
        case "<":
            return chunks_where(x < value for x in low), chunks_where(x >= value for x in high)
        case "<=":
            return chunks_where(x <= value for x in low), chunks_where(x > value for x in high)
        case ">":
            return chunks_where(x > value for x in high), chunks_where(x <= value for x in low)
        case ">=":
            return chunks_where(x >= value for x in high), chunks_where(x < value for x in low)
    pairs = list(zip(low, high, strict=True))
    equal = chunks_where(x <= value <= y for x, y in pairs)
    other = chunks_where(not (x == value == y) for x, y in pairs)
    return (equal, other) if operator == "=" else (other, equal)


def _within(values: Sequence[Any], ranges: Ranges) -> tuple[int, int]:
    """Return where a listed value lies between the smallest and the largest, and where another value does."""
    if not values:
        return 0, (1 << len(ranges.low)) - 1
    true: list[bool] = []
    false: list[bool] = []
    for low, high in zip(ranges.low, ranges.high, strict=True):
        place = bisect_left(values, low)
        inside = place < len(values) and values[place] <= high
        true.append(inside)
        false.append(not (inside and low == high))
    return chunks_where(true), chunks_where(false)


def _plain(value: p.Value) -> Any:
    """Return an equal literal that compares fast."""
    if isinstance(value, Fraction):
        near = value.numerator / value.denominator
        return near if Fraction(near) == value else value
    return value


def _read(text: str, kind: type | None) -> int | float | str | bool | None:
    if kind is Fraction:
        return number_of(text)
    return text == "true" if kind is bool else text
