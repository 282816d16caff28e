"""Place spans or events on the lanes of a timeline's tracks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.nodes import SPILL_FOLDER, ArrowStream


def _timeline_rows(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    import pyarrow as pa

    from dctv.timeline.of_rows import timeline_of
    from dctv.timeline.space import Space
    from dctv.timeline.table import table_of

    with pa.RecordBatchReader.from_stream(inputs[0]) as reader:
        space = Space(Path(options[SPILL_FOLDER]))
        timeline = timeline_of(
            options["schema"], _with_cancel(reader, cancel), space, options["name"], options["value"]
        )
    rows = table_of(timeline)
    texts = [field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in rows.schema]
    found: ArrowStream = rows.cast(pa.schema(texts))
    return found


def _with_cancel(reader: Any, cancel: Any) -> Any:
    """Yield batches until the query is cancelled."""
    for batch in reader:
        if cancel.is_set():
            return
        yield batch


TIMELINE_ROWS = SpanOperator("timeline rows", "dctv.timeline_rows: rows on tracks and lanes", _timeline_rows, None)
