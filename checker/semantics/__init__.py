"""What can happen and what is violated, in plain Python: the judge of every faster engine."""
