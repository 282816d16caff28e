"""An address such as `sc://host:15002` -> a connection, over which the engine there is asked."""

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
from dctv.engines.spark.failures import failure, is_gone, lost
from dctv.engines.spark.job import SparkJob
from dctv.engines.spark.spread import SparkExecutor
from dctv.engines.spark.sweeps import version_of
from dctv.engines.sql.spark import vet
from dctv.errors import DctvError, Interrupted, NotOnThisEngine, Unanswered, UsageError
from dctv.plan.node import Query

_PORT = 15002
_SECONDS = 5.0
"""How long a server may take to answer at all."""
_CORES = 8
"""Groups into which operators are cut."""


def connect(address: str) -> Connection:
    """Connect to an engine.

    Raises:
        UsageError: the address is none, or the client is not installed.
        Unanswered: nobody answers there.
    """
    if not address.startswith("sc://") or not urlsplit(address).hostname:
        raise UsageError(f"found the engine `{address}`, expected 'duckdb' or an address such as 'sc://host:15002'")
    connection = Connection(address, _session(address))
    connection.try_out()
    return connection


def _session(address: str) -> Any:
    _check_answer(address)
    # In a worker of some test runners the client takes itself for its own doctests, and those want a Spark at hand.
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
        # By itself the client asks a server that is gone for ten minutes.
        policy = DefaultPolicy(max_retries=3, initial_backoff=100, max_backoff=1000, max_server_retry_delay=2000)
        session.client.set_retry_policies([policy])
        session.conf.set("spark.sql.session.timeZone", "UTC")
        _spell_limit(session)
    except Exception as error:  # the client raises its own errors, gRPC's, and Python's
        raise Unanswered(f"cannot use the engine at `{address}`: {_first(error)}", hint=_SERVER) from None
    return session


def _spell_limit(session: Any) -> None:
    """Spell a limit of a server of Spark 4.1 as later clients read it: as a number, without its unit."""
    with suppress(Exception):  # other servers do not know it
        limit = session.conf.get(_LIMIT)
        if limit.endswith("b"):
            session.conf.set(_LIMIT, limit.removesuffix("b"))


_LIMIT = "spark.sql.session.localRelationSizeLimit"
_EXTRA = "pip install 'dctv[spark]'"
_SERVER = "start a server there, such as `sail spark server --port 15002`"


def _check_answer(address: str) -> None:
    """See whether somebody listens: the client would find out only after minutes."""
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname, parts.port or _PORT), _SECONDS).close()
    except (OSError, ValueError) as error:
        raise Unanswered(f"cannot reach the engine at `{address}`: {_first(error)}", hint=_SERVER) from None


def _first(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text.split("\n")[0].lower()


def _hush() -> None:
    """Keep to oneself what the client says of versions of pandas, and of errors that it raises, too."""
    warnings.filterwarnings("ignore", module=r"pyspark\.")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


_tried: dict[tuple[str, str], frozenset[str]] = {}
"""What engines do otherwise, by address and version."""


class Connection:
    """A session of a client of Spark Connect."""

    def __init__(self, address: str, session: Any) -> None:
        self.address = address
        self.session = session
        self.cores = _CORES
        self.gaps: frozenset[str] = frozenset()
        """What the engine is known to do otherwise."""
        self._seen: dict[Path, bool] = {}
        self._interrupted = False
        self._closing = threading.Lock()

    def try_out(self) -> None:
        """Find out what the engine does otherwise; an engine of one version is asked once in a process."""
        import pyarrow as pa

        version = self.guarded(lambda: self.session.version)
        if (self.address, version) not in _tried:
            columns = zip(*ROWS, strict=True)
            table = pa.table({name: pa.array(c) for (name, _), c in zip(COLUMNS, columns, strict=True)})
            job = self.job()
            try:
                known = {TABLE: (job.table(table, COLUMNS), COLUMNS)}

                def ask(query: Query) -> Rows:
                    found = job.rows(job.query(query, known), lambda: self._interrupted)
                    return [tuple(row.values()) for part in found for row in part.to_pylist()]

                _tried[self.address, version] = found_gaps(ask)
            finally:
                job.close()
        self.gaps = _tried[self.address, version]

    def check(self, query: Query, tables: Mapping[str, Sequence[Typed]]) -> None:
        """See whether a query can be carried out."""
        vet(query, tables, self.gaps)

    def check_columns(self, columns: Sequence[Typed]) -> None:
        """See whether the engine has values of these types."""
        ddl(columns)

    def check_sweeps(self) -> None:
        """See whether workers can run operators."""
        if self._unfit is not None:
            raise self._unfit

    @cached_property
    def _unfit(self) -> NotOnThisEngine | None:
        """Why workers cannot run operators."""
        from dctv import __version__

        try:
            frame = self.session.range(1).mapInArrow(version_of, "version STRING")
            (found,) = frame.toArrow().column(0).to_pylist()
        except Exception as error:  # whatever Python says on the worker
            message = failure(error, self.address)
            if is_gone(str(error)):
                raise message from None
            return NotOnThisEngine(f"a span operator is not on the workers: {message.message}", hint=message.hint)
        if found == __version__:
            return None
        return NotOnThisEngine(
            f"a span operator is not on the workers: dctv is {found} there and {__version__} here",
            hint="install the same version there",
        )

    def sees(self, folder: Path) -> bool:
        """Return whether the engine reads files of a folder: one with a name of its own is put there, and read."""
        if folder not in self._seen:
            self._seen[folder] = self._looked(folder)
        return self._seen[folder]

    def _looked(self, folder: Path) -> bool:
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

    def job(self) -> SparkJob:
        """Begin a result."""
        self._interrupted = False
        return SparkJob(self)

    def executor(self) -> Executor:
        """Return what runs functions of dctv on the workers.

        Raises:
            NotOnThisEngine: they have no dctv, or another one.
        """
        self.check_sweeps()
        return SparkExecutor(self, self.cores)

    def answers(self) -> bool:
        """Whether somebody is still there."""
        try:
            _check_answer(self.address)
        except Unanswered:
            return False
        return True

    def guarded(self, work: Callable[[], Any]) -> Any:
        """Return what work gives; what the client raises becomes our error."""
        try:
            return work()
        except Exception as error:  # the client raises its own errors, gRPC's, and Python's
            raise self.failed(error) from None

    def failed(self, error: BaseException) -> DctvError:
        """Return our error for one of the client's."""
        message = failure(error, self.address, interrupted=self._interrupted)
        # The client has many ways to say that nobody answers.
        if isinstance(message, Interrupted | Unanswered) or self.answers():
            return message
        return lost(self.address)

    def end(self, tag: str) -> None:
        """End what runs under a tag, without waiting for it."""
        self._aside(lambda: self.session.interruptTag(tag))

    def forget(self, views: Sequence[str]) -> None:
        """Drop views."""
        for one in views:
            with suppress(Exception):
                self.session.catalog.dropTempView(one)

    def interrupt(self) -> None:
        """End all that runs for this session."""
        self._interrupted = True
        self._aside(self.session.interruptAll)

    def _aside(self, work: Callable[[], Any]) -> None:
        """Do something that may take as long as it likes: servers may be busy, or gone."""

        def quietly() -> None:
            with suppress(Exception):
                work()

        threading.Thread(target=quietly, daemon=True).start()

    def close(self) -> None:
        """End the session, which the server lets go of by itself if it cannot be told."""
        with self._closing, suppress(Exception):
            self.session.client.set_retry_policies([])
            self.session.stop()
