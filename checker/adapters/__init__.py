"""Real code under the checker: Python objects, and programs that are spoken to over a pipe."""
