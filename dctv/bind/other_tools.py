"""Hints for functions of other tools: the equivalents here."""

from __future__ import annotations

_QUANTILE = "quantile_cont(x, 0.99) takes a share between 0 and 1"
_LAST = "`_ts` is 0 at the first event of a trace; the last one's is in t.last_ts"

ELSEWHERE = {
    "approx_percentile": _QUANTILE,
    "extract_arg": "args->>'key' takes a value out of a column of JSON",
    "iif": "IF(condition, a, b) is the same",
    "isnull": "x IS NULL asks for it, COALESCE(x, y) takes y in its place",
    "nvl": "COALESCE(x, y) takes y where x is NULL",
    "percentile": _QUANTILE,
    "percentile_cont": _QUANTILE,
    "percentile_disc": "quantile_disc(x, 0.99) takes a share between 0 and 1",
    "slice_self_dur": "dctv.self_time(t.slices) has it as `_self`",
    "trace_dur": _LAST,
    "trace_end": _LAST,
    "trace_start": _LAST,
}
"""By their names in lower case; those that there are here are never looked up."""
