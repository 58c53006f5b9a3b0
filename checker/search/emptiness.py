"""Properties of order that no protocol can violate, because of the messages of the workload.

Take any run of any protocol on any network, and keep only its causal-sends and its deliveries of
messages to their destinations. This is also a run of the *adversary*, the protocol `unordered` on
the network `unordered`: it sends each message at once, and may deliver it at any later time. So if
the adversary cannot violate a property of the order of sends and deliveries, nobody can, and a
check of it finds nothing wrong with any protocol. Its verdict is VACUOUS. See docs/vacuous.md.

The rules below decide this exactly, from the destinations of messages alone. For other questions a
small search asks the adversary itself. Neither depends on the protocol, its network, the engine,
the history or the bounds of the check.

Question: Can any protocol violate a property with the messages of a workload?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import unwrap
from itertools import chain, combinations

from attrs import evolve, frozen

from antecede.checker.model import Delivery, Property, What, When
from antecede.checker.search.never_seen import unsent, why_vacuous
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.search.result import Result, Verdict, overall
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.judge import (
    looks_at_causality,
    looks_at_order,
    looks_at_wrong_message,
)
from antecede.checker.semantics.network import UNORDERED
from antecede.checker.semantics.transition import EndlessSystem, System
from antecede.checker.semantics.workload import Destinations, EndlessWorkload, Workload
from antecede.checker.support import interrupts
from antecede.checker.support.registry import property_named, protocol_named

MOST_STATES = 20_000
"""The most states of the adversary that are searched. Beyond them, nothing is decided."""


# Rules


@frozen
class Messages:
    """The messages that the actors of a workload send.

    Attributes:
        rows: per actor the destinations of its messages in order, or those to choose from.
        times: the number of messages that an actor sends, each with any of these destinations;
            under an endless workload, the number that may be undelivered at a time. None: it sends
            its row once.
        in_order: the events of an actor's messages have the order of its row. If a message counts
            as sent when it leaves its sender, a protocol chooses their order.
    """

    rows: tuple[tuple[Destinations, ...], ...]
    times: int | None = None
    in_order: bool = True

    def followed(self) -> Iterator[tuple[int, Destinations, tuple[Destinations, ...]]]:
        """Yield (sender, destinations) of each message, and the messages that may follow it."""
        for sender, row in enumerate(self.rows):
            for place, to in enumerate(row):
                if self.times is not None:
                    later = row if self.times > 1 else ()
                else:
                    before = () if self.in_order else row[:place]
                    later = (*before, *row[place + 1 :])
                yield sender, to, later

    def widest(self) -> list[Destinations]:
        """Return all messages; an actor that chooses sends each to as many others as it can."""
        if self.times is None:
            return list(chain.from_iterable(self.rows))
        return [max(row, key=len) for row in self.rows if row for _ in range(self.times)]


def messages_of(workload: Workload, actors: int, *, in_order: bool = True) -> Messages:
    """Return the messages of a workload, without what a program or a reaction waits for."""
    times = workload.most if workload.chooses else None
    if isinstance(workload, EndlessWorkload):
        times = workload.buffer
    return Messages(tuple(map(workload.row, range(actors))), times, in_order)


def can_break_fifo(messages: Messages) -> bool:
    """Return whether a sender has two messages to one receiver."""
    return any(
        not set(to).isdisjoint(after) for _, to, later in messages.followed() for after in later
    )


def can_break_chains(messages: Messages) -> bool:
    """Return whether a message can be overtaken although every channel keeps its order.

    Its sender sends it, or a later message, to somebody else, and from there messages lead to a
    receiver of the first message without its sender.
    """
    hears = [set(chain.from_iterable(row)) for row in messages.rows]
    return any(
        _leads(hears, {*to, *chain.from_iterable(later)} - {sender, receiver}, receiver, sender)
        for sender, to, later in messages.followed()
        for receiver in to
    )


def _leads(hears: list[set[int]], start: set[int], end: int, without: int) -> bool:
    """Return whether messages lead from some actors to `end`, and none of them is of `without`.

    Args:
        hears: actor -> the actors to which it sends.
        start: the actors to start from.
        end: the actor to reach.
        without: an actor that passes nothing on.
    """
    seen, todo = set(start), list(start)
    while todo:
        actor = todo.pop()
        if end in hears[actor]:
            return True
        new = hears[actor] - seen - {without}
        seen |= new
        todo += new
    return False


def can_break_causality(messages: Messages) -> bool:
    """Return whether a message can be delivered after one that depends on it."""
    return can_break_fifo(messages) or can_break_chains(messages)


def can_differ_in_pairs(messages: Messages) -> bool:
    """Return whether two actors can deliver two messages in different orders."""
    return any(len({*one} & {*other}) > 1 for one, other in combinations(messages.widest(), 2))


def can_go_in_circles(messages: Messages) -> bool:
    """Return whether the deliveries can contradict every order of all messages.

    They can if messages and their receivers form a circle: each receiver of the circle delivers its
    two messages in the wrong order.
    """
    group: dict[int, int] = {}  # receiver -> one of those that messages already connect with it

    def first(receiver: int) -> int:
        while group.setdefault(receiver, receiver) != receiver:
            receiver = group[receiver]
        return receiver

    for to in messages.widest():
        connected = {first(receiver) for receiver in to}
        if len(connected) < len(to):
            return True
        group.update(dict.fromkeys(connected, min(connected)))
    return False


RULES: Mapping[str, Callable[[Messages], bool]] = {
    "causal-delivery": can_break_causality,
    "fifo-delivery": can_break_fifo,
    "same-order": can_differ_in_pairs,
    "total-order": can_go_in_circles,
    "integrity": lambda messages: any(messages.rows),  # a message can be delivered twice
}
"""Property -> whether some protocol can violate it."""


def _is_ours(prop: Property) -> bool:
    """Return whether this is the property of antecede that a rule is about, perhaps guarded."""
    return prop.name in RULES and unwrap(prop.predicate) is property_named(prop.name).predicate


def _judges_order(prop: Property) -> bool:
    """Return whether sends and deliveries alone decide a property."""
    places = {
        What.DELIVERY: (When.ALWAYS,),
        What.SEQUENCES: (When.ALWAYS, When.AT_FINAL_STATES),
    }
    return prop.when in places.get(prop.what, ())


def _messages(system: System) -> Messages:
    in_order = system.oracle.network_send is None
    return messages_of(system.workload, system.actors, in_order=in_order)


def by_rule(system: System, prop: Property) -> bool | None:
    """Return whether some protocol can violate a property; None if no rule decides it."""
    if not _judges_order(prop):
        return True
    if not _is_ours(prop):
        return None
    possible = RULES[prop.name](_messages(system))
    waits = system.workload.sends is not None  # then some of the orders may be impossible
    return None if possible and waits and prop.name != "integrity" else possible


# Search


def by_search(system: System, prop: Property) -> bool | None:
    """Return whether the adversary can violate a property; None if that is not decided.

    The predicate may be a user's, and fail for messages that the protocol never delivers. An
    interruption also leaves the question undecided. So does a predicate that looks at the message
    of a wrong delivery: a protocol can invent messages, and the adversary does not.
    """
    if system.crashes is not None and prop.what is What.SEQUENCES:
        return None  # a predicate on the sequences of some actors says nothing about those of all
    if system.oracle.network_send is not None and looks_at_causality(prop):
        return None  # `unordered` sends every message at once
    try:
        search = BreadthFirst(adversary(system, prop))
        while search.frontier and not search.found:
            if search.unique > MOST_STATES or interrupts.wanted() is not None:
                return None
            search.step()
        undecided = (
            not search.found
            and prop.what is What.DELIVERY
            and looks_at_wrong_message(prop, system.actors)
        )
    except Exception:  # of the predicate; the check has reported it if the protocol met it
        return None
    return None if undecided else bool(search.found)


def adversary(system: System, prop: Property) -> System:
    """Return the system in which the adversary tries to violate a property."""
    adversary = evolve(
        system,
        protocol=protocol_named("unordered"),
        network=UNORDERED,
        properties=(_at_its_worst(prop, system.actors),),
        limits=(),
        crashes=None,
    )
    if isinstance(system, EndlessSystem):
        return adversary
    oracle = oracle_named(
        "knowledge",
        system.actors,
        system.messages,
        self_sends=system.workload.self_sends,
        track_order=looks_at_order(prop),
    )
    return evolve(adversary, oracle=oracle)


def _at_its_worst(prop: Property, actors: int) -> Property:
    """Return a property that is also asked about what protocols can do in this place.

    A protocol can deliver a message again, or where nobody expects it. It can be over in any state,
    because it need not deliver anything.
    """
    if prop.what is What.SEQUENCES:
        return evolve(prop, when=When.ALWAYS)

    def predicate(delivery: Delivery) -> bool:
        wrong = (Delivery(i, delivery.message, False, False, False) for i in range(actors))
        return all(map(prop.predicate, (delivery, *wrong)))

    return evolve(prop, predicate=predicate)


# Results


def after_search(system: System, result: Result) -> Result:
    """Return a result with the properties that the adversary cannot violate, by a search."""
    found = {*result.empty}
    for prop in _held(system, result):
        if by_rule(system, prop) is None and by_search(system, prop) is False:
            found.add(prop.name)
    return evolve(result, empty=frozenset(found))


def doubted(system: System, result: Result) -> Result:
    """Return a result in which nothing HOLDS that no protocol can violate, with remarks.

    Only a complete search without a violation is doubted. `after_search` decides what no rule does.
    """
    reasons, empty, verdicts = {}, set(result.empty), dict(result.properties)
    for prop in system.properties:
        if verdicts[prop.name] is Verdict.VACUOUS:
            reasons[prop.name] = why_vacuous(prop, result.counts, result.statistics) or ""
    if result.verdict not in (Verdict.HOLDS, Verdict.VACUOUS):
        return evolve(result, vacuous=reasons)
    for prop in _held(system, result):
        if prop.name in empty or by_rule(system, prop) is False:
            empty.add(prop.name)
            reasons[prop.name] = impossible(prop.name)
            verdicts[prop.name] = Verdict.VACUOUS
    return evolve(
        result,
        properties=verdicts,
        verdict=overall(verdicts),
        vacuous=reasons,
        empty=frozenset(empty),
        remarks=tuple(_remarks(system, evolve(result, properties=verdicts))),
    )


def _held(system: System, result: Result) -> list[Property]:
    """Return the properties of order that hold, unless something is violated or undecided."""
    if result.verdict not in (Verdict.HOLDS, Verdict.VACUOUS):
        return []
    held = (p for p in system.properties if result.properties[p.name] is Verdict.HOLDS)
    return list(filter(_judges_order, held))


def impossible(name: str) -> str:
    """Return the reason why a property is VACUOUS that no protocol can violate."""
    return f"no order of these messages can violate {name}"


# Remarks


def _remarks(system: System, result: Result) -> Iterator[str]:
    """Yield what weakens the verdict HOLDS on a property of order, in sentences."""
    yield from _about_channels(system, result)
    yield from _about_silence(system, result)


def _about_channels(system: System, result: Result) -> Iterator[str]:
    """Yield why a simpler protocol passes the check, too: each channel keeps its order."""
    if held := _kept_in_channels(system, result):
        name, alone = system.network.name, held == {"fifo-delivery"}
        if system.network.ordering is not None or (
            name.startswith("fifo") and (alone or not can_break_chains(_messages(system)))
        ):
            yield (
                f"The network {name} keeps this order by itself: a protocol that delivers every "
                "message on arrival passes this check, too."
            )
        elif at_stake_in_channels(system, result):
            yield (
                "This check tests only the order within each channel, which the protocol fifo "
                "keeps, too."
            )


def at_stake_in_channels(system: System, result: Result) -> bool:
    """Return whether causal-delivery holds, and a protocol that keeps channels in order suffices.

    That is, no message can be overtaken by way of another actor.
    """
    held = _kept_in_channels(system, result)
    return "causal-delivery" in held and not can_break_chains(_messages(system))


def _kept_in_channels(system: System, result: Result) -> set[str]:
    """Return the properties that hold and that networks can keep; none with unordered messages."""
    if not _messages(system).in_order:
        return set()
    held = {prop.name for prop in _held(system, result) if _is_ours(prop)}
    return held & {"causal-delivery", "fifo-delivery"}


def _about_silence(system: System, result: Result) -> Iterator[str]:
    """Yield that messages are never delivered, where no property asks for it.

    On a network that loses packets, no protocol without timeouts can deliver everything.
    """
    order = any(map(_judges_order, system.properties))
    asked = any(prop.what is What.UNDELIVERED for prop in system.properties)
    if not order or asked or system.network.lose is not None:
        return
    kept_back = ["sent"] if unsent(system, result) else []
    kept_back += ["delivered"] if result.statistics.get("undelivered") else []
    if kept_back:
        yield (
            f"In some runs, messages are never {' or '.join(kept_back)}. A protocol that delivers "
            "nothing violates no order: check all-delivered, too."
        )
