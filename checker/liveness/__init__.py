"""Liveness: fair cycles, starvation, and ways back from every state."""
