"""The findings of an audit, and their texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from attrs import evolve, field, frozen

from antecede.checker.logs.events.event import Event
from antecede.checker.logs.readers.sources import Foreign, skipped_lines
from antecede.checker.support.amounts import counted, quoted
from antecede.checker.support.errors import InputError


@frozen
class Finding:
    """One error that an audit found in a log, such as a message that was delivered too early.

    Attributes:
        kind: the kind of the error. `causal-delivery`: a message was delivered after a message that
            depends on it. `integrity`: a message was delivered twice, or to an actor to which it
            was not sent. `impossible`: the log contradicts itself, for example a message was
            delivered and never sent. `clock`: a vector clock in the log is wrong. `undelivered`: a
            receiver did not deliver a message.
        line: the number of the line in the log.
        text: a sentence about the error, with the names that the log uses.
        actor: the name of the participant that made the error.
        first: for `causal-delivery`, the message that came too late; otherwise the message that the
            error is about, or None.
        second: for `causal-delivery`, the message that was delivered before `first`; otherwise
            None.
        log: the name of the file.
        chain: for `causal-delivery`, the messages from `first` to `second`. Each was sent after its
            sender had sent or delivered the previous one. If messages wait for each other in a
            circle, these messages, from `first` to `first`.
        events: for `causal-delivery`, the events along the chain in causal order, then the two
            deliveries in their order. Otherwise the events of `first` that show the error, which
            may include deliveries that never happen. Only the first findings have events.
        what: the fault, more precisely than `kind`: a key of `checker.logs.judge.findings.KINDS`.
        missing: for `undelivered`, the receivers that did not deliver the message.
    """

    kind: str
    line: int
    text: str
    actor: str
    first: str | None = None
    second: str | None = None
    log: str = ""
    chain: tuple[str, ...] = ()
    events: tuple[Event, ...] = field(default=(), eq=False)
    what: str = ""
    missing: tuple[str, ...] = ()


@frozen
class Audit:
    """The result of an audit.

    Attributes:
        findings: sorted by the names of actors, then in each actor's own order.
        undelivered: messages that a destination did not deliver. They are sorted by the names of
            senders, then in each sender's own order. If the log is unfinished, there are none.
        causal_sends, deliveries: counts of all events, right or wrong.
        events: the sum of both counts.
        open: copies of messages that were causal-sent and not delivered.
        unaddressed: causal-sends that name no destinations.
        torn: the logs and numbers of torn lines.
        foreign: the logs that have lines which are no events.
        clocks: the number of vector clocks that were checked.
        executions: the names of the executions in a log with several ones, and the audit of each.
        left_out: the parts that were not judged, and why.
        undecided: why the verdict depends on an order that the logs do not say, or an empty text.
        warnings: reasons why findings may be wrong.
        unfinished: messages may still be in transit.
    """

    findings: tuple[Finding, ...]
    undelivered: tuple[Finding, ...]
    logs: tuple[str, ...]
    actors: int
    causal_sends: int
    deliveries: int
    events: int
    open: int
    unaddressed: int
    torn: tuple[tuple[str, int], ...] = ()
    foreign: tuple[Foreign, ...] = ()
    clocks: int = 0
    executions: tuple[tuple[str, Audit], ...] = ()
    left_out: tuple[str, ...] = ()
    undecided: str = ""
    warnings: tuple[str, ...] = ()
    unfinished: bool = False

    @property
    def every(self) -> tuple[Finding, ...]:
        """All findings."""
        return (*self.findings, *self.undelivered)

    @property
    def drawn(self) -> Finding | None:
        """The finding that pictures show: the first late delivery, or else the first one."""
        shown = [finding for finding in self.every if finding.events]
        late = (finding for finding in shown if finding.what == "late")
        return next(late, shown[0] if shown else None)


def of_all(executions: Sequence[tuple[str, Audit]]) -> Audit:
    """Return the audits of several executions as one: their findings, and the sums of counts."""
    audits = [audit for _, audit in executions]

    def added(count: Callable[[Audit], int]) -> int:
        return sum(map(count, audits))

    return Audit(
        findings=tuple(chain.from_iterable(each.findings for each in audits)),
        undelivered=tuple(chain.from_iterable(each.undelivered for each in audits)),
        logs=audits[0].logs,
        actors=max(each.actors for each in audits),
        causal_sends=added(lambda each: each.causal_sends),
        deliveries=added(lambda each: each.deliveries),
        events=added(lambda each: each.events),
        open=added(lambda each: each.open),
        unaddressed=added(lambda each: each.unaddressed),
        clocks=added(lambda each: each.clocks),
        executions=tuple(executions),
        left_out=tuple(
            f"{clause} ({name})" for name, each in executions for clause in each.left_out
        ),
    )


def without(found: Audit, what: str, reason: str) -> Audit:
    """Return an audit that counts findings of one kind only, and does not list them.

    Args:
        found: the audit.
        what: a key of KINDS.
        reason: a clause about these deliveries, with their number as `{times}`.
    """
    kept = tuple(each for each in found.findings if each.what != what)
    count = len(found.findings) - len(kept)
    if not count:
        return found
    clause = reason.format(times=counted(count, "time"))
    return evolve(found, findings=kept, left_out=(*found.left_out, clause))


KINDS = {
    "late": (
        "causal-delivery",
        "{actor} processes {first} after {second}, although {first} happened before {second}",
        "too late",
    ),
    "again": ("integrity", "{actor} processes {first} again", "again"),
    "astray": (
        "integrity",
        "{actor} processes {first}, which was not sent to it",
        "not sent to it",
    ),
    "unsent": ("impossible", "{actor} processes {first}, and it was never sent", "never sent"),
    "too soon": (
        "impossible",
        "{actor} processes {first}, before it can have been sent",
        "not sent yet",
    ),
    "sent twice": ("impossible", "{first} is sent a second time", "a second time"),
    "shared": (
        "impossible",
        "{first} is sent by several actors, so its order is not judged",
        "sent by several actors",
    ),
    "undelivered": (
        "undelivered",
        "{first} of {actor} was not processed at {second}",
        "never processed",
    ),
}
"""What is wrong with an event -> the kind of the finding, its text, and a remark in pictures.

A late delivery comes after the message `second`. An undelivered message misses the destinations
`second`.
"""


def finding_of(
    what: str,
    actor: str,
    message: str,
    line: int,
    log: str,
    second: str = "",
    missing: tuple[str, ...] = (),
) -> Finding:
    """Return a finding; `what` is a key of KINDS, and `missing` are destinations."""
    kind, _, _ = KINDS[what]
    overtaker = second if what == "late" else None
    text = sentence(what, actor, message, second, missing)
    return Finding(kind, line, text, actor, message, overtaker, log, what=what, missing=missing)


def sentence(
    what: str, actor: str, message: str, second: str = "", missing: tuple[str, ...] = ()
) -> str:
    """Return the text of a finding."""
    names = quoted(second) if second else ", ".join(missing)
    return KINDS[what][1].format(actor=actor, first=quoted(message), second=names)


def no_sends(
    logs: Sequence[str], events: int, foreign: Sequence[Foreign], left_out: Sequence[str] = ()
) -> InputError:
    """Return the error for logs without a causal-send.

    `foreign` are their lines that are no events, and `left_out` says what else was not judged.
    """
    skipped = [*(skipped_lines(each) for each in foreign if each.lines), *left_out]
    without = f" (left out: {'; '.join(skipped)})" if skipped else ""
    return InputError(
        f"{', '.join(logs)}: no message was sent in {counted(events, 'event')}, so there is "
        f"no order to judge{without}; does the log begin too late?"
    )


@frozen
class How:
    """The kinds of events that an audit does not report as errors.

    Attributes:
        unfinished: only count undelivered messages, and do not list them.
        redelivery: an actor may deliver a message again; only its first delivery is judged.
        from_middle: the logs may begin in the middle, so messages may have been sent before.
    """

    unfinished: bool = False
    redelivery: bool = False
    from_middle: bool = False

    def tolerated(self, found: Audit) -> Audit:
        """Return an audit without the deliveries that are no errors; it counts them."""
        if self.redelivery:
            found = without(found, "again", "{times}, an actor processed a message again")
        if self.from_middle:
            found = without(
                found, "unsent", "{times}, an actor processed a message that no log sends"
            )
        return evolve(found, unfinished=self.unfinished)
