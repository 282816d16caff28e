"""Draw the frames of mounted traces by the options of `dctv flame`, with notes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dctv.cli.call_trees.options import is_filtered
from dctv.cli.call_trees.queries import OTHER, TRACE, resolved, source_of
from dctv.cli.call_trees.report import time_unit
from dctv.cli.flame.frames import FlameTree, ShownFrames, TreeComparison, compare, read_tree, shown
from dctv.cli.flame.picture import INNER, Caption, picture
from dctv.cli.flame.queries import check_events, frames_of_calls, frames_of_samples, has_rows, usual_weight
from dctv.errors import UsageError
from dctv.record import replace

if TYPE_CHECKING:
    from dctv.session import Session


def draw(session: Session, args: Namespace) -> Iterator[str]:
    """Yield the picture of the mounted trace in pieces."""
    first, origin, args = _tree(session, args, TRACE)
    args.origin = origin
    compared = None
    if args.diff is not None:
        other, _, _ = _tree(session, args, OTHER)
        compared = compare(first, other)
    drawn = shown(first, compared, args.min_width * first.whole / INNER)
    yield from picture(drawn, _caption(args, first, drawn, compared), inverted=args.inverted)


def _tree(session: Session, args: Namespace, mount: str) -> tuple[FlameTree, str, Namespace]:
    """Return the frames of a mount, their source, and the options completed with facts from the trace."""
    source = source_of(session, mount)
    args = Namespace(**vars(resolved(session, source, args)))
    sampled = args.origin is None and not has_rows(session, f"{mount}.calls")
    if args.origin != "samples" and not (sampled and has_rows(session, f"{mount}.samples.samples")):
        if args.events:
            raise UsageError("`--event` applies to samples, not to calls", hint="write `--from samples`")
        source = replace(source, recorded=False, view="slices") if args.origin == "slices" else source
        return read_tree(session, frames_of_calls(args, source)), args.origin or "calls", args
    check_events(session, args, source)
    args.weight = args.weight or usual_weight(session, mount)
    return read_tree(session, frames_of_samples(args, source)), "samples", args


def _caption(args: Namespace, first: FlameTree, drawn: ShownFrames, compared: TreeComparison | None) -> Caption:
    sampled = args.origin == "samples"

    def value(width: int) -> str:
        if not sampled:
            return _time(width)
        counted = "sample" if width == 1 else "samples"
        return f"{width} {counted if args.weight == 'count' else 'of period'}"

    trace = args.title or ", ".join(args.traces)
    events = f" of {', '.join(args.events)}" if args.events else ""
    lines = [f"{value(first.whole)} in all, {len(first)} frames of {args.origin}{events}{_filters(args)}"]
    notes = []
    if compared is not None:
        trace = f"{trace}: {value(first.whole)}" + f"; {args.diff}: {value(compared.whole)}"
        lines.append("widths: the first; red: more than in the other, blue: less")
        notes.append(f"{compared.only_other} frames are only in the other, {value(compared.missing)} in all")
    notes.append(
        f"{drawn.left_out} frames narrower than {args.min_width:g} of {INNER} are left out, "
        f"{value(drawn.narrow)} in all"
        if drawn.left_out
        else "all frames are shown"
    )
    if not first.whole:
        notes.append("there is nothing to show")
    return Caption(trace, tuple(lines), tuple(notes), value, not (sampled or args.reverse))


def _time(nanoseconds: int) -> str:
    return " ".join(time_unit(nanoseconds).split()) or "0.000 us"


def _filters(args: Namespace) -> str:
    return ", filtered" if is_filtered(args) or args.no_libcall else ""
