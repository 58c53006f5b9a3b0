"""Liveness: fair cycles, starvation, and recoverability (AG EF)."""
