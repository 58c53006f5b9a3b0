"""The causality oracle on the logs of real systems.

Question: How does `audit` read a log and judge it? `audit`.
"""
