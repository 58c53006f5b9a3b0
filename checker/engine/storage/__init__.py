"""Arrays that grow in place, files of arrays, and checkpoints.

A *checkpoint* is a saved search, in files of numbers and JSON.
"""
