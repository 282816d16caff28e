"""`dctv formats`: list the formats of traces that can be mounted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dctv.cli.command import Command
from dctv.cli.formats import add_format_option
from dctv.console.verdict import OK

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dctv.contracts.reader import Reader


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv formats`."""
    parser.add_argument("name", nargs="?", metavar="FORMAT", help="show the options of one format")
    add_format_option(parser, "format of the list (default: lines of text)")


def run(args: Namespace) -> int:
    """List the formats, or the options of one; return the exit code."""
    from dctv import readers
    from dctv.console.listing import Listing, write_listing
    from dctv.console.sink import stdout_sink
    from dctv.contracts.reader import Reader
    from dctv.contracts.registry import scan
    from dctv.errors import UsageError, nearest

    if args.format is not None and args.name is not None:
        raise UsageError("found --format with the name of a format, it belongs to the list")
    found = scan(readers, Reader)
    if args.format is not None:
        return write_listing(Listing(("name", "title"), [(one.name, one.title) for one in found.values()]), args.format)
    if args.name is None:
        lines = _listed([(one.name, one.title) for one in found.values()])
    elif args.name in found:
        lines = _described(found[args.name])
    else:
        near = nearest(args.name, list(found))
        raise UsageError(f"found no format `{args.name}`", hint=f"did you mean `{near}`?" if near else None)
    with stdout_sink(lambda: None) as sink:
        sink.stream.write("".join(f"{line}\n" for line in lines).encode())
    return OK


def _listed(rows: list[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:{width}}  {title}" for name, title in rows]


def _described(reader: Reader) -> list[str]:
    lines = [f"{reader.name}: {reader.title}"]
    if reader.suffixes:
        lines.append(f"taken from folders by their endings: {', '.join(reader.suffixes)}")
    lines.append("its traces are indexed" if reader.chunks is not None else "its traces are read whole")
    lines += ["options of MOUNT TRACE ... WITH:", *(f"  {one}" for one in _listed(sorted(reader.options.items())))]
    return lines if reader.options else lines[:-1]


FORMATS = Command("formats", "list the formats of traces that can be mounted", configure, run)
