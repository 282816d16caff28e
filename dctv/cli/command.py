"""What a subcommand must bring; the scan of `dctv.cli.commands` finds it."""

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
    """Add its arguments."""
    run: Callable[[Namespace], int]
    """Do it and return the exit code."""
    examples: tuple[str, ...] = ()
    """Words of the command line after the name, for `dctv NAME --help`."""
