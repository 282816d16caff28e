"""Write the outcome and duration of a run as a line of JSON."""

from __future__ import annotations

import json
from time import perf_counter, process_time

import dctv
from dctv.cli.tally import RunTally
from dctv.index.schema import FORMAT_VERSION
from dctv.record import field, record


@record
class RunClock:
    """The start of a run."""

    wall: float = field(default_factory=perf_counter)
    cpu: float = field(default_factory=process_time)


def stats_line(tally: RunTally, clock: RunClock, exit_code: int) -> str:
    """Return the line for a run that ends now."""
    from duckdb import __version__ as engine  # already loaded by the run

    asserted = len(tally.cases) - tally.errors
    return json.dumps(
        {
            "exit_code": exit_code,
            "seconds": round(perf_counter() - clock.wall, 6),
            "cpu_seconds": round(process_time() - clock.cpu, 6),
            "statements": tally.statements,
            "results": tally.results,
            "rows": tally.rows,
            "assertions": {"passed": asserted - tally.failures, "failed": tally.failures},
            "errors": tally.errors,
            "versions": {"dctv": dctv.__version__, "duckdb": engine, "index": FORMAT_VERSION},
        }
    )
