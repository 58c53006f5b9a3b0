"""The search on the threads of one machine: levels, the kept graph, depth-first search, walks."""
