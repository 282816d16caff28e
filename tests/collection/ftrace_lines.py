"""Read lines of ftrace text in the plainest way, to compare with."""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = os.environ.get("DCTV_TRACES")
assert ROOT, "set DCTV_TRACES to the folder of the trace collection"
COLLECTION = Path(ROOT)
FTRACE = COLLECTION / "ftrace-text"

_LINE = re.compile(r"^ *(.{1,16}?)-(\d+) +(?:\([ \d-]+\) +)?\[(\d+)\] +(?:[^ :]+ +)?(\d+)\.(\d+): +(\S+?): +(.*)$")
_SWITCH = re.compile(
    r"prev_comm=(?P<prev_comm>.*?) prev_pid=(?P<prev_pid>\d+) prev_prio=\S+ prev_state=(?P<prev_state>\S+) (?:==> )?"
    r"next_comm=(?P<next_comm>.*?) next_pid=(?P<next_pid>\d+) next_prio=\S+"
)
_WAKEUP = re.compile(r"comm=(?P<comm>.*?) pid=(?P<pid>\d+) prio=\S+ (?:success=(?P<success>\d) )?target_cpu=\d+")


@dataclass(frozen=True, slots=True)
class Line:
    """One event; its time is in ns from the first one's."""

    ts: int
    tid: int
    cpu: int
    event: str
    body: str

    @property
    def switch(self) -> dict[str, str]:
        """The fields of a switch."""
        found = _SWITCH.match(self.body)
        assert found is not None, self.body
        return found.groupdict()

    @property
    def wakeup(self) -> dict[str, str]:
        """The fields of a wakeup."""
        found = _WAKEUP.match(self.body)
        assert found is not None, self.body
        return found.groupdict()


def read_lines(path: Path) -> list[Line]:
    """Read a text, or a page with one text in a script, in order of time and lines."""
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        plain = html.unescape(text).removesuffix("\\n\\")
        found = _LINE.match(plain)
        if found is None or found[4] == "0":
            continue
        ts = int(found[4]) * 10**9 + int(found[5].ljust(9, "0"))
        lines.append((ts, int(found[2]), int(found[3]), found[6], found[7]))
    lines.sort(key=lambda line: line[0])
    return [Line(line[0] - lines[0][0], *line[1:]) for line in lines]
