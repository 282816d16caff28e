"""Options of reports over many traces."""

from __future__ import annotations

from argparse import ArgumentParser, _ArgumentGroup
from pathlib import Path

from dctv.cli.arguments import positive

NAME = "t"
"""The default name of each trace's mount."""


def add_each_options(parser: ArgumentParser) -> None:
    """Add reports over many traces."""
    group = parser.add_argument_group("many traces")
    group.add_argument(
        "--each",
        metavar="[NAME=]PATTERN",
        help=f"run the SQL once for each trace that the pattern matches, mounted as NAME ({NAME}), and append the "
        "results to each other",
    )
    add_fleet_options(group)


def add_fleet_options(group: ArgumentParser | _ArgumentGroup) -> None:
    """Add how many traces are read in parallel, and the folder for results."""
    group.add_argument(
        "--jobs", type=positive, metavar="N", help="read N traces at a time (default: one per processor)"
    )
    group.add_argument(
        "--checkpoint",
        type=Path,
        metavar="DIR",
        help="save finished work here; the same command resumes after an interruption",
    )
