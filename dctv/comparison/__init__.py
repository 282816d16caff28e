"""Compare the results of one query for the runs of two sides, with the certainty of each change."""
