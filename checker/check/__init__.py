"""One check from end to end: it resolves a spec, explores it, and confirms the result."""
