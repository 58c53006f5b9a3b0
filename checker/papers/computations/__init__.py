"""Complete computations, their classes in the literature, and the protocols that generate them.

Read `computation.py` first, then `classes.py`. `generate.py` finds the computations that a protocol
generates, `placement.py` compares them with the classes, and `report.py` says the result.
"""
