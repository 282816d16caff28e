"""Options of the terminal: colours and the pager."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dctv.console.paint import CHOICES, coloured


def add_terminal_options(parser: ArgumentParser) -> None:
    """Add the options for colours and the pager."""
    parser.add_argument(
        "--color", choices=CHOICES, default="auto", help="auto: on a terminal, unless NO_COLOR is set (default)"
    )
    parser.add_argument("--no-pager", action="store_true", help="use no pager, however long the output is")


def look(args: Namespace) -> Namespace:
    """Return the arguments with the resolved `coloured` and `paged`."""
    from dctv.console.sink import STDOUT

    stdout = args.output is None or args.output in STDOUT
    return Namespace(**vars(args), coloured=coloured(args.color, to_terminal=stdout), paged=not args.no_pager)
