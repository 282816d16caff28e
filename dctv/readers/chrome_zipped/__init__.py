"""Archives of trace events in JSON: where the data of their members are."""
