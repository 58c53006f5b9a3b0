"""Proofs for every number of actors and messages: abstract models and their inductive invariants.

Read `vocabulary` first, then `obligations` (what the solver is asked), `finite` (small models and
counterexamples to induction), `link` (the model beside the Python), `mutants` and `suggest`.
"""
