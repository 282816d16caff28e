"""Worker processes for traces: starting them, and ending them in any state."""

from __future__ import annotations

import gc
import os
import signal
import sys
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import current_process, get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread

from dctv.processors import limit_numpy_to_one_thread

_ALLOCATIONS = 20_000
"""Between two looks for garbage among new objects; of 700, which is Python's own choice, each trace makes dozens."""

GUARD = "put what it does under `if __name__ == '__main__':`"
_NOT_BEGUN, _ABANDONED = 1, 2
"""Exit codes: Python's own for an exception while a process starts, and one for workers that nobody waits for."""


def started(workers: int) -> ProcessPoolExecutor:
    """Return an executor with this many processes, each of which starts on demand."""
    # Nothing public says that this process is a worker that runs the program's script once more, to import it.
    if getattr(current_process(), "_inheriting", False):
        # An exception would print a traceback for each worker, and may be raised in a thread that outlives it.
        sys.stderr.write(f"a worker process runs the script once more; {GUARD}\n")
        sys.stderr.flush()
        os._exit(_NOT_BEGUN)
    # A fork would copy the threads' locks.
    return ProcessPoolExecutor(workers, get_context("spawn"), _begin)


def end(pool: Executor) -> bool:
    """End the processes of an executor; return whether one failed before it got any work.

    Then the program cannot be imported there.
    """
    # Nothing public ends workers that are busy before Python 3.14.
    processes: list[BaseProcess] = list((getattr(pool, "_processes", None) or {}).values())
    for one in processes:
        one.kill()
    # Until it has joined them, a thread of the executor may know an exit code that it has not noted yet.
    pool.shutdown(cancel_futures=True)
    return any(one.exitcode == _NOT_BEGUN for one in processes)


def _begin() -> None:
    """Prepare a worker: the process that hands out work handles Ctrl-C, and each piece of it leaves little garbage."""
    limit_numpy_to_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_ALLOCATIONS, 20, 20)
    parent = parent_process()
    assert parent is not None
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """End this process when the one that hands out work is gone: if it was killed, nothing else tells its workers."""
    parent.join()
    os._exit(_ABANDONED)
