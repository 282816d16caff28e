"""What formats of spans of services share: elements of JSON documents, and the rows made of them."""

DIMENSIONS = {"cat": "cat", "pid": "pid", "tid": "tid", "trace_id": "trace_id", "event": "name"}
