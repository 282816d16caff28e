"""Reports of call trees: filter options become queries of the calls that pass, and their rows become text."""
