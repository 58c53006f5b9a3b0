"""Follows the knowledge of one message through the events in causal order."""

from __future__ import annotations

from typing import NamedTuple

from antecede.checker.logs.judge.layout_kernels import (
    ACTOR,
    GOT,
    MESSAGE,
    TAGGED,
    WRONG,
    Array,
    kernel,
)


class Knowledge(NamedTuple):
    """How the knowledge of one message, `first`, reached others, as far as `follow` went.

    Attributes:
        via: int64 per actor; the number of the event that first told it of `first`, or -1.
        how: int64 per message; the event that told its sender of `first` before sending, or -1.
        sent_at: int64 per message; its causal-send, or -1 if its sender did not know of `first`.
        ends: int64; the target's deliveries of `second` and of `first`.
    """

    via: Array
    how: Array
    sent_at: Array
    ends: Array


@kernel
def follow(events, base, first, second, target, knowledge):
    """Find the actors that know of a message, and the event that told each of them.

    Args:
        events: int64; rows of `out`, in causal order.
        base: the number of the first event.
        first: the message that was overtaken.
        second: the message that overtook it.
        target: the actor that delivers both.
        knowledge: updated.

    Returns:
        Whether the target delivered `first`.
    """
    via, how, sent_at, ends = knowledge
    for k in range(len(events)):
        kind, actor, message = events[k, TAGGED] & 1, events[k, ACTOR], events[k, MESSAGE]
        if events[k, TAGGED] & WRONG:
            continue
        if kind == GOT:
            if sent_at[message] >= 0 and via[actor] < 0:
                via[actor] = base + k
            if actor == target and message == second:
                ends[0] = base + k
            if actor == target and message == first:
                ends[1] = base + k
                return True
        elif sent_at[message] < 0:
            if message == first:
                sent_at[message] = base + k
                via[actor] = base + k
            elif via[actor] >= 0:
                how[message] = via[actor]
                sent_at[message] = base + k
    return False
