"""asyncio code under the checker: a loop, clocks, connections and keys that antecede owns."""
