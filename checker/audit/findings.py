"""What an audit finds."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from antecede.checker.amounts import counted
from antecede.checker.audit.events import Event
from antecede.checker.errors import InputError


@frozen
class Finding:
    """Something wrong in a log.

    Attributes:
        kind: `causal-delivery`, `integrity`, `impossible`, `clock` or `undelivered`.
        line: where it shows.
        text: in a sentence; names are as the log has them.
        actor: where it shows.
        first, second: for causal-delivery: the message that was overtaken, and the one that did;
            else `first` is the message, if there is one.
        log: the name of the log in which it shows.
        chain: for causal-delivery: messages from `first` to `second`, each causal-sent after the
            one before was sent or delivered at its sender.
        events: for causal-delivery: what happened along the chain, in causal order, then the two
            deliveries in theirs.
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


@frozen
class Audit:
    """What was found in logs.

    Attributes:
        findings: what is wrong, by log and line.
        undelivered: messages that some destination did not deliver, with those destinations.
        logs: their names.
        actors, causal_sends, deliveries: counts.
        events: causal-sends and deliveries that were read.
        open: copies of messages that were causal-sent and not delivered.
        unaddressed: causal-sends that name no destinations.
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

    @property
    def holds(self) -> bool:
        """Nothing is wrong but that messages may still be in transit."""
        return not self.findings


def two_homes(actor: str, one: str, other: str, line: int) -> InputError:
    """Return the error for an actor whose events stand in two logs."""
    return InputError(
        f"{other}, line {line}: {actor!r} has events in {one}, too; the events of an actor stand "
        "in one log, for nothing tells which of two logs comes first"
    )


def no_sends(logs: Sequence[str], events: int) -> InputError:
    """Return the error for logs in which nothing is causal-sent."""
    return InputError(
        f"{', '.join(logs)}: no causal-send in {counted(events, 'event')}, so there is no order to "
        "judge; does the log begin too late?"
    )
