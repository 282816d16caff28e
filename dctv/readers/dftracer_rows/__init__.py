"""The tables of DFTracer traces, and reading them in chunks."""
