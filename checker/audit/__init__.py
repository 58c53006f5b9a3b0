"""The causality oracle on the logs of real systems."""
