"""One run: replayed, judged, made shorter."""
