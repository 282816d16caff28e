"""Read `trace.dat`, the binary file of trace-cmd in its versions 6 and 7: pages of the kernel's ring buffer.

Every event becomes a table `raw_events.<event>` with the columns of ftrace's text: `_ts`, `cpu`, `common_comm`,
`common_pid`, `common_flags`, `line` (for marks, and for events where views need the order), `buffer` (if the trace has
buffers other than the main one, for which it is NULL), then the fields. A field that the kernel prints as a name, such
as `prev_state`, is the printed text, and the number is `prev_state_number`. Marks of programs are `print|B` and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dctv.contracts.reader import Head, LoadContext
from dctv.readers.described import Described, RowPass

_MAGIC = b"\x17\x08\x44tracing"


def sniff(head: Head) -> bool:
    """Whether a file begins like those of trace-cmd."""
    return head.raw.startswith(_MAGIC)


def start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    """Start a pass over the files."""
    from dctv._kernels import trace_dat_pass
    from dctv.readers.ftrace_events.tracepoints import TracepointPass

    return TracepointPass(trace_dat_pass([str(path) for path in paths], max(1, context.threads), context.progress))


READER = Described(
    name="trace-dat",
    title="trace-cmd binary (trace.dat versions 6 and 7)",
    suffixes=(".dat",),
    sniff=sniff,
    start=start,
    dimensions={name: name for name in ("cpu", "common_comm", "common_pid")},
).reader()
