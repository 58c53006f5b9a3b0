"""Real code under the checker: Python objects, and programs that communicate over a pipe."""
