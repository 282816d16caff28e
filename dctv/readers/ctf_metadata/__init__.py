"""The metadata of CTF traces: what its texts say, and what the kernels make of it."""
