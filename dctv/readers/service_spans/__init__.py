"""Shared parts of the formats of service spans: elements of JSON documents, and the rows made from them."""

DIMENSIONS = {"cat": "cat", "pid": "pid", "tid": "tid", "trace_id": "trace_id", "event": "name"}
