"""Lets another thread judge batches, while the calling thread reads the next ones.

Kernels release the GIL, so both work at the same time. Only batches pass from one to the other.
Plain Python judges in the calling thread, because a second thread gains nothing.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from attrs import define, field

from antecede.checker.logs.events.batches import Batch
from antecede.checker.logs.judge.judge import Judge
from antecede.checker.support import interrupts

MOST = 2
"""The most batches that wait for the judge or are being judged, while another one is filled."""


@define(eq=False)
class Ahead:
    """Hands batches over to a judge, which judges them in their order.

    Attributes:
        judge: used by the other thread only, until `wait` returns.
        thread: the other thread, which is started for the first batch.
        batches: the batches that were handed over, and the work on them; the oldest batch first.
    """

    judge: Judge
    thread: ThreadPoolExecutor = field(factory=lambda: ThreadPoolExecutor(1, "judge"))
    batches: deque[tuple[Batch, Future[None]]] = field(factory=deque)

    def take(self, batch: Batch) -> Batch:
        """Let a batch be judged; return a batch that can be filled."""
        if not self.judge.compiled:
            self.judge.take(batch)
            return batch
        with interrupts.shielded():
            self.batches.append((batch, self.thread.submit(self.judge.take, batch)))
        return self._oldest() if len(self.batches) > MOST else Batch()

    def wait(self) -> None:
        """Wait until everything is judged; raise the errors of the judge."""
        while self.batches:
            self._oldest()

    def _oldest(self) -> Batch:
        """Wait until the oldest batch is judged, and return it.

        A batch whose judging failed stays the oldest one, so every later call raises its error.
        """
        batch, work = self.batches[0]
        interrupts.finished(work)
        self.batches.popleft()
        return batch

    def close(self) -> None:
        """End the other thread."""
        self.judge.stopped = True
        self.thread.shutdown(cancel_futures=True)
