"""One check from end to end: a spec is resolved, explored, confirmed and explained."""
