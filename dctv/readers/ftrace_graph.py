"""Read the text of the function graph tracer in tracefs: ` 0) 1.234 us | func();`, with any options.

Each line that enters a function (or calls a leaf function) is a row of `raw_events.funcgraph_entry`, each `}` one of
`raw_events.funcgraph_exit`: `func`, `depth` from 0, and if printed `duration` (of leaf calls and of exits), `params`
and `retval`. Events between functions are in their own tables, like those of other ftrace text.
`raw_events.funcgraph_switch` has the switches of a CPU to another thread, `raw_events.funcgraph_irq` the beginnings and
ends of interrupts.

Lines have times only with the option `funcgraph-abstime`. Without it `_ts` is the sum of the durations of the CPU's
lines (the property `clock` is `durations`): lengths and nesting are right, the time between functions is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dctv.contracts.reader import Head, LoadContext
from dctv.patterns import pattern
from dctv.readers.described import Described, RowPass

_HEADER = pattern(rb"^# tracer: function_graph\b", re.M)
_LINE = pattern(
    rb"^[ \t]*(?:\d+\.\d+[ \t]*\|)?[ \t]*\d{1,5}\)[^\n|]{0,48}(?:\|[^\n|]{0,32}){0,2}"
    rb"\|[ ]*(?:\}|/\*|[\w.$<>:~]+[ ]?\()",
    re.M,
)
_PREFIXED = pattern(rb"^[^\n]{0,64}-\d+\s+(?:\([ \d-]+\)\s+)?\[\d{1,6}\]\s", re.M)


def sniff(head: Head) -> bool:
    """Whether a file has the tracer's header or lines, and not those of another format."""
    text = head.text[:16384]
    return (_HEADER.search(text) is not None or _LINE.search(text) is not None) and _PREFIXED.search(text) is None


def start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    """Start a pass over files of text."""
    from dctv._kernels import ftrace_graph_pass

    return ftrace_graph_pass([str(path) for path in paths], max(1, context.threads), context.progress)


READER = Described(
    name="ftrace-graph",
    title="Function graph text of tracefs",
    suffixes=(".graph", ".graph.txt", ".graph.gz", ".graph.txt.gz"),
    sniff=sniff,
    start=start,
    dimensions={"cpu": "cpu", "common_comm": "common_comm", "common_pid": "common_pid"},
).reader()
