"""The judge: processes events in causal order, and judges each delivery.

The actors' events may be interleaved in any way. If an actor's next event is the delivery of a
message that was not sent yet, the actor waits for the message. The rule is defined in
`checker.semantics.history`: a delivery is wrong if its actor already knew of the message from
earlier deliveries. An actor's own causal-sends are counted separately, so that messages to oneself
are judged as well.

Actors that still wait at the end have impossible deliveries. Either no actor causal-sends the
message, or several actors wait for each other in a circle. Then every delivery that an actor of the
circle waits for is impossible, and the actors continue without these deliveries. The result does
not depend on the order of the search, because no actor outside a circle can end it.

`tests/naive_audit.py` is the reference.
"""

from __future__ import annotations

from antecede.checker.logs.judge.clocks_kernels import drop, knows, learn
from antecede.checker.logs.judge.layout_kernels import *

MIX = 0x1E3779B97F4A7C15
"""Multiplies the key of a pair. The product wraps in compiled code, but not in Python; the bits
that are used are the same."""


@kernel
def is_member(members, start, end, actor):
    """Return whether an actor is in a part of `members`, which is sorted."""
    while start < end:
        middle = (start + end) // 2
        if members[middle] == actor:
            return True
        if members[middle] < actor:
            start = middle + 1
        else:
            end = middle
    return False


@kernel
def pair_place(pairs, key):
    """Return the slot of a pair, or the empty slot where it belongs."""
    mask = len(pairs) - 1
    at = ((key * MIX) >> 20) & mask
    while pairs[at] >= 0 and pairs[at] != key:
        at = (at + 1) & mask
    return at


@kernel
def forget_pair(pairs, key):
    """Remove a pair, and move back pairs that probed past it; return 1 if it was there, else 0."""
    mask = len(pairs) - 1
    hole = pair_place(pairs, key)
    if pairs[hole] < 0:
        return 0
    pairs[hole] = -1
    at = (hole + 1) & mask
    while pairs[at] >= 0:
        moved = pairs[at]
        pairs[at] = -1
        pairs[pair_place(pairs, moved)] = moved
        at = (at + 1) & mask
    return 1


@kernel
def repair_pairs(old, new, begin, end):
    """Move the pairs in a range of slots to a larger table."""
    for at in range(begin, end):
        if old[at] >= 0:
            new[pair_place(new, old[at])] = old[at]


@kernel
def find(t, kind, actor, message, where, sender, number):
    """Add a finding."""
    at = t.counter[FOUND]
    t.found[at, KIND], t.found[at, ACTOR], t.found[at, MESSAGE] = kind, actor, message
    t.found[at, SENDER], t.found[at, PLACE], t.found[at, NUMBER] = sender, where, number
    t.counter[FOUND] += 1


@kernel
def room(t):
    """Return whether every array has room for any next event, and no signal check is due."""
    return (
        t.counter[WORK] < MOST_WORK
        and t.counter[CHUNKS] > least_chunks(t.counter[ACTORS])
        and t.counter[SLOTS] > 0
        and t.counter[NODES] > 0
        and 2 * t.counter[PAIRS] < len(t.pairs)
        and t.counter[OUT] < len(t.out)
        and t.counter[FOUND] < len(t.found)
        and (len(t.watched) == 0 or t.counter[RAISED] + t.counter[ACTORS] <= len(t.raised))
    )


@kernel
def least_chunks(actors):
    """Return the most chunks that a delivery needs: a clock of all actors and a path."""
    return actors // 31 + 16


@kernel
def send(t, actor, message, to, where):
    """Put a message in transit, and wake the actors that wait for it.

    Returns False if the name was causal-sent before; then this causal-send does not count.
    """
    t.counter[SENDS] += 1
    t.counter[UNADDRESSED] += to < 0
    tag, value = t.state[message] & 3, t.state[message] >> 2
    if tag in (TRANSIT, DONE):
        first = t.slots[value, FROM] if tag == TRANSIT else value >> SET_BITS
        find(t, TWICE if first == actor else SHARED, actor, message, where, 0, 0)
        return False
    waiter = value if tag == AWAITED else -1
    t.own[actor] += 1
    t.counter[SLOTS] -= 1
    slot = t.free_slots[t.counter[SLOTS]]
    t.slots[slot, FROM], t.slots[slot, NTH] = actor, t.own[actor]
    t.slots[slot, PAST], t.slots[slot, WHOM], t.sent_at[slot] = t.known[actor], to, where
    t.chunk_users[t.known[actor]] += t.known[actor] > 0
    t.slots[slot, MISSING] = -1 if to < 0 else t.set_starts[to + 1] - t.set_starts[to]
    t.state[message] = (slot << 2) | TRANSIT
    if t.slots[slot, MISSING] == 0:
        forget(t, message, slot)
    while waiter >= 0:
        wake(t, waiter)
        waiter = t.next_waiter[waiter]
    return True


@kernel
def wake(t, actor):
    """Mark an actor as ready to continue."""
    t.waits_for[actor] = -1
    t.ready[t.counter[READY_END] % len(t.ready)] = actor
    t.counter[READY_END] += 1


@kernel
def forget(t, message, slot):
    """Keep only the destinations of a message that was delivered everywhere."""
    to = t.slots[slot, WHOM]
    if t.set_starts[to + 1] - t.set_starts[to] > 1:
        for at in range(t.set_starts[to], t.set_starts[to + 1]):
            t.counter[PAIRS] -= forget_pair(t.pairs, (message << 32) | t.members[at])
            t.counter[WORK] += 1
    drop(t, t.slots[slot, PAST], t.counter[HEIGHT] - 1)
    t.free_slots[t.counter[SLOTS]] = slot
    t.counter[SLOTS] += 1
    t.state[message] = (((t.slots[slot, FROM] << SET_BITS) | to) << 2) | DONE


@kernel
def deliver(t, actor, message, where):
    """Judge a delivery; return whether it counts. If it does not, its actor learns nothing."""
    t.counter[DELIVERIES] += 1
    transit, value = t.state[message] & 3 == TRANSIT, t.state[message] >> 2
    if value < 0:  # several actors causal-send it
        return False
    to = t.slots[value, WHOM] if transit else value & ((1 << SET_BITS) - 1)
    if to >= 0 and not is_member(t.members, t.set_starts[to], t.set_starts[to + 1], actor):
        find(t, STRAY, actor, message, where, 0, 0)
        return False
    several = to < 0 or t.set_starts[to + 1] - t.set_starts[to] > 1
    key = (message << 32) | actor
    at = pair_place(t.pairs, key) if several else 0
    if not transit or (several and t.pairs[at] >= 0):
        find(t, AGAIN, actor, message, where, 0, 0)
        return False
    if knows(t, actor, t.slots[value, FROM]) >= t.slots[value, NTH]:
        find(t, CAUSAL, actor, message, where, t.slots[value, FROM], t.slots[value, NTH])
    if len(t.watched):
        watch(t, actor, message, value)
    else:
        learn(t, actor, value)
    if several:
        t.pairs[at] = key
        t.counter[PAIRS] += 1
    if to >= 0:
        t.slots[value, MISSING] -= 1
        if t.slots[value, MISSING] == 0:
            forget(t, message, value)
    return True


@kernel
def watch(t, actor, message, slot):
    """Update an actor's clock by a delivery, and record increases for watched senders."""
    begin, end = t.watch_starts[actor], t.watch_starts[actor + 1]
    before = t.scratch
    for k in range(begin, end):
        before[k - begin] = knows(t, actor, t.watched[k])
    learn(t, actor, slot)
    for k in range(begin, end):
        now = knows(t, actor, t.watched[k])
        if now > before[k - begin]:
            at = t.counter[RAISED]
            t.raised[at, PAIR] = (actor << 32) | t.watched[k]
            t.raised[at, COUNT], t.raised[at, MESSAGE] = now, message
            t.counter[RAISED] += 1


@kernel
def put_out(t, kind, actor, message, to, where):
    """Append an event to `out`; return its row."""
    at = t.counter[OUT]
    t.out[at, TAGGED] = (where << 2) | kind
    t.out[at, ACTOR], t.out[at, MESSAGE], t.out[at, TO] = actor, message, to
    t.counter[OUT] += 1
    return at


@kernel
def act(t, kind, actor, message, to, where):
    """Process an event that does not have to wait."""
    at = put_out(t, kind, actor, message, to, where)
    if kind == SENT:
        counts = send(t, actor, message, to, where)
    else:
        counts = deliver(t, actor, message, where)
    if not counts:
        t.out[at, TAGGED] |= WRONG


@kernel
def unsent(t, kind, message):
    """Return whether an event is a delivery of a message that was not causal-sent yet."""
    tag = t.state[message] & 3
    return kind == GOT and tag in (UNSENT, AWAITED)


@kernel
def block(t, actor, message):
    """Make an actor wait for a message."""
    first = t.state[message] >> 2 if t.state[message] & 3 == AWAITED else -1
    t.waits_for[actor] = message
    t.next_waiter[actor], t.before_waiter[actor] = first, -1
    if first >= 0:
        t.before_waiter[first] = actor
    t.state[message] = (actor << 2) | AWAITED


@kernel
def queue(t, actor, kind, message, to, where):
    """Append an event to its actor's waiting events."""
    t.counter[NODES] -= 1
    node = t.free_nodes[t.counter[NODES]]
    t.nodes[node, KIND], t.nodes[node, MESSAGE], t.nodes[node, TO] = kind, message, to
    t.nodes[node, PLACE], t.nodes[node, NEXT] = where, -1
    if t.first_node[actor] < 0:
        t.first_node[actor] = node
    else:
        t.nodes[t.last_node[actor], NEXT] = node
    t.last_node[actor] = node


@kernel
def pop(t, actor):
    """Remove the first waiting event of an actor; its values are valid until the next `queue`."""
    node = t.first_node[actor]
    t.first_node[actor] = t.nodes[node, NEXT]
    t.free_nodes[t.counter[NODES]] = node
    t.counter[NODES] += 1


@kernel
def drain(t):
    """Process the events of ready actors until each waits or has none; False if arrays are full."""
    while t.counter[READY] < t.counter[READY_END]:
        actor = t.ready[t.counter[READY] % len(t.ready)]
        while t.first_node[actor] >= 0:
            if not room(t):
                return False
            at = t.first_node[actor]
            kind, message = t.nodes[at, KIND], t.nodes[at, MESSAGE]
            to, where = t.nodes[at, TO], t.nodes[at, PLACE]
            if unsent(t, kind, message):
                block(t, actor, message)
                break
            pop(t, actor)
            act(t, kind, actor, message, to, where)
        t.counter[READY] += 1
    return True


@kernel
def judge(t, batch, begin, end):
    """Process the events of a batch; return their number, smaller if arrays are full."""
    for k in range(begin, end):
        if not drain(t) or not room(t):
            return k
        kind, actor, message = batch[k, KIND], batch[k, ACTOR], batch[k, MESSAGE]
        to, where = batch[k, TO], batch[k, PLACE]
        if t.waits_for[actor] >= 0:
            queue(t, actor, kind, message, to, where)
        elif unsent(t, kind, message):
            queue(t, actor, kind, message, to, where)
            block(t, actor, message)
        else:
            act(t, kind, actor, message, to, where)
    if not drain(t):
        return end
    return end + 1


@kernel
def give_up(t, actor):
    """Report the delivery that an actor waits for as impossible, and wake the actor."""
    message = t.waits_for[actor]
    before, after = t.before_waiter[actor], t.next_waiter[actor]
    if after >= 0:
        t.before_waiter[after] = before
    if before >= 0:
        t.next_waiter[before] = after
    else:
        t.state[message] = (after << 2) | AWAITED if after >= 0 else UNSENT
    where = t.nodes[t.first_node[actor], PLACE]
    pop(t, actor)
    wake(t, actor)
    t.counter[DELIVERIES] += 1
    find(t, NEVER, actor, message, where, 0, 0)
    put_out(t, GOT | WRONG, actor, message, -1, where)


@kernel
def find_senders(t, senders, at):
    """Find the senders of the causal-sends among the waiting events.

    Args:
        t: the tables.
        senders: int32 per message; output: the actor, or -1.
        at: int64; the actor and the event to continue with, or -1 for the actor's first event. At
            the end, the actor is the number of actors.
    """
    steps = 0
    while at[0] < t.counter[ACTORS]:
        node = t.first_node[at[0]] if at[1] < 0 else at[1]
        while node >= 0:
            if steps == MOST_WORK:
                at[1] = node
                return
            steps += 1
            if t.nodes[node, KIND] == SENT:
                senders[t.nodes[node, MESSAGE]] = at[0]
            node = t.nodes[node, NEXT]
        at[0] += 1
        at[1] = -1


@kernel
def close_circle(t, path, position, walk, start):
    """Mark the path from `start` on to be given up, or leave it if an actor no longer waits there.

    If several actors causal-send a message, an actor inside of the path may have continued already.
    """
    waits = True
    for at in range(start, walk[LENGTH]):
        waits = waits and t.waits_for[path[at, WHO]] == path[at, AWAITS]
    if not waits:
        for at in range(start, walk[LENGTH]):
            position[path[at, WHO]] = -1
        walk[LENGTH] = start
    walk[KEPT] = start


@kernel
def finish(t, senders, path, position, walk):
    """Give up the impossible deliveries after all events were read; see above.

    From an actor that waits, the walk goes to the actor with the causal-send of the message, and
    so on. It ends at a message without a causal-send, or it closes a circle.

    Args:
        t: the tables.
        senders: int32 per message; the actor with its causal-send among the waiting events, or -1.
        path: int64; the actors of the walk, and the message that each of them waits for.
        position: int32 per actor; its index on the path, or -1.
        walk: int64; the LENGTH of the path, the part that is KEPT (the rest is given up), and the
            actor BEGIN at which it begins. At the end, BEGIN is the number of actors.
    """
    while True:
        # Give up the whole circle before its actors continue: they may send each other's messages.
        while walk[LENGTH] > walk[KEPT]:
            if not room(t):
                return
            walk[LENGTH] -= 1
            actor = path[walk[LENGTH], WHO]
            position[actor] = -1
            give_up(t, actor)
        if not drain(t):
            return
        # Actors at the end of the path may no longer wait.
        while walk[LENGTH]:
            actor, message = path[walk[LENGTH] - 1, WHO], path[walk[LENGTH] - 1, AWAITS]
            if t.waits_for[actor] == message:
                break
            walk[LENGTH] -= 1
            position[actor] = -1
        if walk[LENGTH]:
            actor = senders[message]
        else:
            while walk[BEGIN] < t.counter[ACTORS] and t.waits_for[walk[BEGIN]] < 0:
                walk[BEGIN] += 1
            actor = walk[BEGIN]
            if actor == t.counter[ACTORS]:
                return
        if position[actor] >= 0:
            close_circle(t, path, position, walk, position[actor])
            continue
        message = t.waits_for[actor]
        path[walk[LENGTH], WHO], path[walk[LENGTH], AWAITS] = actor, message
        position[actor] = walk[LENGTH]
        walk[LENGTH] += 1
        walk[KEPT] = walk[LENGTH] if senders[message] >= 0 else walk[LENGTH] - 1
