"""A system as tables that compiled kernels explore: components, rows, visited states."""
