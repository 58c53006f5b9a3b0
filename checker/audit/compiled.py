"""The compiled audit of logs of JSON objects: the plain audit's findings, but faster.

Two threads share the work. The calling thread reads and parses the logs (`checker.audit.parser`),
and another thread judges the batches of events (`checker.audit.judge`), in their order. Kernels
release the GIL, so both run at the same time. Only batches pass from one to the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from attrs import define, field

from antecede.checker.audit import kernels as k
from antecede.checker.audit.findings import Audit, Foreign
from antecede.checker.audit.judge import Judge
from antecede.checker.audit.parser import Batch, Parser
from antecede.checker.audit.records import Fields
from antecede.checker.audit.sources import Source
from antecede.checker.support import interrupts

AHEAD = 2
"""The most batches that wait for the judge or are being judged, while the parser fills another."""


@define(eq=False)
class Compiled(Judge):
    """Judges logs one after the other.

    Attributes:
        parser: used by the calling thread only. Everything that `Judge` has is used by the other
            thread until `wait` returns.
        thread: the other thread, which is started for the first batch.
        ahead: the batches that were handed over, and the work on them; the oldest batch first.
    """

    parser: Parser = field(factory=Parser)
    thread: ThreadPoolExecutor = field(factory=lambda: ThreadPoolExecutor(1, "judge"))
    ahead: deque[tuple[Batch, Future[None]]] = field(factory=deque)

    def __attrs_post_init__(self) -> None:
        """Share the list of logs."""
        self.logs = self.parser.logs

    @property
    def messages(self) -> int:
        """The number of messages."""
        return int(self.tables.counter[k.MESSAGES])

    @property
    def acting(self) -> int:
        """The number of actors that have events."""
        return int((self.parser.home >= 0).sum())

    def actor(self, number: int) -> str:
        """Return an actor's name."""
        return self.parser.actor(number)

    def message(self, number: int) -> str:
        """Return a message's name."""
        return self.parser.message(number)

    def place(self, where: int) -> tuple[str, int]:
        """Return the log and the line of a place."""
        return self.parser.place(where)

    def close(self) -> None:
        """End the other thread, and delete the record and the names."""
        self.stopped = True
        self.thread.shutdown(cancel_futures=True)
        self.parser.close()
        super().close()

    def read(self, source: Source, fields: Fields, tick: Callable[[int, int], None]) -> int:
        """Read the next log and begin to judge it; return the number of its events.

        Raises:
            InputError: a line is not an event; the message names the line and the reason.
        """
        before = self.parser.events
        try:
            for batch in self.parser.read(source, fields, tick):
                self.parser.batch = self._hand_over(batch)
        except Exception:
            self.wait()  # an error of an earlier event comes first
            raise
        return self.parser.events - before

    def wait(self) -> None:
        """Wait until everything that was read is judged."""
        while self.ahead:
            self._oldest()

    def result(self, foreign: Sequence[Foreign] = (), *, unfinished: bool = False) -> Audit:
        """Return the result, once everything is read; it raises the errors of the judge."""
        self.wait()
        self.events = self.parser.events
        return super().result(foreign, unfinished=unfinished)

    def _hand_over(self, batch: Batch) -> Batch:
        """Let the other thread judge a batch; return a batch that it does not need any more."""
        with interrupts.shielded():
            self.ahead.append((batch, self.thread.submit(self._take, batch)))
        return self._oldest() if len(self.ahead) > AHEAD else Batch()

    def _oldest(self) -> Batch:
        """Wait until the oldest batch is judged, and return it.

        A batch whose judging failed stays the oldest one, so every later call raises its error.
        """
        batch, work = self.ahead[0]
        interrupts.finished(work)
        self.ahead.popleft()
        return batch

    def _take(self, batch: Batch) -> None:
        """Judge a batch, unless an earlier one failed."""
        if self.stopped:
            return
        try:
            self.tables.counter[[k.ACTORS, k.MESSAGES]] = batch.actors, batch.messages
            self._add_sets(batch.set_ends, batch.members)
            self._judge(batch.rows, batch.events)
        except BaseException:
            self.stopped = True
            raise
