"""The findings of an audit, and their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import field, frozen

from antecede.checker.amounts import counted
from antecede.checker.audit.events import Event
from antecede.checker.errors import InputError


@frozen
class Finding:
    """An error in a log.

    Attributes:
        kind: `causal-delivery`, `integrity`, `impossible`, `clock` or `undelivered`.
        line: the line of the event.
        text: a sentence with the log's own names.
        actor: the actor of the event.
        first, second: for causal-delivery, the overtaken message and the message that overtook it;
            otherwise `first` is the message, if there is one.
        log: the name of the event's log.
        chain: for causal-delivery, the messages from `first` to `second`. Each was causal-sent
            after its sender had sent or delivered the previous one.
        events: for causal-delivery, the events along the chain in causal order, then the two
            deliveries in their order.
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
    """The result of an audit.

    Attributes:
        findings: sorted by the names of actors, then in each actor's own order.
        undelivered: messages that a destination did not deliver. They are sorted by the names of
            senders, then in each sender's own order.
        logs: the names of the logs.
        actors: the number of actors with events.
        causal_sends, deliveries: counts of all events, right or wrong.
        events: the sum of both counts.
        open: copies of messages that were causal-sent and not delivered.
        unaddressed: causal-sends that name no destinations.
        torn: the logs and numbers of torn lines.
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

    @property
    def holds(self) -> bool:
        """The logs have no finding; undelivered messages may still be in transit."""
        return not self.findings


def overtaken(actor: str, message: str, second: str) -> str:
    """Return the text for a delivery that comes too late."""
    return (
        f"{actor} delivers {message} after {second}, which was causal-sent later: "
        f"{message} happened before {second}"
    )


def delivered_again(actor: str, message: str) -> str:
    """Return the text for a second delivery."""
    return f"{actor} delivers {message} again"


def strayed(actor: str, message: str) -> str:
    """Return the text for a delivery by an actor that is not a destination."""
    return f"{actor} delivers {message}, which was not sent to it"


def never_sent(actor: str, message: str) -> str:
    """Return the text for a delivery without a causal-send of its message."""
    return f"{actor} delivers {message}, and it was never causal-sent"


def too_soon(actor: str, message: str) -> str:
    """Return the text for a delivery on a circle."""
    return f"{actor} delivers {message}, before it can have been causal-sent"


def sent_twice(message: str) -> str:
    """Return the text for a second causal-send of a message by its sender."""
    return f"{message} is causal-sent a second time"


def sent_by_several(message: str) -> str:
    """Return the text for a causal-send of a name that another actor causal-sends, too."""
    return f"{message} is causal-sent by several actors, so its deliveries are not judged"


def not_delivered(message: str, sender: str, destinations: Iterable[str]) -> str:
    """Return the text for a message that did not arrive everywhere."""
    return f"{message} of {sender} was not delivered at {', '.join(sorted(destinations))}"


def two_homes(actor: str, one: str, other: str, line: int) -> InputError:
    """Return the error for an actor with events in two logs."""
    return InputError(
        f"{other}, line {line}: {actor!r} has events in {one}, too; all events of an "
        "actor must be in one log, because two logs have no order"
    )


def no_sends(logs: Sequence[str], events: int) -> InputError:
    """Return the error for logs without a causal-send."""
    return InputError(
        f"{', '.join(logs)}: no causal-send in {counted(events, 'event')}, so there is no order to "
        "judge; does the log begin too late?"
    )
