"""`dctv draw`: draw the timeline of traces, in the terminal or as an SVG or PNG picture or a page."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.cli.arguments import add_index_options, add_session_options, positive
from dctv.cli.command import Command
from dctv.cli.mounts import parse_mounts
from dctv.cli.terminal import add_terminal_options, look
from dctv.console.verdict import OK
from dctv.errors import UsageError
from dctv.patterns import pattern

if TYPE_CHECKING:
    from dctv.cli.task import TaskResources
    from dctv.draw.scene import Scene

_TRACE = "trace"
"""The mount of a trace without a name."""
_STATES = "state"
"""The name of a trace's state system, below its mount."""
_TIME = pattern(r"(-?)([0-9]{1,15})(?:\.([0-9]{1,9}))?(|ns|us|ms|s|m|h)")


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv draw`."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="TRACE | NAME=TRACE",
        help="files, folders or patterns, combined into one trace; with names, several traces below each other",
    )
    parser.add_argument(
        "--from", dest="start", type=_time, metavar="TIME", help="time since the trace began, such as 1.5s (default: 0)"
    )
    parser.add_argument(
        "--to", dest="stop", type=_time, metavar="TIME", help="likewise (default: the end of the trace)"
    )
    parser.add_argument(
        "--tracks",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only tracks whose path matches, such as 'CPUs/*', and everything in them; may be repeated",
    )
    parser.add_argument(
        "--states", action="store_true", help="draw the attributes of the traces' state systems instead"
    )
    parser.add_argument("--width", type=positive, metavar="PX", help="pixels (default: 1600); columns in a terminal")
    parser.add_argument("--height", type=positive, metavar="PX", help="pixels, lines in a terminal (default: for all)")
    parser.add_argument(
        "--theme", choices=("light", "dark"), help="(default: whichever the reader uses; light for PNG)"
    )
    parser.add_argument("--title", metavar="TEXT", help="heading (default: the names of the traces)")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="an .svg, .png or .html, written only if everything succeeds"
    )
    add_terminal_options(parser)
    add_session_options(parser)
    add_index_options(parser)


def _time(text: str) -> int:
    from dctv.calls.language import decimal_time_of

    found = _TIME.fullmatch(text)
    if found is None:
        raise ArgumentTypeError(f"expected a time such as `1.5s` or `200us`, found `{text}`")
    time = decimal_time_of(found[2], found[3] or "", found[4])
    return -time if found[1] else time


def run(args: Namespace) -> int:
    """Mount, choose tracks, draw; return the exit code."""
    from dctv.cli.task import carry_out
    from dctv.console.sink import STDOUT

    mounts = parse_mounts(args.words)
    traces = [path for _, path in mounts.unnamed]
    named = [one for one in mounts.traces if one not in mounts.unnamed]
    everything: list[tuple[str, Any]] = [*([(_TRACE, traces)] if traces else []), *named]
    if len({name for name, _ in everything}) < len(everything):
        raise UsageError(f"`{_TRACE}` is reserved for traces without a name", hint="name all traces")
    to_file = args.output is not None and args.output not in STDOUT
    _check(args, to_file=to_file)
    args = look(args)

    def work(desk: TaskResources) -> int:
        scene = _scene(desk, args, [name for name, _ in everything], to_file=to_file)
        desk.sink.stream.write(_drawn(scene, args, to_file=to_file))
        desk.sink.stream.flush()
        return OK

    return carry_out(args, everything, work, args.output)


def _check(args: Namespace, *, to_file: bool) -> None:
    """Reject impossible requests before a trace is read."""
    from dctv.draw.times import exact_time

    if args.stop is not None and args.stop <= (args.start or 0):
        window = f"{exact_time(args.start or 0)} to {exact_time(args.stop)}"
        raise UsageError(f"`--to` must be later than `--from`, found {window}")
    if not to_file:
        from dctv.draw.terminal.page import check_size

        check_size(_columns(args), args.height)
        return
    from dctv.draw.files import check_ending
    from dctv.draw.layout import WIDTH, check_size

    check_size(args.width or WIDTH, args.height)
    check_ending(args.output)


def _scene(desk: TaskResources, args: Namespace, names: list[str], *, to_file: bool) -> Scene:
    from dctv.draw.choice import chosen
    from dctv.draw.joined import joined
    from dctv.draw.layout import WIDTH, visible
    from dctv.draw.scene import Scene, cells_in, step_of

    shown = {name: f"{name}.{_STATES}" if args.states else name for name in names}
    timeline = joined({name: desk.session.timeline(one) for name, one in shown.items()})
    tracks = chosen(timeline.tracks, args.tracks)
    begin = timeline.begin
    start, stop = _window(args, begin, timeline.end)
    step = step_of(start, stop, (args.width or WIDTH) if to_file else 4 * _columns(args))
    seen = visible(tracks, args.height if to_file else None)
    cells = cells_in(timeline, [track.id for track in seen], start, stop, step)
    return Scene(tracks, cells, start, stop, step, args.title or ", ".join(args.words), begin)


def _window(args: Namespace, begin: int, end: int) -> tuple[int, int]:
    from dctv.draw.scene import check_window
    from dctv.draw.times import exact_time

    start = begin if args.start is None else begin + args.start
    if args.stop is None and args.start is not None and start >= end:
        lasts = exact_time(end - begin)
        raise UsageError(f"`--from` is {exact_time(args.start)}, and what is drawn ends at {lasts}")
    stop = max(end, start + 1) if args.stop is None else begin + args.stop
    check_window(start, stop)
    return start, stop


def _drawn(scene: Scene, args: Namespace, *, to_file: bool) -> bytes:
    """Return the output; a scene becomes a picture if the output is a file."""
    if not to_file:
        from dctv.draw.terminal.page import text

        return text(scene, _columns(args), args.height, coloured=args.coloured).encode()
    from dctv.draw.files import content
    from dctv.draw.layout import picture

    return content(picture(scene, args.width, args.height), args.output, args.theme)


def _columns(args: Namespace) -> int:
    from shutil import get_terminal_size

    from dctv.draw.terminal.page import LEAST, MOST

    return args.width or min(max(get_terminal_size().columns, LEAST), MOST)


DRAW = Command("draw", "draw the timeline of traces (terminal, SVG, PNG, HTML)", configure, run)
