"""Proofs for every number of actors and messages: abstract models and their inductive invariants.

Read `vocabulary` first. Then read `obligations` (the solver's questions), `finite` (small models
and counterexamples to induction), `link` (the comparison with the Python), `mutants` and `suggest`.
"""
