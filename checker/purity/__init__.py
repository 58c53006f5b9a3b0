"""Checks that a protocol's handlers are pure functions."""
