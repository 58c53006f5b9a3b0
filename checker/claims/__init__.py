"""What the papers claim, as data, and what checks say of it.

`sources` reads the claims from a TOML file per paper, and `judge` decides them within bounds.
Claims about time are decided by `checker.simulate.claims`.
"""
