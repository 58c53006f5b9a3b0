"""Checks that a protocol's handlers are pure functions.

Question: How does antecede find handlers that are not pure? `selfcheck`.
"""
