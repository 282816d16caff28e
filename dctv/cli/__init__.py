"""Arguments of the command line to calls of the session, and what came of them to an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dctv.cli.imports import refuse_pandas
from dctv.console.verdict import Verdict


def main(argv: Sequence[str] | None = None) -> int:
    """Run `dctv` with the arguments (those of the process by default) and return its exit code."""
    from dctv.cli.dispatch import dispatch

    if argv is None:
        refuse_pandas()
    words = list(sys.argv[1:] if argv is None else argv)
    with Verdict() as verdict:
        verdict.code = dispatch(words)
    return verdict.code


__all__ = ["main"]
