"""`dctv cache`: list indexes, and remove those that are no longer needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.command import Command
from dctv.cli.formats import add_format_option
from dctv.cli.sizes import age_text, byte_count, seconds, size_text
from dctv.console.verdict import OK
from dctv.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dctv.index.cache import CachedIndex


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv cache`."""
    parser.add_argument("what", choices=["list", "size", "prune"], help="list indexes, show their size, or remove some")
    parser.add_argument(
        "--max-size", type=byte_count, metavar="SIZE", help="prune: keep at most this much, such as 10GB"
    )
    parser.add_argument(
        "--older-than",
        type=seconds,
        metavar="TIME",
        help="prune: remove what has not been used for this long, such as 30d",
    )
    parser.add_argument("--all", action="store_true", help="prune: remove everything that is not in use")
    add_format_option(parser, "format of the list (default: lines of text)")
    parser.add_argument(
        "--index-dir", type=Path, metavar="DIR", help="look here (default: DCTV_INDEX_DIR, else the cache)"
    )


def run(args: Namespace) -> int:
    """List, measure or prune; return the exit code."""
    from dctv.console.sink import stdout_sink
    from dctv.index.cache import CacheLimit, entries, most_bytes, prune
    from dctv.index.location import cache_folder, configured_folder

    chosen = args.max_size is not None or args.older_than is not None or args.all
    if chosen and args.what != "prune":
        raise UsageError(f"found --max-size, --older-than or --all with `{args.what}`, they belong to `prune`")
    if args.format is not None and args.what != "list":
        raise UsageError(f"found --format with `{args.what}`, it belongs to `list`")
    root = configured_folder(args.index_dir) or cache_folder()
    match args.what:
        case "list" if args.format is not None:
            return _write(entries(root), args.format)
        case "list":
            lines = _listed(entries(root))
        case "size":
            found = entries(root, look=False)
            lines = [f"{_total(found)} in {root}"]
        case _:
            most = args.max_size if chosen else most_bytes(root)
            removed = prune(root, CacheLimit(most, args.older_than, args.all))
            lines = [f"removed {_total(removed)}"]
    with stdout_sink(lambda: None) as sink:
        sink.stream.write("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
    return OK


def _total(found: list[CachedIndex]) -> str:
    count = "1 index" if len(found) == 1 else f"{len(found)} indexes"
    return f"{count}, {size_text(sum(entry.bytes for entry in found))}"


def _write(found: list[CachedIndex], name: str) -> int:
    """Write the list for programs: bytes and Unix times as numbers, a row for each file of a trace."""
    from dctv.cli.figures import Figures, SectionColumn
    from dctv.console.listing import write_listing

    columns = [
        SectionColumn("path", "VARCHAR"),
        SectionColumn("folder", "VARCHAR"),
        SectionColumn("bytes", "BIGINT"),
        SectionColumn("last_used", "BIGINT"),
        SectionColumn("state", "VARCHAR"),
        SectionColumn("histories", "VARCHAR"),
    ]
    rows = [
        [
            path and str(path),
            str(one.folder),
            one.bytes,
            int(one.last_use),
            one.problem or "good",
            ", ".join(one.histories),
        ]
        for one in found
        for path in one.paths or [None]
    ]
    return write_listing(Figures(columns, rows), name)


def _listed(found: list[CachedIndex]) -> list[str]:
    from dctv.visible import visible

    rows = []
    for entry in found:
        first = str(entry.paths[0]) if entry.paths else entry.folder.name
        more = f" and {len(entry.paths) - 1} more" if len(entry.paths) > 1 else ""
        histories = f", states: {', '.join(entry.histories)}" if entry.histories else ""
        state = (entry.problem or "good") + histories
        rows.append((size_text(entry.bytes), age_text(entry.last_use), visible(first + more), visible(state)))
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    return [f"{a:>{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}  {d}" for a, b, c, d in rows]


CACHE = Command("cache", "list and remove indexes", configure, run)
