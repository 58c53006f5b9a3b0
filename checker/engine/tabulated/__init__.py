"""Breadth-first search on rows: levels, assumptions, traces, transports.

A *level* has the states at one distance from the initial state. A *transport* holds the states and
expands them, on threads or on a cluster.
"""
