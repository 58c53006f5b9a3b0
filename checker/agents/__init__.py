"""The tools that `antecede mcp` offers to agents over the Model Context Protocol.

`tools.py` has the tools and their arguments, `running.py` runs a command of antecede in a process
of its own, which `apart.py` ends with the server, `answers.py` makes short texts of its result, and
`server.py` speaks the protocol.
"""
