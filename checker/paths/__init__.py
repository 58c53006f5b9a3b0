"""Replay, judgement and minimisation of a single run."""
