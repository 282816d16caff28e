"""Value types, units, table kinds, schemas."""
