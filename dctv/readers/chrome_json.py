"""Reads trace events in JSON, as Chrome, PyTorch, Bazel, clang, TypeScript, Node and many others write them.

Events are in tables by their phase: `raw_events.complete`, `begin`, `end`, `instant`, `counter`, `async_begin`,
`async_instant`, `async_end`, `flow_begin`, `flow_step`, `flow_end`, `sample` and so on. All have `_ts`, `name`, `cat`,
`pid`, `tid`, `track`, `line` and `args`, the JSON text as it is written. Metadata events are in `metadata`, what could
not be placed in time is in `unread`. Times are kept to the nanosecond, whatever their form.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.contracts.reader import Head, LoadContext
from dctv.errors import TraceError, nearest
from dctv.readers.described import Described, RowPass
from dctv.readers.dftracer import sniff as is_dftracer

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

Part = tuple[int, int, bool]
"""Of an archive: where a member's data begin, their size, and whether they are packed."""

_ZIP = b"PK\x03\x04"
_FAR = 16 << 20
_HEAD = 1 << 16
_STORED, _DEFLATED = 0, 8

_LIST = re.compile(rb'[\s\x1e,]*"traceEvents"\s*:\s*\[')
_EVENTS = re.compile(rb'"traceEvents"\s*:')
_MEMBER = re.compile(rb'[{,]\s*["\']?(ph|ts|name|pid|tid|cat|dur|args)["\']?\s*[:=]')


def sniff(head: Head) -> bool:
    """Whether the text is a list of events, or an object with one, or an archive of such a text."""
    if head.raw.startswith(_ZIP):
        return _member(head.path) is not None
    return _is_trace(head.text, lambda: _far(head)) and not is_dftracer(head)
