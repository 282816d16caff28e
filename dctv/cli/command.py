"""The interface of a subcommand; the scan of `dctv.cli.commands` finds its implementations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dctv.record import record

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


@record
class Command:
    """A subcommand of `dctv`."""

    name: str
    title: str
    """One line for `dctv --help`."""
    configure: Callable[[ArgumentParser], None]
    """Adds its arguments."""
    run: Callable[[Namespace], int]
    """Runs it and returns the exit code."""
    examples: tuple[str, ...] = ()
    """Arguments after the name, for `dctv NAME --help`."""
