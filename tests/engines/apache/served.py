"""Start a server of Apache Spark, with Spark Connect."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines.sail.served import ROOT, free_port, wait_for

_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_SECONDS = 180
"""A JVM that shares two processors with other tests takes half a minute."""


@contextmanager
def apache(environment: Path, folder: Path) -> Iterator[str]:
    """Start the server that a Python environment has, with two threads, and give its address; files go to a folder."""
    (home,) = environment.glob("lib/python*/site-packages/pyspark")
    port = free_port()
    # Its workers run our operators.
    names = {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    env = {**os.environ, **names, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder)}
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        # The server lives for minutes: compiling less saves a quarter of the CPU time, its own and that of the test.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [str(home / "bin/spark-submit"), "--master", "local[2]", "--class", _SERVER, *options, "spark-internal"]
    log = folder / "server.log"
    with log.open("wb") as written:
        process = subprocess.Popen(command, env=env, cwd=folder, stdout=written, stderr=subprocess.STDOUT)
    try:
        try:
            wait_for(port, _SECONDS)
        except OSError as error:
            raise AssertionError(log.read_text(errors="replace")[-4_000:]) from error
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
