"""Archives of trace events in JSON: the positions of their members' data."""
