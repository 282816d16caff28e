"""Find the files of a trace, and recognize their format by content."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from dctv.contracts.head import head_of, is_cut
from dctv.contracts.reader import Head, Reader
from dctv.contracts.registry import Registry
from dctv.errors import TraceError, UsageError, nearest, reason_of
from dctv.home import expanded
from dctv.record import record

_LOOKED_AT = 10_000
"""The maximum number of names in a folder that are compared with a missing one, for suggestions."""

_CITED = 100
"""The maximum number of characters of a path that an error cites."""

_SHOWN = 3
"""The maximum number of files that a hint lists where none has a similar name."""


@record
class TraceFiles:
    """The files of one trace, and their reader."""

    reader: Reader
    paths: tuple[Path, ...]

    def __post_init__(self) -> None:
        """Reject names that the reader cannot take."""
        if not self.reader.byte_names:
            _check_names(self.paths)


def _check_names(paths: Iterable[Path]) -> None:
    """Reject names that are not UTF-8: most kernels take paths as text, and tables of files show them."""
    for path in paths:
        try:
            str(path).encode()
        except UnicodeEncodeError:
            shown = os.fsencode(path).decode(errors="backslashreplace")
            hint = "rename it, or mount it by a link with another name"
            raise TraceError(f"the file name `{shown}` is not UTF-8", hint=hint) from None


def find_traces(texts: Sequence[str], readers: Mapping[str, Reader], base: Path | None) -> TraceFiles:
    """Find the files of several paths, folders or patterns, as one trace with one format."""
    if not texts:
        raise TraceError("found an empty list of files, expected one or more")
    found = [(text, find_trace(text, readers, base)) for text in texts]
    first, one = found[0]
    for text, other in found[1:]:
        if other.reader.name != one.reader.name:
            shown = f"{one.reader.name} (`{first}`) and {other.reader.name} (`{text}`)"
            raise TraceError(f"these are traces of several formats: {shown}")
    return TraceFiles(one.reader, tuple(dict.fromkeys(path for _, files in found for path in files.paths)))


def forced(name: str, texts: Sequence[str], readers: Mapping[str, Reader], base: Path | None) -> TraceFiles:
    """Find the files of several paths, folders or patterns, as a trace with a given format.

    The format is given by name, or by a suffix of its files.

    Raises:
        TraceError: there is no such format, or no such file.
    """
    reader = readers.get(name.lower()) or _by_ending(name, readers)
    if reader is None:
        endings = [end.lstrip(".") for one in readers.values() for end in one.suffixes]
        near = nearest(name, [*readers, *endings])
        raise TraceError(f"unknown format `{name}`", hint=f"did you mean `{near}`?" if near else _known(readers))
    files = list_files(texts, {reader.name: reader}, base)
    return _whole(reader, files)


def _by_ending(name: str, readers: Mapping[str, Reader]) -> Reader | None:
    """Return the format of a suffix; if several share it, the more specific one."""
    ending = f".{name.lower().lstrip('.')}"
    found = [one for one in readers.values() if ending in one.suffixes]
    return next((one for one in found if not one.general), found[0] if found else None)


def check_options(reader: Reader, options: Mapping[str, object]) -> None:
    """Reject options of a mount that its format does not have.

    Raises:
        UsageError: there is one.
    """
    for key in options:
        if key not in reader.options:
            option_names = ", ".join(reader.options) or "none"
            raise UsageError(f"`{reader.name}` has no option `{key}`", hint=f"its options: {option_names}")


def find_trace(text: str, readers: Mapping[str, Reader], base: Path | None) -> TraceFiles:
    """Find the files of a path, folder or pattern, and their reader."""
    files = _listed(text, readers, base)
    if isinstance(files, TraceFiles):
        return files
    if isinstance(files, Path):
        return _whole(_reader_of(files, text, readers), [files])
    return _several(files, text, readers)


def found_or_matching(text: str) -> list[str]:
    """Return the path of a file or folder if there is one, and otherwise what matches it as a pattern.

    Raises:
        TraceError: it can be neither.
    """
    try:
        exists = Path(text).exists()
    except (OSError, ValueError):
        exists = False
    return [text] if exists else matching(text)


def matching(pattern: str, base: Path | None = None) -> list[str]:
    """Return the files and folders that match a pattern, in order; hidden ones only if it says so, as in a shell.

    Relative patterns start from `base`, and give relative paths.

    Raises:
        TraceError: the pattern is invalid.
    """
    path = _expanded(pattern)
    root = Path(path.anchor) if path.is_absolute() else base or Path()
    inner = path.relative_to(path.anchor)
    if not inner.parts:
        return []
    hidden = inner.name.startswith(".")
    found = (one for one in _globbed(root, str(inner), pattern) if hidden or not one.name.startswith("."))
    return sorted(str(one if path.is_absolute() else one.relative_to(root)) for one in found)


def _expanded(text: str) -> Path:
    """Return a path with the home folder in place of `~` or `~NAME`."""
    try:
        return expanded(text)
    except UsageError as error:
        raise TraceError(error.message, hint=error.hint) from None


def _globbed(root: Path, pattern: str, text: str) -> list[Path]:
    """Return what matches a pattern, which is written as `text`."""
    try:
        return list(root.glob(pattern))
    except ValueError:
        raise TraceError(f"`{text}` is not a pattern of files", hint="`**` stands alone between slashes") from None
    except OSError as error:
        raise TraceError(f"cannot read `{text[:_CITED]}`: {reason_of(error)}") from None


def list_files(texts: Sequence[str], readers: Mapping[str, Reader], base: Path | None) -> tuple[Path, ...]:
    """List candidate files of several paths, folders or patterns, without opening any of them."""
    found: dict[Path, None] = {}
    for text in texts:
        files = _listed(text, readers, base)
        paths = files.paths if isinstance(files, TraceFiles) else [files] if isinstance(files, Path) else files
        found.update(dict.fromkeys(paths))
    return tuple(found)


def _listed(text: str, readers: Mapping[str, Reader], base: Path | None) -> Path | list[Path] | TraceFiles:
    """Return the only file of a path, or the candidates in a folder or pattern.

    A folder that is one trace by its layout is recognized at once.
    """
    path = _expanded(text)
    if base is not None and not path.is_absolute():
        path = base / path
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        if not isinstance(error, FileNotFoundError):
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise TraceError(f"cannot read `{text[:_CITED]}`: {reason.lower()}") from None
        return _pattern(path, text, readers, base)
    if not stat.S_ISDIR(found.st_mode):
        if not stat.S_ISREG(found.st_mode):
            # Opening one may wait for ever, and recognizing the format would use up its beginning.
            raise TraceError(
                f"`{text}` is {_kind(found.st_mode)}, and traces are files", hint="write it to a file first"
            )
        return path
    # Folders are usually named after the tool that wrote them.
    for reader in readers.named_in(path.name) if isinstance(readers, Registry) else readers.values():
        files = None if reader.folder is None else reader.folder(path)
        if files:
            return TraceFiles(reader, tuple(files))
    return _folder(path, text, readers)


def _kind(mode: int) -> str:
    return "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"


def _pattern(path: Path, text: str, readers: Mapping[str, Reader], base: Path | None) -> list[Path]:
    root, parts = _before_pattern(path)
    try:
        files = sorted(p for p in _globbed(root, str(Path(*parts)), text) if p.is_file()) if parts else []
        if not files and root.is_dir():
            # A pattern matches nothing in a folder that cannot be listed.
            os.scandir(root).close()
    except OSError as error:
        raise TraceError(f"cannot read `{error.filename}`: {reason_of(error)}") from None
    if not files:
        what = "no file matches" if parts else "no such file or folder:"
        raise TraceError(f"{what} `{text}`", hint=None if parts else _nearest_path(path, base, _suffixes(readers)))
    return files


def _nearest_path(path: Path, base: Path | None, suffixes: tuple[str, ...]) -> str | None:
    """Return a hint for a path that does not exist: a similar one, the folder that is missing, or files there."""
    folder = path.parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    missing = path.relative_to(folder).parts[0]
    with suppress(OSError):
        names = sorted(one.name for one in islice(folder.iterdir(), _LOOKED_AT))
        if missing in names:
            return "it is a broken link"
        # A common suffix does not make names similar.
        stem = nearest(missing.partition(".")[0], [name.partition(".")[0] for name in names])
        near = stem and nearest(missing, [name for name in names if name.partition(".")[0] == stem])
        if near:
            found = folder / near
            return f"did you mean `{found.relative_to(base) if base and found.is_relative_to(base) else found}`?"
        if folder != path.parent:
            return f"there is no folder `{missing}` in `{folder}`"
        traces = [f"`{name}`" for name in names if name.endswith(suffixes)]
        if traces:
            return f"files there: {', '.join(traces[:_SHOWN])}{' and more' if len(traces) > _SHOWN else ''}"
    return None


def _before_pattern(path: Path) -> tuple[Path, tuple[str, ...]]:
    """Split a path before its first part with a wildcard."""
    for i, part in enumerate(path.parts):
        if any(c in part for c in "*?["):
            return Path(*path.parts[:i]), path.parts[i:]
    return path, ()


def _suffixes(readers: Mapping[str, Reader]) -> tuple[str, ...]:
    return tuple(suffix for reader in readers.values() for suffix in reader.suffixes)


def _folder(path: Path, text: str, readers: Mapping[str, Reader]) -> list[Path]:
    suffixes = _suffixes(readers)
    files = _files_in(path, text)
    marked = [p for p in files if p.name.endswith(suffixes)]
    if not files:
        raise TraceError(f"the folder `{text}` is empty")
    return marked or files


def _files_in(folder: Path, text: str) -> list[Path]:
    """Return the files of a folder, which is written as `text`, and of those below it, but for hidden ones.

    Raises:
        TraceError: a part of it cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise error

    try:
        every = (Path(place, name) for place, _, names in os.walk(folder, onerror=refuse) for name in names)
        return sorted(one for one in every if not one.name.startswith(".") and one.is_file())
    except OSError as error:
        hint = f"a pattern, such as `{text.rstrip('/')}/*.*`, leaves out what it does not match"
        raise TraceError(f"cannot read `{error.filename}`: {reason_of(error)}", hint=hint) from None


def _several(files: Sequence[Path], text: str, readers: Mapping[str, Reader]) -> TraceFiles:
    """Determine the common format of several files; files that are not recognized join it by suffix."""
    by_format: dict[str, list[Path]] = {}
    unrecognized: list[Path] = []
    for file in files:
        reader = _sniff(head_of(file), readers)
        if reader is None:
            unrecognized.append(file)
        else:
            by_format.setdefault(reader.name, []).append(file)
    special = {name: paths for name, paths in by_format.items() if not readers[name].general}
    if special:
        # One or two lines of a trace may look like a table.
        unrecognized += [path for name, paths in by_format.items() if name not in special for path in paths]
        by_format = special
    if not by_format:
        if len(files) == 1:
            return _whole(_reader_of(files[0], text, readers), files)
        raise TraceError(
            f"no trace in `{text}`: none of its {len(files)} files has a known format", hint=_known(readers)
        )
    if len(by_format) > 1:
        shown = " and ".join(f"{name} ({paths[0].name})" for name, paths in by_format.items())
        raise TraceError(f"`{text}` holds traces of several formats: {shown}", hint="mount each under its own name")
    reader = readers[next(iter(by_format))]
    paths = by_format[reader.name] + [p for p in unrecognized if p.name.endswith(reader.suffixes)]
    return _whole(reader, sorted(paths))


def _whole(reader: Reader, files: Sequence[Path]) -> TraceFiles:
    """Return files as a trace; one that means its folder as the files of that, all of which an index has to know."""
    alone = files[0] if len(files) == 1 and files[0].name == reader.entry else None
    inside = reader.folder(alone.parent) if alone is not None and reader.folder is not None else None
    return TraceFiles(reader, tuple(inside or files))


def _reader_of(path: Path, text: str, readers: Mapping[str, Reader]) -> Reader:
    head = head_of(path)
    if not head.text:
        if head.raw and is_cut(head):
            raise TraceError(f"`{text}` is gzip that is damaged or ends before any text")
        raise TraceError(f"`{text}` is {'compressed, and ' if head.raw else ''}empty")
    reader = _sniff(head, readers)
    if reader is None:
        shown = "".join(chr(b) if 32 <= b < 127 else f"\\x{b:02x}" for b in head.text[:16])
        raise TraceError(f"`{text}` has no known format; it begins with `{shown}`", hint=_known(readers))
    return reader


def _known(readers: Mapping[str, Reader]) -> str:
    return f"known formats: {', '.join(readers)}; `dctv formats` describes them"


def _sniff(head: Head, readers: Mapping[str, Reader]) -> Reader | None:
    if not head.text:
        return None
    general = []
    for reader in readers.values():
        if reader.general:
            general.append(reader)
        elif reader.sniff(head):
            return reader
    return next((reader for reader in general if reader.sniff(head)), None)
