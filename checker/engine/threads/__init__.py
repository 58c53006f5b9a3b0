"""The search on the threads of one machine: levels, the kept graph, depth-first search, walks.

Each thread has a *shard*: its part of the level and of the visited set.
"""
