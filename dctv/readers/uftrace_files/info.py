"""Parse the file `info` of a uftrace data directory: the form of its records, argument specifications, properties."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from dctv.errors import TraceError
from dctv.readers.uftrace_files.files import MAGIC
from dctv.record import field, record

VERSIONS = range(3, 5)
_HEADER_BYTES = 40
_MAX_BYTES = 64 << 20

FEATURES = (
    "plthook",
    "task-session",
    "kernel",
    "argument",
    "retval",
    "sym-rel-addr",
    "max-stack",
    "event",
    "perf-event",
    "auto-args",
    "debug-info",
    "estimate-return",
    "sym-size",
    "callsite",
)
"""Names of the bits of the feature mask, lowest first."""

_PROPERTIES = {
    "exename": "exename",
    "build_id": "build_id",
    "exit_status": "exit_status",
    "cmdline": "command",
    "cpuinfo:desc": "cpu",
    "meminfo": "memory",
    "osinfo:kernel": "kernel",
    "osinfo:hostname": "host",
    "osinfo:distro": "distribution",
    "usageinfo:systime": "system_time",
    "usageinfo:usrtime": "user_time",
    "usageinfo:ctxsw": "context_switches",
    "usageinfo:maxrss": "max_rss",
    "usageinfo:pagefault": "page_faults",
    "usageinfo:iops": "disk_operations",
    "loadinfo": "load",
    "record_date": "record_date",
    "elapsed_time": "elapsed",
    "pattern_type": "pattern",
    "sysctl": "sysctl",
}
"""Property names by key of `info`."""


@record
class Info:
    """The contents of `info`."""

    big_endian: bool
    wide: bool
    """Whether the program was 64-bit."""
    version: int
    features: frozenset[str]
    values: Mapping[str, str] = field(default_factory=dict)
    """By key; keys with several lines are `key:name`."""

    @property
    def tids(self) -> list[int]:
        """The tasks in the order of the recording."""
        return [
            int(tid)
            for tid in self.values.get("taskinfo:tids", "").split(",")
            if tid.isascii() and tid.strip().isdigit()
        ]

    @property
    def pattern(self) -> str:
        """How names of functions are matched: `regex`, `glob` or `simple`."""
        return self.values.get("pattern_type", "regex")

    def spec(self, kind: str) -> str:
        """Return an argument specification: `argspec`, `retspec`, `argauto`, `retauto`, `enumauto`, or ''."""
        found = self.values.get(f"argspec:{kind}", "")
        return found or (self.values.get("argspec", "") if kind == "argspec" else "")

    @property
    def auto_args(self) -> bool:
        """Whether arguments of all known functions were recorded."""
        return self.values.get("argspec:auto-args") == "1"

    def properties(self) -> dict[str, str]:
        """Return the properties of the trace."""
        values = self.values
        found = {name: values[key].strip('"') for key, name in _PROPERTIES.items() if values.get(key)}
        found["clock"] = _clock(values.get("cmdline", ""))
        found["tool"] = " ".join(["uftrace", values.get("uftrace_version", "").split(" (")[0]]).strip()
        cpus = values.get("cpuinfo:nr_cpus", "").split("/")[0].strip()
        if cpus.isascii() and cpus.isdigit():
            found["cpus"] = cpus
        found["format_version"] = str(self.version)
        found["features"] = " ".join(name for name in FEATURES if name in self.features)
        return found

    @property
    def utc_offset_ns(self) -> int | None:
        """Unix time minus the time of the trace's clock, with a precision of a second."""
        text = self.values.get("utc_offset", "").strip()
        return int(text) * 10**9 if text.isascii() and text.isdigit() and len(text) < 11 else None


def _clock(command: str) -> str:
    """Return the clock of the records, which only the command line gives."""
    words = command.split()
    for at, word in enumerate(words):
        if word.startswith("--clock"):
            name = word.partition("=")[2] or (words[at + 1] if at + 1 < len(words) else "")
            return {"mono": "monotonic", "mono_raw": "monotonic_raw", "boot": "boottime"}.get(name, "trace")
    return "monotonic"


def read_info(path: Path) -> Info:
    """Read the file; a missing or moved key is not an error."""
    with path.open("rb") as file:
        raw = file.read(_MAX_BYTES)
    if not raw.startswith(MAGIC):
        raise TraceError(f"cannot read `{path}`: it does not begin with `Ftrace!`")
    if len(raw) < _HEADER_BYTES:
        raise TraceError(f"cannot read `{path}`: expected {_HEADER_BYTES} bytes of header, found {len(raw)}")
    big = raw[14] == 2
    version, size = struct.unpack_from(">IH" if big else "<IH", raw, 8)
    if version not in VERSIONS:
        raise TraceError(f"cannot read `{path}`: expected format version 3 or 4, found {version}")
    features, _mask, max_stack = struct.unpack_from(">QQH" if big else "<QQH", raw, 16)
    names = frozenset(name for bit, name in enumerate(FEATURES) if features >> bit & 1)
    values = _values(raw[max(size, _HEADER_BYTES) :].decode("utf-8", "replace"))
    if max_stack and "max-stack" in names:
        values["max_stack"] = str(max_stack)
    return Info(big, raw[15] != 1, version, names, values)


def _values(text: str) -> dict[str, str]:
    """Parse lines `key:value`, and `key:lines=2` followed by lines `key:name=value` or `key:name:value`."""
    found: dict[str, str] = {}
    block = ""
    left = 0
    for line in text.split("\n"):
        key, colon, value = line.partition(":")
        if not colon:
            continue
        if value.startswith("lines="):
            block, left = key, int(value[6:12]) if value[6:].isascii() and value[6:].isdigit() else 0
        elif left > 0 and key == block and "=" in value and block != "argspec":
            name, _, value = value.partition("=")
            found[f"{block}:{name}"] = value
            left -= 1
        elif left > 0 and block == "argspec":
            found[f"argspec:{key}"] = value
            left -= 1
        else:
            found.setdefault(key, value)
    return found
