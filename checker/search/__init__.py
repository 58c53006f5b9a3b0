"""The one exploration loop, the explorers in plain Python, and the results of searches."""
