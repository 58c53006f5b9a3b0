"""A simulated macOS and a simulated Windows, and the tests that run there."""
