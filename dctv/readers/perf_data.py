"""Read perf.data, as `perf record` writes it to files and pipes: samples with stacks, tracepoints, and process events.

Samples are rows of `raw_events.sample`: `event`, `pid`, `tid`, `cpu`, `comm`, `mode`, `period` (the weight of the
sample), `ip` and `stack`, the frames from the root on, separated by `;`: `module+0xoffset`, since a trace has no
symbols except those of programs in the kernel (BPF). Samples of tracepoints are rows of `raw_events.<tracepoint>`, with
the kernel's fields. Kernel records of memory maps, names and lifetimes of processes are in `raw_events.mmap`, `comm`,
`fork`, `exit`, `switch`, `lost` and more; `line` is a record's number in the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dctv.contracts.reader import Head, LoadContext
from dctv.readers.described import Described, RowPass

MAGIC = (b"PERFILE2", b"2ELIFREP", b"PERFFILE")


def sniff(head: Head) -> bool:
    """Whether a file begins like perf.data, in either byte order."""
    return head.text.startswith(MAGIC)


def start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    """Start a pass over perf.data files."""
    from dctv._kernels import perf_data_pass

    return perf_data_pass([str(path) for path in paths], max(1, context.threads), context.progress)


READER = Described(
    name="perf-data",
    title="Linux perf (perf.data, from files and pipes)",
    suffixes=(".data", ".data.gz", ".perf"),
    sniff=sniff,
    start=start,
    dimensions={"event": "event", "cpu": "cpu", "pid": "pid", "tid": "tid", "comm": "comm"},
).reader()
