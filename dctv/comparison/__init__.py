"""Results of one query for the runs of two sides, to what differs between them and how sure that is."""
