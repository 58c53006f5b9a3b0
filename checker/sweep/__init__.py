"""Many checks: every combination of protocols, bounds, networks and encodings."""
