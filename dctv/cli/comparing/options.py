"""Options of `dctv compare`, and parsers of their numbers, quantities and directions."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from fractions import Fraction
from typing import TYPE_CHECKING

from dctv.cli.fleet.options import add_fleet_options
from dctv.cli.sizes import seconds
from dctv.patterns import pattern

if TYPE_CHECKING:
    from dctv.comparison.judging import Direction
    from dctv.contracts.table_function import Quantity

_PERCENT = pattern(r"([0-9]+(?:\.[0-9]+)?)\s*%?")


def add_question(parser: ArgumentParser) -> None:
    """Add the queries to compare."""
    parser.add_argument(
        "-c",
        "--command",
        dest="commands",
        action="append",
        default=[],
        metavar="SQL",
        help="compare the results of this SQL; may be repeated",
    )
    parser.add_argument(
        "-f",
        "--file",
        action="append",
        default=[],
        help="compare the results of this file, after -c; - is stdin; may be repeated",
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME[,NAME]",
        help="compare the results of this bundled query (default without SQL: all for the traces' formats)",
    )
    parser.add_argument(
        "--list-metrics",
        action="store_true",
        help="list the bundled queries; with traces, only those for their formats",
    )
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="COLUMN[,COLUMN]",
        help="match rows by these columns (default: those that are not numbers); all others are compared",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="K=V",
        help="value of :K, such as limit=5ms, or of ?K and $K for a number",
    )


def add_verdict(parser: ArgumentParser) -> None:
    """Add the conditions of failure."""
    parser.add_argument(
        "--fail-above",
        type=percent,
        metavar="PERCENT",
        help="exit with 1 if anything changes for the worse by more than this, such as 5%%",
    )
    parser.add_argument(
        "--better",
        action="append",
        type=direction,
        default=[],
        metavar="[COLUMN=]lower|higher|none",
        help="which numbers are better, of a column or of all (default: lower); none is never judged; may be repeated",
    )
    parser.add_argument(
        "--at-least",
        action="append",
        type=least,
        default=[],
        metavar="AMOUNT",
        help="fail only for differences of at least this, such as 1ms, in columns of such a unit; may be repeated",
    )
    parser.add_argument(
        "--alpha",
        type=level,
        metavar="P",
        help="fail only for changes with a p-value below this, such as 0.05; requires several runs and dctv[compare]",
    )


def add_running(parser: ArgumentParser) -> None:
    """Add how to read traces, time limits, and messages."""
    add_fleet_options(parser)
    parser.add_argument("--github", action="store_true", help="annotate errors in GitHub")
    parser.add_argument(
        "--timeout", type=seconds, metavar="TIME", help="stop after this time, such as 90s (exit code 124)"
    )
    parser.add_argument("--quiet", action="store_true", help="print errors only: no warnings, remarks or progress")


def percent(text: str) -> float:
    """Parse a limit in percent: `5%` or `5`."""
    match = _PERCENT.fullmatch(text)
    if match is None:
        raise ArgumentTypeError(f"found `{text}`, expected percent such as 5%")
    return float(match[1])


def level(text: str) -> float:
    """Parse a significance level."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ArgumentTypeError(f"found `{text}`, expected a number between 0 and 1 such as 0.05")
    return value


def least(text: str) -> Quantity:
    """Parse a quantity: a number with or without a unit."""
    from dctv.console.params import value_of  # units and plans; only needed if it is given
    from dctv.contracts.table_function import Quantity

    value = value_of(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = Quantity(Fraction(value))
    if not isinstance(value, Quantity):
        raise ArgumentTypeError(f"found `{text}`, expected a number with a unit, such as 1ms or 64KiB")
    return value


def direction(text: str) -> tuple[str | None, Direction]:
    """Parse which values are better, of a column or of all: `bandwidth=higher`, `lower`."""
    from dctv.comparison.judging import DIRECTIONS  # units and plans; only needed if it is given

    column, equals, word = text.rpartition("=")
    found = next((one for one in DIRECTIONS if one == word), None)
    if found is None or (equals and not column):
        raise ArgumentTypeError(f"found `{text}`, expected lower, higher, none or COLUMN=higher")
    return (column if equals else None), found
