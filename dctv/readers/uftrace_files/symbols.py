"""Parse symbol files (`.sym`) and debug information (`.dbg`) of a uftrace data directory into modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from dctv.record import field, record

_KINDS = frozenset("?TtwPKDdvu")
_ENDS = frozenset({"__sym_end", "__dynsym_end", "__func_end"})
"""Names that older versions wrote to mark the end of the last symbol."""
_MANGLED = ("_Z", "_GLOBAL__sub_I_", "__device_stub_")
_HEX = frozenset("0123456789abcdefABCDEF")
_MAX_BYTES = 1 << 30


Symbol = tuple[int, int, str, str]
"""A function or variable: offset in the module, size, kind, name."""


@record
class Debug:
    """The contents of a `.dbg` file, by address of the function."""

    arguments: dict[int, str] = field(default_factory=dict)
    results: dict[int, str] = field(default_factory=dict)
    lines: dict[int, tuple[str, int]] = field(default_factory=dict)
    enums: list[str] = field(default_factory=list)


@record
class SymbolModule:
    """A program or library."""

    path: str
    symbols: list[Symbol]
    """By address."""
    debug: Debug

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.path.rpartition("/")[2]


def read_module(folder: Path, path: str, build_id: str) -> SymbolModule:
    """Read the files of a module; without files it has no symbols.

    A library that the program loaded later has no build id in the recording: the build id of its symbol file then
    selects the debug information, whatever path each of them names.
    """
    symbols = _file_of(folder, path, build_id, ".sym")
    if symbols is not None and not build_id:
        build_id = _head(symbols).get("build-id", "")
    debug = _file_of(folder, path, build_id, ".dbg")
    return SymbolModule(
        path,
        _demangled(_symbols(_lines_of(symbols))) if symbols else [],
        _debug(_lines_of(debug)) if debug else Debug(),
    )


def _file_of(folder: Path, path: str, build_id: str, suffix: str) -> Path | None:
    """Find the file of a module: four digits distinguish modules of the same name."""
    base = path.rpartition("/")[2]
    if not base or "\0" in base:
        return None
    marks = (build_id[:4], f"{sum(path.encode()) & 0xFFFF:04x}")
    candidates = [folder / f"{base}{suffix}", *(folder / f"{base}-{mark}{suffix}" for mark in marks if mark)]
    heads = {one: _head(one) for one in candidates if one.is_file()}
    same = [one for one, head in heads.items() if _is_of(head, path, build_id)]
    return next(iter(same), None)


def _head(file: Path) -> dict[str, str]:
    found = {}
    with file.open("rb") as opened:
        for raw in opened.read(8192).split(b"\n")[:4]:
            line = raw.decode("utf-8", "replace")
            if line.startswith("#") and ": " in line:
                key, _, value = line[1:].partition(": ")
                found[key.strip()] = value.strip()
    return found


def _is_of(head: Mapping[str, str], path: str, build_id: str) -> bool:
    if build_id and head.get("build-id"):
        return head["build-id"] == build_id
    return _may_be(head, path)


def _may_be(head: Mapping[str, str], path: str) -> bool:
    """Whether a file may belong to a path: if one of the two is relative, the other must end with it."""
    named = head.get("path name", path)
    if named.startswith("/") == path.startswith("/"):
        return named == path
    whole, relative = (named, path) if named.startswith("/") else (path, named)
    steps = [step for step in relative.split("/") if step not in ("", ".", "..")]
    return whole.split("/")[-len(steps) :] == steps


def _lines_of(file: Path) -> Iterable[str]:
    with file.open("rb") as opened:
        return opened.read(_MAX_BYTES).decode("utf-8", "replace").split("\n")


def _symbols(lines: Iterable[str]) -> list[Symbol]:
    """Parse `address [size] kind name`; without a size, a symbol extends to the next one."""
    found: list[Symbol] = []
    before = (-1, "")
    for line in lines:
        one = _symbol(line)
        if one is None or (one[0], one[2]) == before:
            continue
        address, _, kind, name = one
        before = (address, kind)
        ends = kind == "?" or name in _ENDS
        if found and found[-1][1] == 0:
            last = found[-1]
            found[-1] = (last[0], max(address - last[0], 0), last[2], last[3])
        if not ends:
            found.append(one)
    found.sort(key=lambda one: one[0])
    return found


def _demangled(symbols: list[Symbol]) -> list[Symbol]:
    """Demangle symbols: names are mangled if the recording did not demangle them."""
    if not any(name.startswith(_MANGLED) for _, _, _, name in symbols):
        return symbols
    from dctv import _kernels

    names = _kernels.uftrace_names([name for _, _, _, name in symbols])
    return [(address, size, kind, name) for (address, size, kind, _), name in zip(symbols, names, strict=True)]


def _symbol(line: str) -> Symbol | None:
    parts = line.split("\t", 1)[0].split(" ", 3)
    if len(parts) < 3 or line.startswith("#") or not _HEX.issuperset(parts[0]) or not parts[0] or len(parts[0]) > 16:
        return None
    size = 0
    if len(parts) == 4 and parts[1][:1].isdigit() and _HEX.issuperset(parts[1]):
        size, kind, name = int(parts[1][:16], 16), parts[2], parts[3]
    else:
        kind, name = parts[1], " ".join(parts[2:])
    return (int(parts[0], 16), size, kind, name) if kind in _KINDS else None


def _debug(lines: Iterable[str]) -> Debug:
    """Parse `F: address name` with the lines of that function, `A:`, `R:`, `L: line file`, and `E:` of the module."""
    debug = Debug()
    address: int | None = None
    for line in lines:
        kind, text = line[:3], line[3:]
        if kind == "F: ":
            first = text.split(" ", 1)[0]
            address = int(first, 16) if first and _HEX.issuperset(first) and len(first) <= 16 else None
        elif kind == "E: ":
            debug.enums.append(text)
        elif address is None:
            continue
        elif kind == "A: ":
            debug.arguments.setdefault(address, text)
        elif kind == "R: ":
            debug.results.setdefault(address, text)
        elif kind == "L: ":
            number, _, file = text.partition(" ")
            if number.isascii() and number.isdigit() and len(number) < 10:
                debug.lines.setdefault(address, (file, int(number)))
    return debug
