"""Connect to the engine at an address such as `sc://host:15002`."""

from __future__ import annotations

import logging
import os
import socket
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from dctv.contracts.remote import Typed
from dctv.engines.spark.canaries import COLUMNS, ROWS, TABLE, Rows, found_gaps
from dctv.engines.spark.columns import ddl
from dctv.engines.spark.failures import failure, is_unreachable, lost
from dctv.engines.spark.job import SparkJob
from dctv.engines.spark.spread import SparkExecutor
from dctv.engines.spark.sweeps import version_of
from dctv.engines.sql.spark import vet
from dctv.errors import DctvError, Interrupted, NotOnThisEngine, Unanswered, UsageError
from dctv.plan.node import Query

_PORT = 15002
_SECONDS = 5.0
"""Timeout for a server's first answer."""
_CORES = 8
"""The number of groups that operators are divided into."""


def connect(address: str) -> Connection:
    """Connect to an engine.

    Raises:
        UsageError: the address is malformed, or the client is not installed.
        Unanswered: no server answers there.
    """
    if not address.startswith("sc://") or not urlsplit(address).hostname:
        raise UsageError(f"found the engine `{address}`, expected 'duckdb' or an address such as 'sc://host:15002'")
    connection = Connection(address, _session(address))
    connection.try_out()
    return connection


def _session(address: str) -> Any:
    _check_answer(address)
    # In a worker of some test runners the client assumes that its own doctests run, and those require a local Spark.
    os.environ.setdefault("SPARK_HOME", "none")
    _hush()
    try:
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        raise UsageError(
            f"a remote engine requires a package that is not installed: {_first(error)}", hint=_EXTRA
        ) from None
    try:
        session = SparkSession.builder.remote(address).create()
        # By default the client retries a vanished server for ten minutes.
        policy = DefaultPolicy(max_retries=3, initial_backoff=100, max_backoff=1000, max_server_retry_delay=2000)
        session.client.set_retry_policies([policy])
        session.conf.set("spark.sql.session.timeZone", "UTC")
        _spell_limit(session)
    except Exception as error:  # the client raises its own errors, gRPC's, and Python's
        raise Unanswered(f"cannot use the engine at `{address}`: {_first(error)}", hint=_SERVER) from None
    return session


def _spell_limit(session: Any) -> None:
    """Rewrite a limit of a Spark 4.1 server as later clients read it: as a number, without its unit."""
    with suppress(Exception):  # other servers do not know it
        limit = session.conf.get(_LIMIT)
        if limit.endswith("b"):
            session.conf.set(_LIMIT, limit.removesuffix("b"))


_LIMIT = "spark.sql.session.localRelationSizeLimit"
_EXTRA = "pip install 'dctv[spark]'"
_SERVER = "start a server there, such as `sail spark server --port 15002`"


def _check_answer(address: str) -> None:
    """Check that a server listens: the client would notice only after minutes."""
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname, parts.port or _PORT), _SECONDS).close()
    except (OSError, ValueError) as error:
        raise Unanswered(f"cannot reach the engine at `{address}`: {_first(error)}", hint=_SERVER) from None


def _first(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text.split("\n")[0].lower()


def _hush() -> None:
    """Silence the client's messages about versions of pandas, and about errors that it also raises."""
    warnings.filterwarnings("ignore", module=r"pyspark\.")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


_tried: dict[tuple[str, str], frozenset[str]] = {}
"""Deviations of engines, by address and version."""


class Connection:
    """A session of a Spark Connect client."""

    def __init__(self, address: str, session: Any) -> None:
        self.address = address
        self.session = session
        self.cores = _CORES
        self.gaps: frozenset[str] = frozenset()
        """The known deviations of the engine."""
        self._readable: dict[Path, bool] = {}
        self._interrupted = False
        self._closing = threading.Lock()

    def try_out(self) -> None:
        """Find the engine's deviations; an engine of one version is tested once per process."""
        import pyarrow as pa

        version = self.guarded(lambda: self.session.version)
        if (self.address, version) not in _tried:
            columns = zip(*ROWS, strict=True)
            table = pa.table({name: pa.array(c) for (name, _), c in zip(COLUMNS, columns, strict=True)})
            job = self.job(lambda: self._interrupted)
            try:
                tables = {TABLE: (job.table(table, COLUMNS), COLUMNS)}

                def ask(query: Query) -> Rows:
                    found = job.rows(job.query(query, tables))
                    return [tuple(row.values()) for part in found for row in part.to_pylist()]

                _tried[self.address, version] = found_gaps(ask)
            finally:
                job.close()
        self.gaps = _tried[self.address, version]

    def check(self, query: Query, tables: Mapping[str, Sequence[Typed]]) -> None:
        """Check that the engine can run a query."""
        vet(query, tables, self.gaps)

    def check_columns(self, columns: Sequence[Typed]) -> None:
        """Check that the engine has values of these types."""
        ddl(columns)

    def check_sweeps(self) -> None:
        """Check that workers can run operators."""
        if self._unfit is not None:
            raise self._unfit

    @cached_property
    def _unfit(self) -> NotOnThisEngine | None:
        """The reason why workers cannot run operators, None if they can."""
        from dctv import __version__

        try:
            frame = self.session.range(1).mapInArrow(version_of, "version STRING")
            (found,) = frame.toArrow().column(0).to_pylist()
        except Exception as error:  # whatever Python says on the worker
            message = failure(error, self.address)
            if is_unreachable(str(error)):
                raise message from None
            return NotOnThisEngine(f"the workers cannot run a span operator: {message.message}", hint=message.hint)
        if found == __version__:
            return None
        return NotOnThisEngine(
            f"the workers cannot run a span operator: dctv is {found} there and {__version__} here",
            hint="install the same version there",
        )

    def sees(self, folder: Path) -> bool:
        """Return whether the engine reads files of a folder: write one with a unique name there, and query it."""
        if folder not in self._readable:
            self._readable[folder] = self._probe(folder)
        return self._readable[folder]

    def _probe(self, folder: Path) -> bool:
        import pyarrow as pa
        import pyarrow.parquet as pq

        mark = uuid4().hex
        path = folder / f"dctv-{mark}.parquet"  # files whose names begin with a dot are passed over there
        try:
            pq.write_table(pa.table({"mark": [mark]}), path)
            with suppress(Exception):
                return bool(self.session.read.parquet(str(path)).toArrow().column(0).to_pylist() == [mark])
        except OSError:
            return False
        finally:
            path.unlink(missing_ok=True)
        return False

    @cached_property
    def keeps_rows(self) -> bool:
        """Whether the engine can compute rows once, and keep them: Sail does so only in a folder that it is given."""
        with suppress(Exception):
            return bool(self.session.range(1).localCheckpoint().count() == 1)
        return False

    def job(self, stop: Callable[[], bool]) -> SparkJob:
        """Start a result; `stop` is asked whether it is still wanted."""
        self._interrupted = False
        return SparkJob(self, stop)

    def executor(self) -> Executor:
        """Return an executor that runs dctv's functions on the workers.

        Raises:
            NotOnThisEngine: they have no dctv, or another version.
        """
        self.check_sweeps()
        return SparkExecutor(self, self.cores)

    def answers(self) -> bool:
        """Whether the server still answers."""
        try:
            _check_answer(self.address)
        except Unanswered:
            return False
        return True

    def guarded(self, work: Callable[[], Any]) -> Any:
        """Return the result of `work`; errors of the client become dctv's."""
        try:
            return work()
        except Exception as error:  # the client raises its own errors, gRPC's, and Python's
            raise self.failed(error) from None

    def failed(self, error: BaseException) -> DctvError:
        """Return dctv's error for one of the client's."""
        message = failure(error, self.address, interrupted=self._interrupted)
        # The client has many messages for a server that does not answer.
        if isinstance(message, Interrupted | Unanswered) or self.answers():
            return message
        return lost(self.address)

    def end(self, tag: str) -> None:
        """Cancel what runs under a tag, without waiting for it."""
        self._aside(lambda: self.session.interruptTag(tag))

    def forget(self, views: Sequence[str]) -> None:
        """Drop views."""
        for one in views:
            with suppress(Exception):
                self.session.catalog.dropTempView(one)

    def interrupt(self) -> None:
        """Cancel everything that runs for this session."""
        self._interrupted = True
        self._aside(self.session.interruptAll)

    def _aside(self, work: Callable[[], Any]) -> None:
        """Run a call that may take arbitrarily long in a thread: servers may be busy, or gone."""

        def quietly() -> None:
            with suppress(Exception):
                work()

        threading.Thread(target=quietly, daemon=True).start()

    def close(self) -> None:
        """Close the session; a server that cannot be reached expires it by itself."""
        with self._closing, suppress(Exception):
            self.session.client.set_retry_policies([])
            self.session.stop()
