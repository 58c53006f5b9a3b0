"""The exact set of visited states."""
