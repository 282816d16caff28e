"""Sort events of traces into files by groups, with the information to verify and undo it."""
