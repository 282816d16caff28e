"""Servers of Spark Connect as engines: Sail, Apache Spark, and what else speaks the protocol."""
