"""What a log says: events, as objects and as rows of numbers, and the space that they take."""
