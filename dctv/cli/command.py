"""What a subcommand must bring; every module of this package that defines one is found by the scan of the shelf."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand of `dctv`."""

    name: str
    title: str
    """One line for `dctv --help`."""
    configure: Callable[[ArgumentParser], None]
    """Add its arguments."""
    run: Callable[[Namespace], int]
    """Do it and return the exit code."""
