"""From the bytes of logs to events."""
