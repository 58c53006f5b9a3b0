"""The fast engine: the tables explored on all cores of one machine."""
