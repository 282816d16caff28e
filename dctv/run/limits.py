"""Limits of a session's use of the machine, and its folder for files."""

from __future__ import annotations

from pathlib import Path

from dctv.index.mounting import IndexPolicy
from dctv.record import record, replace


@record
class Limits:
    """The limits of a session; they are handed to processes that work for it."""

    policy: IndexPolicy
    """Whether traces are read by their indexes, and where those and histories are kept."""
    threads: int
    memory: str | None
    """As the engine reads it; None leaves it to the engine."""
    temp_directory: Path | None
    """The user's folder for data that does not fit into memory; None for the default."""

    def share(self, workers: int, memory: int) -> Limits:
        """Return the limits of one of `workers` processes, which share `memory` bytes."""
        return replace(self, threads=max(self.threads // workers, 1), memory=f"{max(memory // workers >> 20, 64)}MiB")
