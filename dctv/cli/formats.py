"""Choose a writer by `--format` and the name of the output file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

import dctv.writers
from dctv.contracts.registry import scan
from dctv.contracts.writer import Writer
from dctv.errors import UsageError

FOR_PEOPLE = ("table", "box", "line", "markdown")
"""Formats for reading, in which each time may have a suitable unit."""


def add_format_option(parser: ArgumentParser, about: str = "result format (default: by -o, else table)") -> None:
    """Add the format of results."""
    parser.add_argument("--format", choices=sorted(scan(dctv.writers, Writer)), help=about)


def writer_of(name: str | None, output: Path | None) -> Writer:
    """Return the writer of a format, else that of the file's suffix, else the table."""
    formats = scan(dctv.writers, Writer)
    if name is not None:
        return formats[name]
    if output is None:
        return formats["table"]
    for writer in formats.values():
        if output.suffix.lower() in writer.suffixes:
            return writer
    suffixes = ", ".join(suffix for writer in formats.values() for suffix in writer.suffixes)
    raise UsageError(f"the name `{output}` does not determine a format, expected --format or one of {suffixes}")
