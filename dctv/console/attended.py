"""Turns Ctrl-C into an interrupt of the session while work runs in a thread of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from types import FrameType
from typing import TypeVar

from dctv.errors import Interrupted

T = TypeVar("T")

PULSE = 0.1
"""Seconds between interrupts, repeated because one that comes between two statements is lost on the session."""

Check = Callable[[], None]
"""Raises Interrupted once the user has had enough; called between statements."""


def attended(work: Callable[[Check], T], interrupt: Callable[[], None], abandon: Callable[[], None]) -> T:
    """Run work in a thread while the main thread waits for it and for signals.

    The first Ctrl-C (or SIGTERM) calls `interrupt`, after which the work should raise Interrupted; the next ones call
    `abandon`, which removes what must not be left behind and ends the process with `end_process`.
    """
    asked = 0

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked += 1
        if asked > 1:
            abandon()
        interrupt()

    def check() -> None:
        if asked:
            raise Interrupted("interrupted")

    previous = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with ThreadPoolExecutor(1, "dctv-work") as pool:
            future = pool.submit(work, check)
            while not wait([future], PULSE).done:
                if asked:
                    interrupt()
            return future.result()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def end_process() -> None:
    """End at once, whatever threads still do, as somebody who pressed Ctrl-C twice expects."""
    os._exit(Interrupted.exit_code)
