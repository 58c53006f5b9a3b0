"""The simulated network: computes when a packet reaches its receiver."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from attrs import define, field

from antecede.checker.simulate.scenario import UNLIMITED, Scenario

SECOND = 10**9


@define(eq=False)
class Network:
    """Senders' queues, propagation and, in some scenarios, receivers' queues.

    Attributes:
        busy_until: per queue, the time when it has sent all its packets.
        arrived: per ordered pair, the time when its latest packet arrives, for `fifo`.
    """

    actors: int
    bandwidth: int
    delay: int
    jitter: int
    fifo: bool
    receives_in_turn: bool
    queue_of: Callable[[int, int], int]
    random: Random
    busy_until: dict[int, int] = field(factory=dict)
    receivers: dict[int, int] = field(factory=dict)
    arrived: dict[tuple[int, int], int] = field(factory=dict)

    @classmethod
    def of(cls, scenario: Scenario, seed: int) -> Network:
        """Return the idle network of a scenario."""
        n = scenario.actors
        queues: dict[str, Callable[[int, int], int]] = {
            "uplink": lambda src, _dst: src,
            "access": lambda src, _dst: src,
            "link": lambda src, dst: src * n + dst,
            "shared": lambda _src, _dst: 0,
        }
        return cls(
            actors=n,
            bandwidth=scenario.bandwidth,
            delay=scenario.delay,
            jitter=scenario.jitter,
            fifo=scenario.order == "fifo",
            receives_in_turn=scenario.limits == "access",
            queue_of=queues[scenario.limits],
            random=Random(f"{seed} jitter"),
        )

    def transmission(self, size: int) -> int:
        """Return the transmission time of `size` bytes, in nanoseconds rounded up."""
        return 0 if self.bandwidth == UNLIMITED else -(-size * SECOND // self.bandwidth)

    def send(self, now: int, src: int, dst: int, size: int) -> int:
        """Queue a packet of `size` bytes; return the time when it reaches `dst`."""
        there = now
        if size:
            queue = self.queue_of(src, dst)
            there = max(now, self.busy_until.get(queue, 0)) + self.transmission(size)
            self.busy_until[queue] = there
        there += self.delay
        if self.jitter:
            there += self.random.randrange(self.jitter + 1)
            if self.fifo:
                there = max(there, self.arrived.get((src, dst), 0))
                self.arrived[src, dst] = there
        return there

    def admit(self, now: int, dst: int, size: int) -> int:
        """Return the time when a packet leaves the queue of `dst`, after earlier packets."""
        there = max(now, self.receivers.get(dst, 0)) + self.transmission(size)
        self.receivers[dst] = there
        return there
