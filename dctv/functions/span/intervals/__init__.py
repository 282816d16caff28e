"""Relational forms of the operators over the spans or events of one table, and of labels."""
