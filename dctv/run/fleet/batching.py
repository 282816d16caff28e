"""Put traces of a fleet together that are run through in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.record import record
from dctv.run.fleet.members import FleetMember
from dctv.run.fleet.metadata import MemberMetadata
from dctv.run.fleet.table import FleetTable

_SMALL = 100_000
"""Opening a trace takes as long as reading a tenth of this many events; traces with more are run one by one."""
_MOST, _LEAST = 1_000_000, 400_000
"""The most events of a batch, which bounds memory, and how far batches shrink: each takes time of its own."""
_SHARE = 2
"""How many batches of the same size would be left for each processor: batches shrink towards the end, so that no
processor is idle there. This is guided self-scheduling (Polychronopoulos and Kuck, 1987)."""
_GROWTH, _GROWING = 8, 2
"""The first batches have 8 and 64 traces at most where the first rows are to come soon."""


@record
class Batching:
    """The tables that are read of some traces."""

    tables: Sequence[FleetTable]
    metadata: Mapping[str, MemberMetadata]

    def batches(
        self, members: Sequence[FleetMember], processors: int, *, soon: bool
    ) -> Sequence[Sequence[FleetMember]]:
        """Return traces in batches, in their order, for so many processors; with `soon`, the first ones are small."""
        if any(one.arguments is not None for one in self.tables):
            return [[one] for one in members]
        counts = [self._events(one) for one in members]
        left = sum(counts)
        made: list[list[FleetMember]] = []
        room = most = 0
        for one, count in zip(members, counts, strict=True):
            if count > room or len(made[-1]) >= most:
                most = _GROWTH ** (len(made) + 1) if soon and len(made) < _GROWING else len(members)
                room = min(max(left // (_SHARE * processors), _LEAST), _MOST)
                made.append([])
            made[-1].append(one)
            room -= count
            left -= count
        return made

    def _events(self, member: FleetMember) -> int:
        """Return the number of a trace's events; for one that is run alone, as many as fill a batch."""
        known = self.metadata[member.name]
        if not known.signature or known.events is None or known.events > _SMALL:
            return _MOST
        return max(known.events, 1)
