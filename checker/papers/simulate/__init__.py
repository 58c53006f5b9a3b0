"""Protocols on simulated time: the handlers that are checked, a network, and a workload."""
