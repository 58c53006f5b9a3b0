"""The exact set of visited states.

It stores whole rows, not hashes, so it never takes a new state for a visited one.

Question: How is a visited state found again, and how does the set grow? `sets_kernels`.
"""
