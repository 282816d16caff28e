"""Events of traces sorted into files of their own, with what it takes to prove and undo it."""
