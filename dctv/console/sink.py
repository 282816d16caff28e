"""Provide stdout as a binary stream for writers."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dctv.whole_file import Descriptor, Sink

STDOUT = (Path("-"), Path("/dev/stdout"))
"""Values of `-o` that mean stdout; replacing the target of /dev/stdout would be a surprise."""


@contextmanager
def stdout_sink(before: Callable[[], None]) -> Iterator[Sink]:
    """Write to stdout; `before` is called before bytes go out, to clear a progress bar."""
    sys.stdout.flush()
    descriptor = sys.stdout.fileno()
    raw = Descriptor(descriptor, "the output", before)
    with io.BufferedWriter(raw, 1 if os.isatty(descriptor) else 1 << 16) as stream:
        try:
            yield Sink(stream, lambda: None, raw.separate)
        except BaseException:
            if not raw.forget:
                stream.flush()
            raise
