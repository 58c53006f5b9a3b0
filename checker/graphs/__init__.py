"""Algorithms on a graph of states that is stored in arrays."""
