"""Parse arguments that several subcommands share into inputs of the session: mounts, parameters, limits."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable
from pathlib import Path

from dctv.errors import UsageError
from dctv.home import expanded
from dctv.patterns import pattern

MOUNT = pattern(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)=(?!=)(.*)", re.DOTALL)
"""A trace with its name for the mount."""


def add_session_options(parser: ArgumentParser) -> None:
    """Add the limits, and the treatment of incomplete traces."""
    parser.add_argument("--threads", type=positive, metavar="N", help="use at most N threads")
    parser.add_argument(
        "--memory-limit", "--max-memory", metavar="SIZE", help="use at most this much memory, such as 2GB"
    )
    parser.add_argument(
        "--temp-directory",
        type=expanded,
        metavar="DIR",
        help="write data that does not fit into memory here (default: the cache)",
    )
    parser.add_argument(
        "--allow-partial",
        action="store_true",
        help="accept traces that could not be read completely (exit code 0, not 3)",
    )


def add_engine_option(parser: ArgumentParser) -> None:
    """Add the engine for queries."""
    parser.add_argument(
        "--engine",
        metavar="ADDRESS",
        help="run queries on the Spark Connect server at this address, such as sc://host:15002",
    )


def add_file_option(parser: ArgumentParser) -> None:
    """Add the permission for queries to name files."""
    parser.add_argument(
        "--allow-files",
        action="store_true",
        help="let queries read any file with FROM 'x.csv', and write any with COPY",
    )


def add_index_options(parser: ArgumentParser) -> None:
    """Add whether traces are read by index, and the folder of indexes."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--index", action="store_true", help="build missing indexes first, even for small traces")
    choice.add_argument("--no-index", action="store_true", help="read the traces themselves, even if they are indexed")
    parser.add_argument(
        "--index-dir", type=Path, metavar="DIR", help="keep indexes here (default: DCTV_INDEX_DIR, else the cache)"
    )


def add_time_option(parser: ArgumentParser) -> None:
    """Add the form of times."""
    parser.add_argument(
        "--time",
        default="trace",
        metavar="ZONE",
        help="show times of the trace and timestamps as local time, as utc or in a zone such as Europe/Berlin "
        "(default: trace)",
    )


def add_warm_option(parser: ArgumentParser) -> None:
    """Add the session that runs a command."""
    parser.add_argument(
        "--session",
        metavar="NAME",
        help="use the mounted traces of the session that `dctv session start NAME` started",
    )


def add_manifest_option(parser: ArgumentParser) -> None:
    """Add the manifests of fleets."""
    parser.add_argument(
        "--manifest",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="a CSV or Parquet file with a row for each trace of NAME=@'PATTERN'; its columns are added to all tables",
    )


def parameters(words: Iterable[str]) -> dict[str | int, object] | None:
    """Parse `K=V` words into typed parameters; `0=5` is positional."""
    from dctv.console.params import assigned  # units and plans; most commands take no parameters

    result: dict[str | int, object] = {}
    for word in words:
        try:
            key, value = assigned(word)
        except UsageError:
            raise UsageError(f"found `--param {word}`, expected K=V, such as --param limit=5ms") from None
        if key in result:
            raise UsageError(f"parameter `{key}` is given twice")
        result[key] = value
    return result or None


def positive(text: str) -> int:
    """Parse a number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"found `{text}`, expected a number from 1")
    return int(text)
