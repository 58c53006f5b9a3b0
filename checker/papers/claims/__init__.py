"""The claims of the papers as data, and the results of checking them.

`sources` reads the claims from a TOML file per paper, and `judge` decides them within bounds.
Claims about time are decided by `checker.papers.simulate.timed_claims`.
"""
