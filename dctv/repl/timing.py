"""Format the costs of a statement: rows, seconds, CPU time and bytes of files."""

from __future__ import annotations

from time import perf_counter, process_time

from dctv.console.pager import Keyboard
from dctv.run.metering import size
from dctv.run.result import Outcome, Result


class Timing:
    """The clocks of a statement; they stop while the pager owns the keyboard."""

    def __init__(self, keyboard: Keyboard) -> None:
        self._keyboard = keyboard
        self._began = perf_counter() - keyboard.waited
        self._cpu = process_time()

    def text(self, outcome: Outcome, count: int | None) -> str:
        """Return a line about an outcome that has been shown, with its number of rows if it has any."""
        what = "done" if count is None else "1 row" if count == 1 else f"{count} rows"
        took = perf_counter() - self._began - self._keyboard.waited
        spent = outcome.spent if isinstance(outcome, Result) else None
        cpu = process_time() - self._cpu + (0 if spent is None else spent.cpu)
        read = "" if spent is None or spent.read is None else f", {size(spent.read)} read from files"
        return f"{what} in {took:.3f} s, {cpu:.3f} s CPU{read}"
