"""The search on a Spark cluster."""
