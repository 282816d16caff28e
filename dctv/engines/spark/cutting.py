"""Divide the rows of an operator's inputs into groups that workers compute alone: hash buckets and slabs of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from dctv.contracts.remote import Frame, Share, Sweep
from dctv.engines.spark.columns import ddl, quoted, spark_schema
from dctv.engines.spark.sweeps import BUCKET, SIDE, SLAB, Slabs, SweepGroup, SweepInput
from dctv.engines.sql.vetted.types import named, spark_name
from dctv.record import record
from dctv.types.values import is_float

_MOST_SLABS = 4096
_BUCKETS = 16
"""Buckets per partition of the engine."""


@record
class CutInputs:
    """Inputs with one copy of each row per group that the row belongs to."""

    frames: tuple[Frame, ...]
    slabs: Slabs | None
    cuts: Mapping[int, int]
    partitions: int
    """The number of partitions that groups are distributed to."""


def cut(sweep: Sweep, inputs: Sequence[Frame], extent: tuple[int, int] | None, cores: int, least: int) -> CutInputs:
    """Divide the rows of an operator's inputs into groups; if time is cut at all, into at least this many slabs."""
    has_keys = any(share.keys for share in sweep.shares)
    slabs = None
    if sweep.slabs or extent is not None:
        low, high = extent or (0, 0)
        count = 1 if extent is None else min(least if has_keys else max(least, cores), _MOST_SLABS)
        slabs = Slabs(low, max((high - low) // count + 1, 1), count)
    # With as many buckets as partitions, some partitions would get several and others none.
    buckets = cores * _BUCKETS if all(share.keys for share in sweep.shares) else cores if has_keys else 1
    frames = [_shared(one, share, slabs, buckets) for one, share in zip(inputs, sweep.shares, strict=True)]
    cuts = {} if slabs is None else _cuts(sweep, inputs, slabs)
    return CutInputs(tuple(frames), slabs, cuts, cores)


def _shared(frame: Frame, share: Share, slabs: Slabs | None, buckets: int) -> Frame:
    """Give each row the numbers of its bucket and its slab, with one copy per group that it belongs to."""
    columns = [quoted(name) for name, _ in share.columns]
    if share.keys:
        types = dict(share.columns)
        texts = ", ".join(_text(quoted(key), types[key]) for key in share.keys)
        bucket = f"CAST(PMOD(HASH({texts}), {buckets}) AS INT)"
    else:
        bucket = "0" if buckets == 1 else f"EXPLODE(SEQUENCE(0, {buckets - 1}))"
    made = frame.selectExpr(*columns, f"{bucket} AS {quoted(BUCKET)}")
    if slabs is None:
        return made
    last = slabs.count - 1
    first, final = "0", str(last)
    if share.timed:
        first = final = _number(quoted(share.columns[0][0]), slabs)
        if share.lasting:
            # A row that ends where a slab starts is a boundary there.
            final = _number(f"({quoted(share.columns[0][0])} + {quoted(share.columns[1][0])})", slabs)
    slab = (
        f"CAST({first} AS INT)" if first == final else f"EXPLODE(SEQUENCE(CAST({first} AS INT), CAST({final} AS INT)))"
    )
    return made.selectExpr(*columns, quoted(BUCKET), f"{slab} AS {quoted(SLAB)}")


def _text(key: str, kind: str) -> str:
    """Write an expression whose text is the same for equal partitions: 0.0 and -0.0 are."""
    text = f"COALESCE(CAST({key} AS STRING), '')"
    return f"CASE WHEN {key} = 0 THEN '0' ELSE {text} END" if is_float(kind) else text


def _number(time: str, slabs: Slabs) -> str:
    """Write an expression for the number of the slab that a time is in; the first one includes all earlier times."""
    return f"LEAST(GREATEST(({time} - {slabs.start}) DIV {slabs.width}, 0), {slabs.count - 1})"


def _cuts(sweep: Sweep, inputs: Sequence[Frame], slabs: Slabs) -> Mapping[int, int]:
    """Find the start of the first row after each slab, among the inputs that cut."""
    starts: dict[int, int] = {}
    for number in sweep.cut_by:
        time = quoted(sweep.shares[number].columns[0][0])
        slab = f"CAST({_number(time, slabs)} AS INT) AS slab"
        found = inputs[number].selectExpr(slab, f"{time} AS time").groupBy("slab").agg({"time": "min"}).toArrow()
        for slab_number, time_found in zip(*(column.to_pylist() for column in found.columns), strict=True):
            starts[slab_number] = min(time_found, starts.get(slab_number, time_found))
    later = {n: min((at for slab, at in starts.items() if slab > n), default=None) for n in range(slabs.count)}
    return {slab: at for slab, at in later.items() if at is not None}


def grouped(made: CutInputs, sweep: Sweep) -> Frame:
    """Run the operator for each group.

    Rows of all inputs go to the workers as one table, distributed by group: putting groups of two tables side by side
    (`cogroup`) sorts both, which takes most of the time.
    """
    keys = [BUCKET] if made.slabs is None else [BUCKET, SLAB]
    types, places = _slots([[spark_name(named(kind)) for _, kind in share.columns] for share in sweep.shares])
    tables = []
    for number, (frame, share, place) in enumerate(zip(made.frames, sweep.shares, places, strict=True)):
        own = {slot: quoted(name) for slot, (name, _) in zip(place, share.columns, strict=True)}
        columns = [f"CAST({own.get(slot, 'NULL')} AS {kind}) AS c{slot}" for slot, kind in enumerate(types)]
        tables.append(frame.selectExpr(f"{number} AS {quoted(SIDE)}", *map(quoted, keys), *columns))
    rows = reduce(lambda above, below: above.unionAll(below), tables)
    inputs = tuple(
        SweepInput(share.given, tuple(f"c{slot}" for slot in place), share.timed)
        for share, place in zip(sweep.shares, places, strict=True)
    )
    apart = not all(share.keys for share in sweep.shares)
    group = SweepGroup(sweep.run, inputs, spark_schema(sweep.result), made.slabs, made.cuts, apart)
    return rows.repartition(made.partitions, *keys).mapInArrow(group.of_partition, ddl(sweep.made))


def _slots(types: Sequence[Sequence[str]]) -> tuple[list[str], list[list[int]]]:
    """Return the column types of a table that holds rows of several inputs, and the columns that each input uses."""
    slots: list[str] = []
    places: list[list[int]] = []
    for own in types:
        place: list[int] = []
        for kind in own:
            free = (slot for slot, other in enumerate(slots) if other == kind and slot not in place)
            place.append(next(free, len(slots)))
            slots += [kind] * (place[-1] == len(slots))
        places.append(place)
    return slots, places
