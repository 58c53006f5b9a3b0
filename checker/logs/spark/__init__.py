"""The audit of logs on a Spark cluster."""
