"""The metadata of CTF traces: parse its text, and convert it to the kernels' program."""
