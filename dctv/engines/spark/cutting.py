"""Rows of an operator's inputs -> groups that workers compute by themselves: buckets of partitions, slabs of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.contracts.remote import Frame, Share, Sweep
from dctv.engines.spark.columns import ddl, held_schema, quoted
from dctv.engines.spark.sweeps import BUCKET, SLAB, Slabs, SweepGroup
from dctv.record import record
from dctv.types.values import is_float


@record
class CutInputs:
    """Inputs whose rows stand once in each group that they go to."""

    frames: tuple[Frame, ...]
    slabs: Slabs | None
    cuts: Mapping[int, int]


def cut(sweep: Sweep, inputs: Sequence[Frame], extent: tuple[int, int] | None, cores: int) -> CutInputs:
    """Share out the rows of an operator's inputs."""
    slabs = None
    if sweep.slabs:
        low, high = extent or (0, 0)
        count = cores if extent is not None else 1
        slabs = Slabs(low, max((high - low) // count + 1, 1), count)
    buckets = cores if any(share.keys for share in sweep.shares) else 1
    frames = [_shared(one, share, slabs, buckets) for one, share in zip(inputs, sweep.shares, strict=True)]
    cuts = {} if slabs is None else _cuts(sweep, inputs, slabs)
    return CutInputs(tuple(frames), slabs, cuts)


def _shared(frame: Frame, share: Share, slabs: Slabs | None, buckets: int) -> Frame:
    """Give each row the numbers of its bucket and its slab; it stands once in each that it goes to."""
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
            # One that ends where a slab starts is a boundary there.
            final = _number(f"({quoted(share.columns[0][0])} + {quoted(share.columns[1][0])})", slabs)
    slab = (
        f"CAST({first} AS INT)" if first == final else f"EXPLODE(SEQUENCE(CAST({first} AS INT), CAST({final} AS INT)))"
    )
    return made.selectExpr(*columns, quoted(BUCKET), f"{slab} AS {quoted(SLAB)}")


def _text(key: str, kind: str) -> str:
    """Write a text that is the same for equal partitions: the two zeros of floats are."""
    text = f"COALESCE(CAST({key} AS STRING), '')"
    return f"CASE WHEN {key} = 0 THEN '0' ELSE {text} END" if is_float(kind) else text


def _number(time: str, slabs: Slabs) -> str:
    """Write the number of the slab that a time is in; those before the first are in the first."""
    return f"LEAST(GREATEST(({time} - {slabs.start}) DIV {slabs.width}, 0), {slabs.count - 1})"


def _cuts(sweep: Sweep, inputs: Sequence[Frame], slabs: Slabs) -> Mapping[int, int]:
    """Find when the first row starts after each slab, of the inputs that cut."""
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
    """Run the operator for each group."""
    given = tuple((share.given, share.timed) for share in sweep.shares)
    group = SweepGroup(sweep.run, sweep.options, given, held_schema(sweep.result), made.slabs, made.cuts)
    keys = [BUCKET] if made.slabs is None else [BUCKET, SLAB]
    by = [frame.groupBy(*keys) for frame in made.frames]
    whole = by[0] if len(by) == 1 else by[0].cogroup(by[1])
    return whole.applyInArrow(group.function(), ddl(sweep.made))
