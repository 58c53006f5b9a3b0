"""From events to findings."""
