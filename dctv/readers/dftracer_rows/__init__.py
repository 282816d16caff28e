"""The tables of DFTracer traces, and how these are read in chunks."""
