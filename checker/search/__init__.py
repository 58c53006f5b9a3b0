"""The one exploration loop, the explorers in plain Python, and what a search found."""
