"""Arrays that grow in place, files of arrays, and checkpoints."""
