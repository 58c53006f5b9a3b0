"""Breadth-first search on rows: levels, assumptions, traces, transports."""
