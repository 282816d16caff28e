"""Servers of Spark Connect as engines: Sail, Apache Spark, and others that speak the protocol."""
