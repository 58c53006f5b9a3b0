"""Follows the knowledge of one message through the events in causal order."""

from __future__ import annotations

from antecede.checker.audit.kernels.arrays import DELIVER, WRONG, kernel


@kernel
def follow(events, base, first, second, via, how, sent_at):
    """Find the actors that know of a message, and the event that told each of them.

    See `checker.audit.chains` for the plain version.

    Args:
        events: int64; in causal order, as in `out`.
        base: the number of the first event.
        first: the message that was overtaken.
        second: the message that overtook it.
        via: int64 per actor; the number of the event that first told it of `first`, or -1.
        how: int64 per message; the event that told its sender of `first` before sending, or -1.
        sent_at: int64 per message; its causal-send, or -1 if its sender did not know of `first`.

    Returns:
        Whether `second` was causal-sent.
    """
    for k in range(len(events) // 4):
        kind, actor, message = events[4 * k] & 1, events[4 * k + 1], events[4 * k + 2]
        if events[4 * k] & WRONG:
            continue
        if kind == DELIVER:
            if sent_at[message] >= 0 and via[actor] < 0:
                via[actor] = base + k
        elif sent_at[message] < 0:
            if message == first:
                sent_at[message] = base + k
                via[actor] = base + k
            elif via[actor] >= 0:
                how[message] = via[actor]
                sent_at[message] = base + k
            if message == second and sent_at[message] >= 0:
                return True
    return False
