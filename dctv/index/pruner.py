"""Find the chunks of an index that may hold an event for which a predicate over dimensions is true.

Each part of the predicate has, per chunk, the set of truth values that it may take for events of the chunk: true,
false, unknown. AND, OR and NOT combine these sets; NOT swaps true and false, and keeps unknown. A chunk is kept if and
only if the whole predicate may be true. So NOT drops a chunk only if all its events are proven to match.

Three tiers of evidence are applied in turn: dictionaries with all values of a chunk (and the counts of missing ones),
smallest and largest values, Bloom filters. A dimension that is not indexed may have any value.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property, partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Literal, Protocol

from dctv.index.bloom_cache import CACHE, BloomCache, Key
from dctv.index.canonical import Leaf, canonical
from dctv.index.chunk_sets import Possible, chunks_where, positions_of, set_of
from dctv.index.evidence import Evidence, Ranges, limits
from dctv.index.records import Bloom, DimensionStatistics, IndexedFile
from dctv.plan import predicate as p
from dctv.record import record, replace

_FAR = 2**63 - 1
"""An unknown end: sums beyond it overflow."""
_FEW = 8
"""If Bloom filters of more than this share of the chunks are needed, all are read at once."""

_Tier = Literal["dictionary", "range", "bloom"]
_TIERS: tuple[_Tier, ...] = ("dictionary", "range", "bloom")


class PruningStatistics(Protocol):
    """The statistics of an open index that pruning uses."""

    path: Path

    @property
    def generation(self) -> str:
        """Changes whenever the index is rewritten."""
        ...

    @property
    def files(self) -> Sequence[IndexedFile]:
        """The files of the trace."""
        ...

    @property
    def events(self) -> Sequence[int]:
        """The number of events of each chunk."""
        ...

    @property
    def ends(self) -> Sequence[int | None]:
        """The end of the last event of each chunk."""
        ...

    def dimension(self, name: str, /) -> Sequence[DimensionStatistics] | None:
        """Return the statistics of a dimension in each chunk."""
        ...

    def bloom(self, dimension: str, position: int, /) -> Bloom | None:
        """Return a Bloom filter."""
        ...

    def blooms(self, dimension: str, /) -> Mapping[int, Bloom]:
        """Return all Bloom filters of a dimension."""
        ...

    def file_bloom(self, dimension: str, file: int, /) -> Bloom | None:
        """Return the Bloom filter of a file."""
        ...


@record
class Pruned:
    """The chunks that must be read."""

    positions: Sequence[int]
    """Of the chunks, ascending."""
    files: Mapping[int, Sequence[int]]
    """The same by file, without files that need not be read."""
    chunks_in_all: int
    files_in_all: int
    by_dictionary: int
    """How many chunks dictionaries excluded; the next two count chunks that earlier tiers kept."""
    by_range: int
    by_bloom: int

    @property
    def keeps_all(self) -> bool:
        """Whether no chunk was excluded."""
        return len(self.positions) == self.chunks_in_all

    def __str__(self) -> str:
        kept = f"{len(self.positions)} of {_counted(self.chunks_in_all, 'chunk')}"
        files = f"{len(self.files)} of {_counted(self.files_in_all, 'file')}"
        out = f"{self.by_dictionary} by dictionary, {self.by_range} by range, {self.by_bloom} by bloom"
        return f"index: {kept} in {files}; thrown out: {out}"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


@record
class _Stage:
    """The progress of pruning."""

    tier: _Tier
    kept: int
    """The chunks that earlier tiers kept."""
    known: dict[int, Possible]
    """Truth values that earlier tiers left possible for parts of the predicate, by identity."""


class Pruner:
    """The evidence of one index, read on demand; thread-safe."""

    def __init__(self, index: PruningStatistics, cache: BloomCache = CACHE) -> None:
        self._index = index
        self._cache = cache
        self._lock = threading.RLock()
        self._evidence: dict[str, Evidence | None] = {}
        self._count = len(index.events)
        self._whole = (1 << self._count) - 1

    @cached_property
    def _filled(self) -> int:
        """The chunks that have events."""
        return chunks_where(number > 0 for number in reversed(self._index.events))

    def candidates(self, predicate: p.Predicate) -> Pruned:
        """Return the chunks that may hold events for which a predicate over dimensions is true.

        Only statistics of dimensions in the predicate are read, and cached.
        """
        with self._lock:
            kept = [self._whole]
            stage = _Stage("dictionary", self._whole, {})
            for tier in _TIERS:
                stage = replace(stage, tier=tier, kept=kept[-1])
                kept.append(kept[-1] & self._possible(predicate, stage).true)
        out = [before.bit_count() - after.bit_count() for before, after in pairwise(kept)]
        positions = positions_of(kept[-1])
        return Pruned(positions, self._by_file(positions), self._count, len(self._index.files), *out)

    def _by_file(self, positions: Sequence[int]) -> Mapping[int, Sequence[int]]:
        found: dict[int, Sequence[int]] = {}
        for file in self._index.files:
            first, last = (bisect_left(positions, end) for end in (file.chunks.start, file.chunks.stop))
            if first < last:
                found[file.number] = positions[first:last]
        return found

    def _possible(self, predicate: p.Predicate, stage: _Stage) -> Possible:
        match predicate:
            case p.Undecidable():
                return Possible(self._filled, self._filled, self._filled)
            case p.Not(part):
                return self._possible(part, stage).opposite()
            case p.And(parts):
                found = [self._possible(part, stage) for part in parts]
                return reduce(Possible.both, found, Possible(self._filled, 0, 0))
            case p.Or(parts):
                # False if and only if all are: NOT of AND of NOT.
                found = [self._possible(part, stage).opposite() for part in parts]
                return reduce(Possible.both, found, Possible(self._filled, 0, 0)).opposite()
            case p.Compare((_, _), _, _):
                return self._of_ends(predicate, stage)
            case _:
                return self._leaf(predicate, stage)

    def _leaf(self, leaf: Leaf, stage: _Stage) -> Possible:
        name = leaf.columns[0] if isinstance(leaf, p.Compare) else leaf.column
        evidence = self._evidence_of(name)
        if evidence is None:
            return Possible(self._filled, self._filled, self._filled)
        found = stage.known.get(id(leaf))
        if stage.tier == "dictionary":
            found = evidence.at_all(leaf).within(*evidence.by_dictionary(leaf))
        assert found is not None
        if stage.tier == "range" and self._whole & ~evidence.decided_by_dictionary(leaf):
            found = found.within(*evidence.by_range(leaf))
        if stage.tier == "bloom":
            found = self._probed(leaf, name, evidence, found, stage.kept)
        stage.known[id(leaf)] = found
        return found

    def _evidence_of(self, name: str) -> Evidence | None:
        if name not in self._evidence:
            rows = self._index.dimension(name)
            self._evidence[name] = None if rows is None else Evidence(rows, self._index.events)
        return self._evidence[name]

    def _of_ends(self, leaf: p.Compare, stage: _Stage) -> Possible:
        """Return the possible truth values of a condition on the ends of events."""
        ts, duration = (self._evidence_of(name) for name in ("ts", "dur"))
        if set(leaf.columns) != {"ts", "dur"} or ts is None or duration is None:
            return Possible(self._filled, self._filled, self._filled)
        present = ts.present & duration.present
        found = Possible(present, present, ts.missing | duration.missing)
        return (
            found if stage.tier == "dictionary" else found.within(*limits(leaf, self._ends(ts, duration), self._count))
        )

    def _ends(self, ts: Evidence, duration: Evidence) -> Ranges:
        ends = list(reversed(self._index.ends))
        known = chunks_where(end is not None and end < _FAR for end in ends) & ts.numbers.known & duration.numbers.known
        low = [a + b for a, b in zip(ts.numbers.low, duration.numbers.low, strict=True)]
        return Ranges(known, low, [end or 0 for end in ends])

    def _probed(self, leaf: Leaf, name: str, evidence: Evidence, found: Possible, kept: int) -> Possible:
        """Return the truth values that Bloom filters leave possible for an equality."""
        match leaf:
            case p.In(_, values, _):
                texts, equal = values, True
            case p.Compare(_, "=" | "!=", value):
                texts, equal = (value,), leaf.operator == "="
            case _:
                return found
        side = found.true if equal else found.false
        digests = side & kept & evidence.may_be_probed(leaf) & ~evidence.decided_by_dictionary(leaf)
        if not digests:
            return found
        absent = digests & ~self._may_contain(name, [t for t in map(canonical, texts) if t is not None], digests)
        return found.within(~absent, -1) if equal else found.within(-1, ~absent)

    def _may_contain(self, name: str, texts: Sequence[str], digests: int) -> int:
        """Return the chunks among `asked` in which a value may occur, by filters of files, then of chunks."""
        found: list[int] = []
        for file, own in self._by_file(positions_of(digests)).items():
            of_file = self._cache.get(self._key(name, -1 - file), partial(self._index.file_bloom, name, file))
            if of_file is None or any(map(of_file.may_contain, texts)):
                found += own
        keys = [self._key(name, position) for position in found]
        missing = sum(not self._cache.is_cached(key) for key in keys)
        blooms = self._index.blooms(name) if missing > self._count // _FEW else {}
        filters = [self._cache.get(key, partial(self._bloom, name, key[-1], blooms)) for key in keys]
        possible = [one is None or any(map(one.may_contain, texts)) for one in filters]
        return set_of((position for position, may in zip(found, possible, strict=True) if may), self._count)

    def _bloom(self, name: str, position: int, read: Mapping[int, Bloom]) -> Bloom | None:
        return read[position] if position in read else self._index.bloom(name, position)

    def _key(self, name: str, position: int) -> Key:
        return (self._index.path, self._index.generation, name, position)
