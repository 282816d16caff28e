"""Write calls that pass the filters for other tools: records, Chrome's JSON, stacks with samples, graphs."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, BinaryIO

from dctv.cli.call_trees.graph import refuse
from dctv.cli.call_trees.lookups import in_order, properties_of, tasks_of
from dctv.cli.call_trees.options import is_filtered
from dctv.cli.call_trees.queries import CallSource, run_internal, shown_calls
from dctv.cli.call_trees.recording import Recording, header_of, program_of, recording_of, version_of
from dctv.cli.call_trees.tree import CallNode, Forest, forest_of, tree_query
from dctv.record import record

if TYPE_CHECKING:
    from dctv._kernels import Dump
    from dctv.session import Session


@record
class _Form:
    """The format of records."""

    chrome: bool
    structured: bool
    args: bool
    start: int


@record
class _Selection:
    """The records of a data directory to write."""

    data: bool
    events: bool
    filtered: bool
    start: int


@record
class _Origin:
    """The origin of a trace, for headers."""

    program: str
    version: str
    command: str | None
    date: str | None


def _origin(recording: Recording | None, properties: Mapping[str, str], args: Namespace) -> _Origin:
    if recording is None:
        command, date = properties.get("command"), properties.get("record_date")
    else:
        command, date = recording.info.values.get("cmdline"), recording.info.values.get("record_date")
    return _Origin(program_of(recording, properties, args.traces), version_of(recording), command, date)


def write_raw(session: Session, args: Namespace, source: CallSource, out: BinaryIO) -> None:
    """Write records thread by thread; for a data directory, with everything in them."""
    recording = recording_of(args.traces)
    if recording is None:
        _write_records(session, args, source, out)
        return
    from dctv import _kernels
    from dctv.readers.uftrace_files.files import folder_files
    from dctv.readers.uftrace_files.setup import setup_of

    out.write(header_of(recording).encode())
    setup = setup_of(folder_files(recording.folder) or [recording.folder / "info"])
    filtered = is_filtered(args)
    selection = _Selection(not args.no_args, not args.no_event, filtered, source.start)
    writer = _kernels.UftraceDump(setup, selection)
    if filtered:
        tids = [tid for kind, _, _, tid in setup.sources if kind == "task"]
        query = _records(args, source, f"{_place(tids)}, id")
        for batch in run_internal(session, query).reader():
            out.write(writer.push(batch))
    while (lines := writer.finish()) is not None:
        out.write(lines)


def _place(tids: list[int]) -> str:
    """Return the order of threads: that of their files, usually that of their numbers."""
    if tids == sorted(tids):
        return "tid"
    return f"CASE tid {' '.join(f'WHEN {tid} THEN {at}' for at, tid in enumerate(tids))} END"


def _records(args: Namespace, source: CallSource, order: str) -> str:
    return in_order(shown_calls(args, source, tasks=False, events=False, more=True), order)


def _write_records(session: Session, args: Namespace, source: CallSource, out: BinaryIO) -> None:
    from dctv import _kernels

    writer = _kernels.Dump(_Form(chrome=False, structured=False, args=False, start=source.start))
    found = False
    for batch in run_internal(session, _records(args, source, "tid, _ts, id")).reader():
        found = found or batch.num_rows > 0
        out.write(writer.push(batch))
    out.write(writer.finish())
    if not found:
        refuse(session)


def write_chrome(session: Session, args: Namespace, source: CallSource, out: BinaryIO) -> None:
    """Write begins and ends of calls for Chrome's viewer, and other tools that read its JSON."""
    from dctv import _kernels

    recording, properties = recording_of(args.traces), properties_of(session)
    made = _origin(recording, properties, args)
    unix = properties.get("start_unix_ns", "")
    start = int(unix) if unix.isdigit() else source.start
    writer = _kernels.Dump(_Form(chrome=True, structured=not source.recorded, args=not args.no_args, start=start))
    heads = ",\n".join(_heads(session, source, recording)).encode()
    head = b'{"traceEvents":[\n' + heads
    found = False
    for part in _parts(session, args, source, writer):
        # Check first: a trace without calls must produce no output.
        out.write(part if found else head + (b",\n" if heads else b"") + part)
        found = True
    if not found:
        refuse(session)
        out.write(head)
    metadata = {"version": made.version, "recorded_time": made.date, "command_line": made.command}
    lines = ",\n".join(f'"{name}":{_json(value)}' for name, value in metadata.items() if value is not None)
    out.write(f'\n], "displayTimeUnit": "ns", "metadata": {{\n{lines}\n}} }}\n'.encode())


def _parts(session: Session, args: Namespace, source: CallSource, writer: Dump) -> Iterator[bytes]:
    for batch in run_internal(session, tree_query(args, source)).reader():
        if part := writer.push(batch):
            yield part
    if part := writer.finish():
        yield part


def _heads(session: Session, source: CallSource, recording: Recording | None) -> Iterator[str]:
    tasks = tasks_of(session, source)
    if recording is not None:
        order = {tid: at for at, tid in enumerate(recording.info.tids)}
        tasks = sorted((one for one in tasks if one.tid in order), key=lambda one: order[one.tid])
    for task in tasks:
        label = _json(f"[{task.tid}] {task.name}".rstrip())
        # The recorder names threads like processes.
        process = task.tid if recording is not None else task.pid
        if process == task.tid:
            yield f'{{"ts":0,"ph":"M","pid":{process},"name":"process_name","args":{{"name":{label}}}}}'
        thread = "" if process == task.tid and recording is not None else f'"tid":{task.tid},'
        yield f'{{"ts":0,"ph":"M","pid":{process},{thread}"name":"thread_name","args":{{"name":{label}}}}}'


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "replace").decode()


def write_flame(session: Session, args: Namespace, source: CallSource, out: BinaryIO) -> None:
    """Write stacks with the number of samples that would have hit their innermost function."""
    recording = recording_of(args.traces)
    forest = _forest(session, args, source, sample_time=args.sample_time)
    elapsed = recording.info.values.get("elapsed_time", "") if recording is not None else ""
    time = forest.sample_time(args.sample_time, _nanoseconds(elapsed))
    for root in (tree.root for tree in forest.trees):
        for node, above in root.walk():
            samples = _samples(node, forest, time)
            if above and node.calls and samples:
                names = ";".join(_plain(one.name) for one in (*above[1:], node))
                out.write(f"{names} {samples}\n".encode())


def _samples(node: CallNode, forest: Forest, time: int) -> int:
    if time == 0:
        return node.calls
    return (node.own + node.rests[forest.sample_times.index(time)]) // time


def _nanoseconds(elapsed: str) -> int | None:
    """Parse `0.004 sec`."""
    whole, _, part = elapsed.split(" ", maxsplit=1)[0].partition(".")
    digits = part[:9].ljust(9, "0")
    return int(whole + digits) if (whole + digits).isascii() and (whole + digits).isdigit() and whole else None


def _visible(name: str) -> str:
    """Escape characters that are not printable, such as control characters, in hexadecimal."""
    if name.isprintable():
        return name
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in name)


def _plain(name: str) -> str:
    """Write a name on one line, without the separator."""
    return _visible(name).replace(";", ":")


def _forest(session: Session, args: Namespace, source: CallSource, *, sample_time: int | None = None) -> Forest:
    forest = forest_of(session, args, source, sample_time=sample_time)
    if not forest.trees:
        refuse(session)
    return forest


def write_graphviz(session: Session, args: Namespace, source: CallSource, out: BinaryIO) -> None:
    """Write callers, callees and counts in the language of graphviz."""
    made = _origin(recording_of(args.traces), properties_of(session), args)
    forest = _forest(session, args, source)
    out.write(f'# version":"{_line(made.version)}"\n'.encode())
    if made.command is not None:
        out.write(f'# command_line "{_line(made.command)}"\n'.encode())
    out.write(f"\ndigraph {_dot(made.program)} {{ \n".encode())
    for root in (tree.root for tree in forest.trees):
        for node, above in root.walk():
            if above and node.calls:
                caller = above[-1].name if len(above) > 1 else made.program
                out.write(f'    {_dot(caller)} -> {_dot(node.name)} [xlabel = "{node.calls}"]\n'.encode())
    out.write(b"}\n")


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def _dot(name: str) -> str:
    text = _visible(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


_PAGE = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<title>{title}</title>
</head>
<body>
<h2>Function Call Graph for {title}</h2>
<div class="mermaid">
"""
_SCRIPT = """</div>
<script type="module">
import mermaid from "https://cdn.jsdelivr.net/npm/mermaid@11/dist/mermaid.esm.min.mjs";
mermaid.initialize({startOnLoad: true, maxTextSize: 99999999, maxEdges: 999999, flowchart: {useMaxWidth: false}});
</script>
</body>
</html>
"""


def write_mermaid(session: Session, args: Namespace, source: CallSource, out: BinaryIO) -> None:
    """Write a page with callers, callees and counts, which the script mermaid renders."""
    program = program_of(recording_of(args.traces), properties_of(session), args.traces)
    forest = _forest(session, args, source)
    out.write(_PAGE.replace("{title}", escape(program)).encode())
    out.write(b"flowchart TB\n")
    for line in _edges(forest, program):
        out.write(line.encode())
    out.write(_SCRIPT.encode())


def _edges(forest: Forest, program: str) -> Iterator[str]:
    for root in (tree.root for tree in forest.trees):
        for node, above in root.walk():
            if not above:
                continue
            level = len(above)
            caller = above[-1]
            name = caller.name if level > 1 else program
            yield (
                f'  {level - 1}_{caller.number}["{_label(name)}"] -->|{node.calls}| '
                f'{level}_{node.number}["{_label(node.name)}"];\n'
            )


def _label(name: str) -> str:
    """Write a quoted name for a graph in a page."""
    special = {'"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "#": "#35;", ";": "#59;"}
    return "".join(special.get(one, one) for one in _visible(name))


Writer = Callable[["Session", Namespace, CallSource, BinaryIO], None]
FORMATS: Mapping[str, Writer] = {
    "raw": write_raw,
    "chrome": write_chrome,
    "flame-graph": write_flame,
    "graphviz": write_graphviz,
    "mermaid": write_mermaid,
}
"""The writers by format."""
