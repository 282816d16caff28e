"""Run a report for one trace in a worker process, and leave its results in a folder."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.catalog.files import matching
from dctv.console.files import FLEET, exists, is_fleet
from dctv.errors import DctvError, Interrupted, UsageError, counted, render
from dctv.record import record
from dctv.run.fleet.members import state_of

if TYPE_CHECKING:
    from dctv.cli.warm.hold import WarmSession
    from dctv.run.result import Result
    from dctv.session import Session

_BEGUN, _DONE = "begun", "done.json"
SETTINGS = (
    *("threads", "memory_limit", "temp_directory", "index_dir"),
    *("index", "no_index", "allow_files", "allow_partial", "time"),
)
"""Arguments of the command line that a worker needs."""


_kept: dict[str, WarmSession] = {}
"""The session of this process, by its settings and mounts: jobs run in one after another, since opening an engine
takes longer than a small report does."""


@record
class TraceJob:
    """The report to run for one trace."""

    trace: str
    """Its path from the pattern."""
    name: str
    """The name of its mount."""
    others: tuple[tuple[str, str], ...]
    """Names and paths of other mounts."""
    texts: tuple[tuple[str, str, str | None], ...]
    """Names of the texts, their SQL, and the base folders of paths in them."""
    params: tuple[str, ...]
    """`K=V`, as given."""
    settings: dict[str, Any]
    folder: str
    """The folder for its results."""

    @property
    def begun(self) -> bool:
        """Whether a worker has started it."""
        return (Path(self.folder) / _BEGUN).exists()

    def outcome(self) -> dict[str, Any] | None:
        """Return its outcome, if it is finished."""
        try:
            found: dict[str, Any] = json.loads((Path(self.folder) / _DONE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found

    def fail(self, message: str, code: int) -> None:
        """Record an error that no worker could record."""
        _finish(Path(self.folder), _failed(f"error: {message}", code))


def key_of(job: TraceJob, files: Sequence[Path]) -> str:
    """Return the identity of a job: the report, and the traces and other files that it reads in their current state.

    A trace that has no files has its path alone.
    """
    states = [_state(str(one)) for one in (job.trace, *beside(job.others), *files)]
    return _key(*_report(job), str(Path(job.trace).absolute()), states)


def beside(others: Sequence[tuple[str, str]]) -> list[str]:
    """Return the paths of the traces that are mounted beside each trace: for patterns, of those that match.

    Raises:
        TraceError: a pattern is invalid.
    """
    paths = [path.removeprefix(FLEET) if is_fleet(path) else path for _, path in others]
    return [one for path in paths for one in ([path] if exists(path) else matching(path))]


def key_of_report(job: TraceJob) -> str:
    """Return the identity of the report that a job runs for one of many traces."""
    return _key(*_report(job))


def _report(job: TraceJob) -> list[Any]:
    from dctv import __version__
    from dctv.console.wall_times import TRACE

    return [__version__, job.name, job.others, job.texts, job.params, job.settings.get("time") in {None, TRACE}]


def _key(*parts: Any) -> str:
    return blake2b(json.dumps(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def size_of(trace: str) -> int:
    """Return the size of a trace in bytes; 0 if it is gone."""
    return sum(size for _, size, _ in _state(trace))


def _state(trace: str) -> Sequence[tuple[str, int, int]]:
    """Return the state of a trace; none if it is gone, which its job reports."""
    try:
        return state_of(trace)
    except OSError:
        return ()


def run_job(job: TraceJob, opened: Callable[[Session], None] = lambda _: None) -> None:
    """Mount a trace, run a report, and leave its results in the job's folder; `opened` gets the session that runs it.

    Raises:
        Interrupted: the session was interrupted; the job has no results.
    """
    folder = Path(job.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / _BEGUN).touch()
    try:
        outcome = _run(job, folder, opened)
    except Interrupted:
        raise
    except DctvError as error:
        outcome = _failed(render(error), error.exit_code)
    except OSError as error:
        outcome = _failed(f"error: cannot write to `{folder}`: {error.strerror or error}", UsageError.exit_code)
    _finish(folder, outcome)


def _run(job: TraceJob, folder: Path, opened: Callable[[Session], None]) -> dict[str, Any]:
    from dctv.console.progress import ProgressBar

    warm = _session_for(job)
    try:
        session = warm.open(ProgressBar(wanted=False))
        opened(session)
        warm.prepare(lambda: None)
        return _outcome(job, folder, session, warm.warnings)
    except BaseException:
        # What was read in part may be running still.
        close_session()
        raise
    finally:
        warm.release()


def _session_for(job: TraceJob) -> WarmSession:
    from dctv.cli.warm.hold import WarmSession

    key = json.dumps([job.settings, job.others], sort_keys=True)
    if key not in _kept:
        close_session()
        _kept[key] = WarmSession(Namespace(**job.settings), job.others)
    return _kept[key]


def close_session() -> None:
    """Close the session that jobs of this process have run in, if there is one."""
    while _kept:
        _kept.popitem()[1].close()


def _outcome(job: TraceJob, folder: Path, session: Session, mounted: Sequence[str]) -> dict[str, Any]:
    """Mount a trace and run a report; return its outcome, with the warnings of earlier mounts, too."""
    from dctv.cli.arguments import parameters
    from dctv.console.mounting import mount_named
    from dctv.run.result import Asserted, Result

    results: list[list[list[str]]] = []
    cases: list[list[str | None]] = []
    params = parameters(job.params)
    mount_named(session, job.trace, job.name)
    warnings = dict.fromkeys([*mounted, *session.warnings()])
    for name, sql, base in job.texts:
        where = None if base is None else Path(base)
        for outcome in session.execute(sql, params, source_name=name, base=where):
            if isinstance(outcome, Result):
                results.append(_write(outcome, folder / f"{len(results)}.arrows", job.settings.get("time")))
                warnings |= dict.fromkeys(counted(*one) for one in outcome.warnings)
            elif isinstance(outcome, Asserted):
                failure = None if outcome.passed else render(outcome.failure())
                cases.append([name, outcome.name, failure])
    incomplete = session.incomplete()
    return {"results": results, "cases": cases, "warnings": list(warnings), "incomplete": incomplete, "error": None}


def _write(result: Result, path: Path, zone: str | None) -> list[list[str]]:
    """Write a result, with wall-clock times if there is a zone; return names, types and units."""
    import pyarrow as pa

    from dctv.console.wall_times import dated

    rows = dated(result, zone)
    reader = rows.reader()
    with path.open("wb") as file, pa.ipc.new_stream(file, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return [[column.name, column.type, str(column.unit)] for column in rows.schema.columns]


def _failed(text: str, code: int) -> dict[str, Any]:
    return {"results": [], "cases": [], "warnings": [], "incomplete": [], "error": [text, code]}


def _finish(folder: Path, outcome: dict[str, Any]) -> None:
    """Write the outcome of a job; atomically, as the last file."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{_DONE}.{os.getpid()}"
    made.write_text(json.dumps(outcome), encoding="utf-8")
    made.replace(folder / _DONE)


def unfinished(jobs: Sequence[TraceJob]) -> list[TraceJob]:
    """Return the jobs that still have to run, including those that failed before."""
    return [
        job
        for job in jobs
        if (outcome := job.outcome()) is None or outcome["error"] is not None or outcome["incomplete"]
    ]
