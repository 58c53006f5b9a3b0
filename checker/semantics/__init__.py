"""Transitions and the judgement of properties in plain Python: the reference for all engines."""
