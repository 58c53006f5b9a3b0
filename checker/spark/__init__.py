"""The same rounds on a Spark cluster."""
