"""What runs on another engine than DuckDB is collected by `make test-engines` only, which installs those."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("DCTV_ENGINES") else ["cluster", "in_harlequin", "sail"]
if not (os.environ.get("DCTV_ENGINES") and (os.environ.get("DCTV_SPARK_HOME") or os.environ.get("DCTV_SPARK"))):
    collect_ignore.append("apache")
