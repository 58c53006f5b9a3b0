"""What every other package may use: errors, settings, signals, memory, files."""
