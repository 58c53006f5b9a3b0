"""The simulated network: computes when a packet reaches its receiver."""

from __future__ import annotations

from random import Random
from typing import Any

from attrs import define, field

from antecede.checker.papers.simulate.scenario import UNLIMITED, Scenario

SECOND = 10**9


@define(eq=False)
class Network:
    """Senders' queues, propagation and, in some scenarios, receivers' queues.

    Attributes:
        random: draws the jitter.
        busy_until: per queue, the time when it has sent all its packets.
        receivers: per receiver, the time when its queue is empty.
        arrived: per ordered pair, the time when its latest packet arrives, for `fifo`.
    """

    scenario: Scenario
    random: Random
    busy_until: dict[Any, int] = field(factory=dict)
    receivers: dict[int, int] = field(factory=dict)
    arrived: dict[tuple[int, int], int] = field(factory=dict)

    @property
    def receives_in_turn(self) -> bool:
        """Packets to one actor also wait in a queue of the receiver."""
        return self.scenario.limits == "access"

    def queue_of(self, src: int, dst: int) -> Any:
        """Return the queue in which a packet waits for its transmission."""
        return {"link": (src, dst), "shared": "all"}.get(self.scenario.limits, src)

    def transmission(self, size: int) -> int:
        """Return the transmission time of `size` bytes, in nanoseconds rounded up."""
        return (
            0
            if self.scenario.bandwidth == UNLIMITED
            else -(-size * SECOND // self.scenario.bandwidth)
        )

    def send(self, now: int, src: int, dst: int, size: int) -> int:
        """Queue a packet of `size` bytes; return the time when it reaches `dst`."""
        there = now
        if size:
            queue = self.queue_of(src, dst)
            there = max(now, self.busy_until.get(queue, 0)) + self.transmission(size)
            self.busy_until[queue] = there
        there += self.scenario.delay
        if self.scenario.jitter:
            there += self.random.randrange(self.scenario.jitter + 1)
            if self.scenario.order == "fifo":
                there = max(there, self.arrived.get((src, dst), 0))
                self.arrived[src, dst] = there
        return there

    def admit(self, now: int, dst: int, size: int) -> int:
        """Return the time when a packet leaves the queue of `dst`, after earlier packets."""
        there = max(now, self.receivers.get(dst, 0)) + self.transmission(size)
        self.receivers[dst] = there
        return there
