"""`.plot`: draw the rows of the last query as a timeline in the terminal."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import TYPE_CHECKING

from dctv.console.attended import Check
from dctv.console.paint import coloured
from dctv.console.verdict import OK
from dctv.errors import UsageError, nearest
from dctv.repl.conversation import Conversation
from dctv.repl.dot_command import DotCommand
from dctv.run.result import Result
from dctv.types.values import is_numeric

if TYPE_CHECKING:
    from dctv.timeline.timeline import Timeline


def _plot(talk: Conversation, column: str) -> int:
    last = talk.last
    if last is None:
        raise UsageError("no statement had a result yet")

    def work(check: Check) -> int:
        talk.bar.begin("drawing")
        outcomes = talk.session.execute(last.text, last.params, source_name=last.source_name, base=last.base)
        results = [outcome for outcome in outcomes if isinstance(outcome, Result)]
        text = _drawn(_timeline(results[-1], column))
        check()
        talk.bar.clear()
        talk.print_text(text)
        return OK

    return talk.attend(work)


def _timeline(result: Result, column: str) -> Timeline:
    """Return the rows as a timeline, named by a column of texts, or with the numbers of a column over time."""
    if not column:
        return result.timeline()
    found = {one.name: one for one in result.schema.columns}.get(column)
    if found is None:
        near = nearest(column, list(result.schema.names))
        raise UsageError(f"the result has no column `{column}`", hint=f"did you mean `{near}`?" if near else None)
    return result.timeline(value=column) if is_numeric(found.type) else result.timeline(name=column)


def _drawn(timeline: Timeline) -> str:
    from dctv.draw.scene import Scene, step_of
    from dctv.draw.terminal.page import LEAST, MOST, text

    width = min(max(get_terminal_size().columns, LEAST), MOST)
    start, stop = timeline.begin, max(timeline.end, timeline.begin + 1)
    step = step_of(start, stop, 4 * width)
    cells = timeline.cells([track.id for track in timeline.tracks], start, stop, step)
    scene = Scene(timeline.tracks, cells, start, stop, step, "the last query", 0)
    return text(scene, width, coloured=coloured("auto")).rstrip("\n")


PLOT = DotCommand("plot", "[COLUMN]", "draw the last query's spans, events or numbers over time", _plot)
